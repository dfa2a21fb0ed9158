"""Vowpal Wabbit's text format of contextual bandits, with a line for each decision or for each action.

`2:0.5:0.25 |user age:31` is a decision of `--cb`: action 2 had cost 0.5 and probability 0.25. Of
`--cb_explore_adf`, a decision is a block of lines, one for each action and before them one that starts with
`shared`; the chosen action's has `0:0.5:0.25` before its features. Empty lines separate blocks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from urllib.parse import unquote

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.logs.formats.csv_lines import open_bytes
from gyrfalcon.logs.formats.vowpal_wabbit.events import Event, Features, event_tables, names_of

_Line = tuple[int, str]


def cb_text_tables(
    path: str | os.PathLike[str], *, action: str = "auto", cost: bool = False, n_actions: int | None = None
) -> Iterator[DecisionTable]:
    """Tables of a text file of Vowpal Wabbit's contextual bandits, some thousand decisions each.

    A reward is the cost with its sign changed. A feature without a number is 1, one that a line lacks is 0,
    and one such as `city=Oslo` is an indicator. %20 in a name is a space, as `write_cb_text` has it.

    Parameters
    ----------
    path
        The file; it may be compressed with gzip.
    action
        What actions are called where each has a line: "tag", "position", the name of a feature such as "id"
        in `id=red`, or "auto" for the first of these that tells them apart.
    cost
        Keep the costs as they are, in a table of costs.
    n_actions
        Number of actions K, where lines have no features of actions; None takes the largest that occurs.

    Raises
    ------
    ValueError
        If a line can't be read, with its number.
    """
    source = os.fspath(path)
    is_adf = _is_adf(path)
    if not is_adf:
        largest = max((number for _, line in _lines(path) for number in _numbers(line)), default=0)
        n_actions = largest if n_actions is None else n_actions
        if largest > n_actions:
            raise ValueError(
                f"{source} has action {largest}, and n_actions is {n_actions}; give at least {largest}."
            )
        action = "position"

    def events() -> Iterator[Event]:
        if is_adf:
            return (_adf_event(block, source) for block in _blocks(path))
        return (_plain_event(line, source, n_actions or 0) for line in _lines(path) if line[1])

    yield from event_tables(events(), names_of(events(), action), cost=cost, source=source)


def _lines(path: str | os.PathLike[str]) -> Iterator[_Line]:
    with open_bytes(path) as file:
        for number, line in enumerate(file, start=1):
            yield number, line.decode().strip()


def _blocks(path: str | os.PathLike[str]) -> Iterator[list[_Line]]:
    """Lines of one decision each, between empty lines."""
    block: list[_Line] = []
    for number, line in _lines(path):
        if line:
            block.append((number, line))
        elif block:
            yield block
            block = []
    if block:
        yield block


def _is_adf(path: str | os.PathLike[str]) -> bool:
    """Whether decisions are blocks: the first starts with `shared`, or has ends with an empty line."""
    n_lines = n_labels = 0
    for _, line in _lines(path):
        words = line.partition("|")[0].split()
        if words[:1] == ["shared"]:
            return True
        if not line and n_lines:
            return n_lines > 1
        n_lines += bool(line)
        n_labels += any(":" in word for word in words)
        if n_labels > 1:
            return False
    return False


def _split(line: _Line, source: str) -> tuple[list[str], str]:
    """The words before the first bar, and the rest."""
    number, text = line
    before, bar, after = text.partition("|")
    if not bar:
        raise ValueError(f"{source}, line {number}: there is no bar; give features after | .")
    return before.split(), bar + after


def _numbers(line: str) -> list[int]:
    words = line.partition("|")[0].split()
    return [int(word.partition(":")[0]) for word in words if word.partition(":")[0].isdigit()]


def _label(word: str, place: str) -> tuple[int, float, float]:
    """Action, cost and probability of `action:cost:probability`."""
    parts = word.split(":")
    try:
        action, cost, probability = int(parts[0]), float(parts[1]), float(parts[2])
    except (ValueError, IndexError):
        raise ValueError(
            f"{place}: the label is {short_repr(word)}; give action:cost:probability, such as 1:0.5:0.25."
        ) from None
    return action, cost, probability


def _plain_event(line: _Line, source: str, n_actions: int) -> Event:
    """One line of `--cb`, whose actions are numbered from 1."""
    place = f"{source}, line {line[0]}"
    words, rest = _split(line, source)
    labels = [_label(word, place) for word in words if ":" in word]
    if len(labels) > 1:
        raise ValueError(f"{place}: {len(labels)} actions have a cost; give that of the chosen one alone.")
    event = Event(place, _parsed(rest, place), [Features() for _ in range(n_actions)])
    if labels:
        action, event.cost, event.probability = labels[0]
        if action < 1:
            raise ValueError(f"{place}: the action is {action}; give numbers from 1 on.")
        event.chosen = action - 1
    return event


def _adf_event(block: list[_Line], source: str) -> Event:
    """One block of `--cb_explore_adf`."""
    place = f"{source}, line {block[0][0]}"
    event = Event(place, Features(), [])
    for line in block:
        here = f"{source}, line {line[0]}"
        words, rest = _split(line, source)
        features = _parsed(rest, here)
        if words and words[0] == "shared":
            if event.actions:
                raise ValueError(
                    f"{here}: the shared line comes after actions; put it before, or an empty line."
                )
            event.shared = features
            continue
        labels = [word for word in words if ":" in word]
        if labels and event.chosen is not None:
            raise ValueError(f"{here}: a second action has a cost; give that of the chosen one alone.")
        if labels:
            event.chosen = len(event.actions)
            _, event.cost, event.probability = _label(labels[0], here)
        tags = [word for word in words if ":" not in word and not _is_number(word)]
        features.tag = unquote(tags[-1].removeprefix("'")) if tags else None
        event.actions.append(features)
    if not event.actions:
        raise ValueError(f"{place}: the block has no actions; give a line for each after the shared one.")
    return event


def _parsed(text: str, place: str) -> Features:
    """Features after the first bar: `|name feature:value feature |name:weight ...`."""
    features = Features()
    for part in text.split("|")[1:]:
        words = part.split()
        space, scale = "", 1.0
        if words and not part[:1].isspace():
            space, _, weight = words.pop(0).partition(":")
            scale = _value(weight or "1", place)
        prefix = f"{unquote(space)}." if space else ""
        for word in words:
            name, colon, value = word.rpartition(":") if ":" in word else (word, "", "1")
            key, equals, category = name.partition("=")
            if equals and not colon and scale == 1.0:
                features.texts[prefix + unquote(key)] = unquote(category)
            else:
                features.numbers[prefix + unquote(name)] = scale * _value(value, place)
    return features


def _value(text: str, place: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{place}: {short_repr(text)} is not a number; give feature:number.") from None


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True

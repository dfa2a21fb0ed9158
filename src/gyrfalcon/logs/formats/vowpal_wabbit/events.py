"""Events with named features of a context and of each action, as Vowpal Wabbit's formats have them.

Features are sparse: one that an event lacks is 0. Text is a category, and becomes one indicator for each of
its values. What an action is called follows from a tag, or from text that tells the actions of every event
apart, or else from its place in the event.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import UNKNOWN_ACTION, DecisionTable
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.logs.formats.labels import are_whole, as_whole

MOST_FEATURES = 10_000
"""Features that a table from sparse events may have: each takes a number in every row."""


@dataclass(slots=True)
class Features:
    """Features of a context or of one action: numbers and text by name, and a tag."""

    numbers: dict[str, float] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    tag: str | None = None

    def indicators(self, without: str | None = None) -> dict[str, float]:
        """All features as numbers; text but that of one name as indicators."""
        if not self.texts:
            return self.numbers
        own = {f"{name}={text}": 1.0 for name, text in self.texts.items() if name != without}
        return {**self.numbers, **own}

    def origins(self) -> dict[str, str | None]:
        """The names of `indicators`, each with the name of the text that it is made from, if any."""
        return {
            **dict.fromkeys(self.numbers),
            **{f"{name}={text}": name for name, text in self.texts.items()},
        }


@dataclass(slots=True)
class Event:
    """One decision of a log as Vowpal Wabbit has it."""

    place: str
    """Where it stands, for messages."""
    shared: Features
    actions: list[Features]
    chosen: int | None = None
    """Position of the chosen action among `actions`."""
    cost: float = np.nan
    probability: float = np.nan
    distribution: list[float] | None = None
    """Probabilities in the order of `actions`."""
    event_id: str | None = None
    time: float = np.nan
    model: str | None = None
    observed: bool = False
    """Whether a reward was observed, rather than the default assumed."""
    late: bool = False
    shadow: bool = False


class Vocabulary:
    """Actions and features of a log's events, collected in a first pass over them.

    Parameters
    ----------
    action
        What actions are called: "tag", "position", the name of a feature with text, or "auto".
    """

    def __init__(self, action: str = "auto") -> None:
        self._given = action
        self._shared: dict[str, None] = {}
        self._by_text: dict[str, dict[Hashable, None]] | None = None
        self._tags: dict[Hashable, None] | None = {}
        self._most = 0
        self._own: dict[str, str | None] = {}
        self._echo: set[str] | None = None
        self._any_observed = self._any_late = self._any_shadow = False

    def add(self, event: Event) -> None:
        """Take in the names of an event."""
        self._shared.update(dict.fromkeys(event.shared.indicators()))
        self._most = max(self._most, len(event.actions))
        self._any_observed |= event.observed
        self._any_late |= event.late
        self._any_shadow |= event.shadow
        for one in event.actions:
            self._own.update(one.origins())
        self._add_tags(event.actions)
        self._add_texts(event.actions)
        for names in (self._shared, self._own):
            if len(names) > MOST_FEATURES:
                raise ValueError(
                    f"{event.place}: the events so far have more than {MOST_FEATURES} features, such as "
                    f"{short_repr(next(iter(names)))}; leave out text that differs from event to event."
                )

    def _add_tags(self, actions: list[Features]) -> None:
        tags = [one.tag for one in actions]
        if self._tags is None or None in tags or len(set(tags)) < len(tags):
            self._tags = None
            return
        self._tags.update(dict.fromkeys(tags))
        # Text that repeats the tag says nothing more.
        echo = {name for one in actions for name, text in one.texts.items() if text == one.tag}
        echo = {name for name in echo if all(one.texts.get(name) == one.tag for one in actions)}
        self._echo = echo if self._echo is None else self._echo & echo

    def _add_texts(self, actions: list[Features]) -> None:
        names = list(actions[0].texts) if actions else []
        before = dict.fromkeys(names) if self._by_text is None else self._by_text
        kept: dict[str, dict[Hashable, None]] = {}
        for name in before:
            values = [one.texts.get(name) for one in actions]
            if None not in values and len(set(values)) == len(values):
                kept[name] = {**(before[name] or {}), **dict.fromkeys(values)}
        if actions:
            self._by_text = kept

    def finish(self) -> Names:
        """How actions are called, and the names of all features."""
        how = self._given
        texts = self._by_text or {}
        if how == "auto":
            how = "tag" if self._tags else next(iter(texts), "position")
        if how == "tag":
            if self._tags is None:
                raise ValueError("some actions have no tag of their own; choose action='position'.")
            labels, dropped = list(self._tags), next(iter(sorted(self._echo or ())), None)
        elif how == "position":
            labels, dropped = list(range(1, self._most + 1)), None
        elif how in texts:
            labels, dropped = list(texts[how]), how
        else:
            raise ValueError(
                f"action is {short_repr(how)}, which does not tell the actions of every event apart; choose "
                f"'position'{''.join(f', {name!r}' for name in texts)}."
            )
        own = [name for name, text in self._own.items() if dropped is None or text != dropped]
        return Names(
            how,
            dropped,
            tuple(as_whole(labels)),
            _stripped(self._shared),
            _stripped(own),
            self._any_observed,
            self._any_late,
            self._any_shadow,
        )


@dataclass(frozen=True, slots=True)
class Names:
    """Actions and features of a log, after the first pass over its events."""

    how: str
    dropped: str | None
    """The text that actions are called by, which is no feature."""
    labels: tuple[Hashable, ...]
    shared: dict[str, str]
    """Names in the log, and as columns."""
    own: dict[str, str]
    has_observed: bool = False
    has_late: bool = False
    has_shadow: bool = False

    def labels_of(self, event: Event) -> list[Hashable]:
        """The labels of an event's actions."""
        if self.how == "position":
            return list(range(1, len(event.actions) + 1))
        found = [one.tag if self.how == "tag" else one.texts[self.how] for one in event.actions]
        return as_whole(found) if are_whole(self.labels) else list(found)

    def table(self, events: list[Event], *, cost: bool, source: str) -> DecisionTable:
        """The table of some events."""
        n, n_actions = len(events), len(self.labels)
        places = {label: place for place, label in enumerate(self.labels)}
        spots = [[places[label] for label in self.labels_of(event)] for event in events]
        costs = np.array([event.cost for event in events], dtype=np.float64)
        observed = np.array([event.observed for event in events], dtype=np.bool_)
        chosen = [
            UNKNOWN_ACTION if event.chosen is None else own[event.chosen]
            for event, own in zip(events, spots, strict=True)
        ]
        eligible = np.zeros((n, n_actions), dtype=np.bool_)
        for row, own in enumerate(spots):
            eligible[row, own] = True
        return DecisionTable(
            actions=self.labels,
            contexts=Contexts(
                self._shared(events), self._cube(events, spots), None if eligible.all() else eligible
            ),
            action=np.array(chosen, dtype=np.int64),
            reward=costs if cost else 0.0 - costs,
            propensity=np.array([event.probability for event in events], dtype=np.float64),
            distribution=_distribution(events, spots, n_actions),
            features=tuple(self.shared.values()),
            action_features=tuple(self.own.values()),
            event_id=_texts([event.event_id for event in events]),
            time=_known(np.array([event.time for event in events], dtype=np.float64)),
            model=_texts([event.model for event in events]),
            defaulted=~observed & ~np.isnan(costs) if self.has_observed else None,
            late=np.array([event.late for event in events], np.bool_) if self.has_late else None,
            shadow=np.array([event.shadow for event in events], np.bool_) if self.has_shadow else None,
            cost=cost,
            source=source,
        )

    def _shared(self, events: list[Event]) -> Floats:
        place = {name: column for column, name in enumerate(self.shared)}
        shared = np.zeros((len(events), len(place)))
        for row, event in enumerate(events):
            for name, value in event.shared.indicators().items():
                shared[row, place[name]] = value
        return shared

    def _cube(self, events: list[Event], spots: list[list[int]]) -> Floats | None:
        if not self.own:
            return None
        place = {name: column for column, name in enumerate(self.own)}
        cube = np.zeros((len(events), len(self.labels), len(place)))
        for row, (event, own) in enumerate(zip(events, spots, strict=True)):
            for spot, one in zip(own, event.actions, strict=True):
                for name, value in one.indicators(self.dropped).items():
                    cube[row, spot, place[name]] = value
        return cube


def names_of(events: Iterable[Event], action: str) -> Names:
    """Actions and features of a log's events."""
    vocabulary = Vocabulary(action)
    for event in events:
        vocabulary.add(event)
    return vocabulary.finish()


def event_tables(
    events: Iterable[Event], names: Names, *, cost: bool, source: str, chunk_rows: int = 10_000
) -> Iterator[DecisionTable]:
    """Tables of some thousand events each, at least one, all with the same actions and features."""
    remaining = iter(events)
    waiting = list(islice(remaining, chunk_rows))
    while True:
        yield names.table(waiting, cost=cost, source=source)
        waiting = list(islice(remaining, chunk_rows))
        if not waiting:
            return


def _distribution(events: list[Event], spots: list[list[int]], n_actions: int) -> Floats | None:
    if all(event.distribution is None for event in events):
        return None
    table = np.full((len(events), n_actions), np.nan)
    for row, (event, own) in enumerate(zip(events, spots, strict=True)):
        if event.distribution is not None:
            table[row] = 0.0
            table[row, own] = event.distribution
    return table


def _stripped(names: Iterable[str]) -> dict[str, str]:
    """Names without their namespace where all are in one."""
    listed = list(names)
    spaces = {name.partition(".")[0] if "." in name else "" for name in listed}
    if len(spaces) != 1 or "" in spaces:
        return {name: name.removeprefix(".") for name in listed}
    return {name: name.partition(".")[2] for name in listed}


def _texts(values: list[str | None]) -> Any:
    if all(value is None for value in values):
        return None
    return np.fromiter(values, dtype=object, count=len(values))


def _known(values: Floats) -> Floats | None:
    return None if np.isnan(values).all() else values

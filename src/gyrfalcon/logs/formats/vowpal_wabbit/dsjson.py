"""Vowpal Wabbit's dsjson: one decision with its context, probabilities and cost on each line.

Costs are rewards with the sign changed. `_label_Action` counts the actions in `_multi` from 1; `a` lists
actions, counted from 1 as well, and `p` their probabilities in the same order.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.logs.formats.chunks import seconds_of
from gyrfalcon.logs.formats.json_lines import json_objects
from gyrfalcon.logs.formats.vowpal_wabbit.events import Event, Features, Vocabulary, event_tables

Dropped = Literal["error", "ignore"]
_OTHER_KINDS = {"_outcomes": "several slots", "_label_ca": "a continuous action", "_slots": "several slots"}


def dsjson_tables(
    path: str | os.PathLike[str], *, action: str = "auto", cost: bool = False, pdrop: Dropped = "error"
) -> Iterator[DecisionTable]:
    """Tables of a dsjson file of Vowpal Wabbit, some thousand decisions each.

    A reward is the cost with its sign changed. Numbers are features, and text becomes one feature for each of
    its values; what an event lacks is 0. Observations without a decision, which come in lines of their own,
    are the reward of the decision with their event id where this has none, and mark it as late otherwise.

    Parameters
    ----------
    path
        The file; it may be compressed with gzip.
    action
        What actions are called: "tag" takes the `_tag` of each action, "position" their places counted from
        1, any other text the feature of this name. "auto" takes tags if every action has one, else the first
        text that tells all actions of every event apart, else positions.
    cost
        Keep the costs as they are, in a table of costs.
    pdrop
        What to do where events were dropped from the log with different probabilities, so that the rest
        represents them only with weights: "error", or "ignore" to take the rows as they are.

    Raises
    ------
    ValueError
        If a line can't be read, with its number.
    """
    if pdrop not in ("error", "ignore"):
        raise ValueError(f"pdrop is {short_repr(pdrop)}; choose 'error' or 'ignore'.")
    source, rewards = os.fspath(path), _Rewards()
    first_pass = _checked(json_objects(path), source, pdrop, rewards)
    vocabulary = Vocabulary(action)
    for event in first_pass:
        vocabulary.add(event)
    names = vocabulary.finish()
    if rewards:
        names = replace(names, has_late=True, has_observed=True)
    yield from event_tables(rewards.joined(json_objects(path), source), names, cost=cost, source=source)
    if len(rewards) > rewards.n_joined:
        warnings.warn(
            f"{source}: {len(rewards) - rewards.n_joined} observed rewards belong to no decision of the log, "
            "and are left out.",
            RuntimeWarning,
            stacklevel=2,
        )


Records = Iterator[tuple[int, dict[str, Any]]]


class _Rewards(dict[str, float]):
    """Rewards by event id that stood in lines without a decision."""

    n_joined = 0

    def joined(self, records: Records, source: str) -> Iterator[Event]:
        """The events of a log, with the rewards that came in lines of their own."""
        used = set()
        for number, record in records:
            if "c" not in record:
                continue
            event = event_of(record, f"{source}, line {number}")
            if event.event_id is not None and event.event_id in self:
                used.add(event.event_id)
                if np.isnan(event.cost):
                    event.cost, event.observed = 0.0 - self[event.event_id], True
                else:
                    event.late = True
            yield event
        self.n_joined = len(used)


def _checked(records: Records, source: str, pdrop: Dropped, rewards: _Rewards) -> Iterator[Event]:
    """The events of a log, whose other lines are put into `rewards`."""
    first: float | None = None
    for number, record in records:
        place = f"{source}, line {number}"
        if "c" not in record:
            rewards.update([_observation(record, place)])
            continue
        share = float(record.get("pdrop") or 0.0)
        first = share if first is None else first
        if share != first and pdrop == "error":
            raise ValueError(
                f"{place}: pdrop is {share}, and {first} before, so that rows represent different numbers of "
                "events; choose pdrop='ignore' to count them alike."
            )
        yield event_of(record, place)


def event_of(record: Mapping[str, Any], place: str) -> Event:
    """The event on a line of dsjson, whose errors name its place."""
    for key, what in _OTHER_KINDS.items():
        if key in record or key in record["c"]:
            raise ValueError(f"{place}: the decision is one of {what}; give decisions of one action each.")
    try:
        return _event(record, place)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        if str(error).startswith(place):
            raise
        raise ValueError(
            f"{place}: the decision can't be read ({error!r}); correct it, or remove it."
        ) from None


def _event(record: Mapping[str, Any], place: str) -> Event:
    context = record["c"]
    actions = [_features(one) for one in context.get("_multi", ())]
    if not actions:
        raise ValueError(f"{place}: `c` has no actions in `_multi`; give one entry for each eligible action.")
    number = record.get("_label_Action")
    if number is not None and not 1 <= int(number) <= len(actions):
        raise ValueError(
            f"{place}: _label_Action is {number}, and `_multi` has {len(actions)} actions, counted from 1; "
            "give one of them."
        )
    shared = _features({name: value for name, value in context.items() if name != "_multi"})
    return Event(
        place,
        shared,
        actions,
        chosen=None if number is None else int(number) - 1,
        cost=_number(record.get("_label_cost")),
        probability=_number(record.get("_label_probability")),
        distribution=_distribution(record, len(actions), place),
        event_id=record.get("EventId"),
        time=seconds_of(record.get("Timestamp")),
        model=(record.get("VWState") or {}).get("m"),
        observed=bool(record.get("o")),
        shadow=bool(record.get("_skipLearn", False)),
    )


def _number(value: Any) -> float:
    return np.nan if value is None else float(value)


def _distribution(record: Mapping[str, Any], n_actions: int, place: str) -> list[float] | None:
    """The probabilities of all actions in the order of `_multi`, if the line has them."""
    shares, ranked = record.get("p"), record.get("a")
    if shares is None or len(shares) < n_actions:
        return None
    ranked = list(range(1, n_actions + 1)) if ranked is None else [int(one) for one in ranked]
    if sorted(ranked) != list(range(1, n_actions + 1)) or len(shares) != n_actions:
        raise ValueError(
            f"{place}: `a` is {short_repr(ranked)} and `p` has {len(shares)} probabilities for {n_actions} "
            f"actions; give each number from 1 to {n_actions} once, and as many probabilities."
        )
    table = [0.0] * n_actions
    for one, share in zip(ranked, shares, strict=True):
        table[one - 1] = float(share)
    return table


def _features(tree: Mapping[str, Any]) -> Features:
    """The features in nested namespaces, with dots between the names."""
    features = Features(tag=None if tree.get("_tag") is None else str(tree["_tag"]))
    _collect(tree, "", features)
    return features


def _collect(value: Any, name: str, features: Features) -> None:
    kind = type(value)  # JSON has no others
    if kind is float or kind is int or kind is bool:
        features.numbers[name] = float(value)
    elif kind is str:
        features.texts[name] = value
    elif kind is dict:
        for key, inner in value.items():
            if not key.startswith("_"):  # what Vowpal Wabbit passes over, too
                _collect(inner, f"{name}.{key}" if name else key, features)
    elif kind is list:
        for place, inner in enumerate(value):
            if isinstance(inner, str):
                features.numbers[f"{name}.{inner}"] = 1.0
            else:
                _collect(inner, name if isinstance(inner, dict) else f"{name}.{place}", features)


def _observation(record: Mapping[str, Any], place: str) -> tuple[str, float]:
    """Event id and reward on a line without a decision: its own, or the last one observed."""
    event_id, reward = record.get("EventId"), record.get("RewardValue")
    if reward is None:
        observed = [one.get("v") for one in record.get("Observations") or () if isinstance(one, Mapping)]
        reward = next((one for one in reversed(observed) if isinstance(one, int | float)), None)
    if event_id is None or not isinstance(reward, int | float):
        raise ValueError(
            f"{place}: the line has neither a decision (`c`) nor an observation (`EventId`, with "
            "`RewardValue` or `Observations`); remove it."
        )
    return str(event_id), float(reward)

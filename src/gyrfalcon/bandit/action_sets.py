"""Actions that come and go while a bandit runs: the problem with others, refused where that can't be."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace

from gyrfalcon.bandit.engine import BanditEngine
from gyrfalcon.core.inputs.messages import enumeration, short_repr
from gyrfalcon.core.inputs.problem import Problem


def listed_labels(labels: Iterable[Hashable]) -> list[Hashable]:
    """Labels of actions as a list; text is refused, whose letters would be taken for labels."""
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        raise TypeError(f"labels are {short_repr(labels)}; give a list of them.")
    return list(labels)


def with_actions(engine: BanditEngine, labels: list[Hashable]) -> Problem:
    """The problem with further actions."""
    known, retired = set(engine.problem.actions), engine.ledger.retired
    for label in labels:
        if label in known:
            raise ValueError(f"action {label!r} is there already; give new labels.")
        if label in retired:
            raise ValueError(
                f"action {label!r} was retired before, and labels are not used again; give another."
            )
    return replace(engine.problem, actions=(*engine.problem.actions, *labels))


def without_actions(engine: BanditEngine, labels: list[Hashable]) -> Problem:
    """The problem without these actions."""
    actions = engine.problem.actions
    unknown = [label for label in labels if label not in actions]
    if unknown:
        raise ValueError(f"{enumeration(unknown)} is not an action; actions are {enumeration(actions)}.")
    remaining = tuple(label for label in actions if label not in set(labels))
    if len(remaining) < 2:
        raise ValueError(
            f"only {enumeration(remaining)} would remain; at least two actions must, so add some first."
        )
    return replace(engine.problem, actions=remaining)

"""History of a bandit's settings: when they changed, and from what to what."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass

from gyrfalcon.bandit.reward_rules import RewardRules
from gyrfalcon.core.inputs.messages import enumeration
from gyrfalcon.core.inputs.problem import Problem

MOST_CHANGES = 1000
"""Changes that are kept, the latest ones."""


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """One change of a running bandit's settings.

    Parameters
    ----------
    time
        When it was made, by the bandit's clock.
    round
        Number of rounds that were played before it.
    setting
        What changed: "actions", "features", "learner", or the name of a rule.
    before, after
        What it was and what it is, as text; of actions, those that were retired and those that were added.
    """

    time: float
    round: int
    setting: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"round {self.round}: {self.setting} {self.before or 'none'} -> {self.after or 'none'}"


Difference = tuple[str, str, str]


def differences_of_problems(before: Problem, after: Problem, *, shown: bool) -> Iterator[Difference]:
    """What differs between two problems; `shown` says that the first context has shown the features."""
    retired = [label for label in before.actions if label not in after.actions]
    added = [label for label in after.actions if label not in before.actions]
    if retired or added:
        yield "actions", _listing(retired), _listing(added)
    if shown:
        yield "features", "", enumeration([name for name, _ in after.features.columns]) or "none"
    pairs = {
        "out_of_range": (before.out_of_range, after.out_of_range),
        "unknown_features": (before.features.unknown_features, after.features.unknown_features),
    }
    yield from _differing(pairs)


def differences_of_rules(before: RewardRules, after: RewardRules) -> Iterator[Difference]:
    """What differs between two sets of rules for rewards."""
    yield from _differing({name: (getattr(before, name), getattr(after, name)) for name in before.__slots__})


def _differing(pairs: Mapping[str, tuple[object, object]]) -> Iterator[Difference]:
    for name, (old, new) in pairs.items():
        if old != new:
            yield name, repr(old), repr(new)


def _listing(labels: list[Hashable]) -> str:
    return enumeration(labels) if labels else ""


def with_changes(
    history: tuple[SettingsChange, ...], time: float, round_: int, differences: Iterator[Difference]
) -> tuple[SettingsChange, ...]:
    """The history with these differences at its end; the oldest changes of a long one are left out."""
    new = (SettingsChange(time, round_, *difference) for difference in differences)
    return (*history, *new)[-MOST_CHANGES:]

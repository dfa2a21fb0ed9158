"""Everything a bandit knows at one moment, as a frozen value that a file can hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from gyrfalcon.bandit.events import Event, How, RewardRules, contexts_of
from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log


@dataclass(frozen=True, slots=True)
class Events:
    """Events as columns."""

    ids: list[str]
    contexts: Contexts
    numbers: Ints  # (n, 4): action, epoch, round, component
    measures: Floats  # (n, 2): propensity, decided_at

    @staticmethod
    def of(events: Mapping[str, Event], n_actions: int) -> Events:
        """The columns of these events."""
        numbers = [(e.action, e.epoch, e.round, e.component) for e in events.values()]
        measures = [(e.propensity, e.decided_at) for e in events.values()]
        return Events(
            list(events),
            contexts_of(list(events.values()), n_actions),
            np.array(numbers, dtype=np.int64).reshape(-1, 4),
            np.array(measures, dtype=np.float64).reshape(-1, 2),
        )

    def by_id(self) -> dict[str, Event]:
        """The events again, rows of the stored contexts."""
        rows: Iterable[tuple[str, list[int], list[float]]] = zip(
            self.ids, self.numbers.tolist(), self.measures.tolist(), strict=True
        )
        return {
            event_id: Event(self.contexts, row, action, propensity, epoch, round_, component, decided_at)
            for row, (event_id, (action, epoch, round_, component), (propensity, decided_at)) in enumerate(
                rows
            )
        }


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A bandit in the middle of an epoch."""

    learner: object
    problem: Problem
    epoch: Epoch
    seed: int
    awaits_features: bool
    round: int
    n_open: int
    max_overtime: float
    rules: RewardRules
    latest: float
    offset: float
    waiting: Events
    settled: Events
    settled_rewards: Floats
    settled_expired: Bools
    closed: dict[str, How]
    updates: list[Log]

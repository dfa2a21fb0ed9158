"""Snapshot of a bandit in the middle of an epoch, as a frozen value that a file can hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrfalcon.bandit.events import Closed, Event, Settled, StoreContents, contexts_of
from gyrfalcon.bandit.reward_rules import RewardRules
from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log


@dataclass(frozen=True, slots=True)
class Events:
    """Events by id as columns of arrays."""

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
        """The events by id again, as rows of the stored contexts."""
        rows: Iterable[tuple[str, list[int], list[float]]] = zip(
            self.ids, self.numbers.tolist(), self.measures.tolist(), strict=True
        )
        return {
            event_id: Event(self.contexts, row, action, propensity, epoch, round_, component, decided_at)
            for row, (event_id, (action, epoch, round_, component), (propensity, decided_at)) in enumerate(
                rows
            )
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """All of a bandit's state in the middle of an epoch."""

    learner: object
    problem: Problem
    epoch: Epoch
    seed: int
    awaits_features: bool
    round: int
    n_open: int
    max_overtime: float
    rules: RewardRules
    clock_latest: float
    clock_offset: float
    pending: Events
    settled: Events
    settled_rewards: Floats
    settled_expired: Bools
    closed: dict[str, Closed]
    logs: list[Log]

    @staticmethod
    def of(contents: StoreContents, *, problem: Problem, **state: Any) -> Snapshot:
        """The snapshot of an event store's contents beside the rest of the state."""
        settled, n_actions = contents.settled, problem.n_actions
        return Snapshot(
            problem=problem,
            pending=Events.of(contents.pending, n_actions),
            settled=Events.of({key: row.event for key, row in settled.items()}, n_actions),
            settled_rewards=np.array([row.reward for row in settled.values()], dtype=np.float64),
            settled_expired=np.array([row.expired for row in settled.values()], dtype=np.bool_),
            closed=dict(contents.closed),
            logs=list(contents.logs),
            **state,
        )

    def contents(self) -> StoreContents:
        """The contents of the event store again."""
        columns = (self.settled_rewards.tolist(), self.settled_expired.tolist())
        settled = {
            key: Settled(event, *numbers)
            for (key, event), *numbers in zip(self.settled.by_id().items(), *columns, strict=True)
        }
        return StoreContents(self.pending.by_id(), settled, self.closed, self.logs)

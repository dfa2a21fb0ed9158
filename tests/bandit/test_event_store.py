"""Any event store will do: a table with a status column gives the same play as the one in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from gyrfalcon.bandit import Bandit
from gyrfalcon.bandit.events import (
    Closed,
    Event,
    EventStore,
    MemoryEventStore,
    Settled,
    StoreContents,
    contexts_of,
)
from gyrfalcon.bandit.reward_rules import OnDuplicate
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from tests.bandit.helpers import Clock, Recorder


@dataclass
class Line:
    """A line of the table; without a reward it is pending, and with how it was closed it is closed."""

    event: Event
    reward: float | None = None
    expired: bool = False
    closed: Closed | None = None

    @property
    def is_settled(self) -> bool:
        return self.reward is not None and self.closed is None


class TableEventStore:
    """Events as lines of one table, which are never deleted."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.table: dict[str, Line] = {}
        self.logs: list[Log] = []

    def _pending(self) -> list[str]:
        return [key for key, line in self.table.items() if line.reward is None and line.closed is None]

    @property
    def n_pending(self) -> int:
        return len(self._pending())

    @property
    def n_settled(self) -> int:
        return sum(line.is_settled for line in self.table.values()) + sum(map(len, self.logs))

    def find(self, event_id: str) -> Event | Settled | Closed | None:
        line = self.table.get(event_id)
        if line is None or line.closed is not None:
            return None if line is None else line.closed
        return line.event if line.reward is None else Settled(line.event, line.reward, line.expired)

    def insert(self, event_id: str, event: Event) -> None:
        self.table[event_id] = Line(event)

    def settle(self, event_id: str, settled: Settled) -> bool:
        before = self.table[event_id]
        self.table[event_id] = Line(settled.event, settled.reward, settled.expired)
        return before.reward is None

    def overdue(self, now: float, timeout: float | None, most: int) -> list[str]:
        pending = self._pending()
        first = max(0, len(pending) - most)
        late = [key for key in pending[first:] if timeout is not None and self._age(key, now) >= timeout]
        return pending[:first] + late

    def _age(self, event_id: str, now: float) -> float:
        return now - self.table[event_id].event.decided_at

    def expire(self, event_ids: Sequence[str], default: float | None) -> list[Event]:
        for key in event_ids:
            closed: Closed | None = "dropped" if default is None else None
            self.table[key] = Line(self.table[key].event, default, default is not None, closed)
        return [self.table[key].event for key in event_ids]

    def add_log(self, log: Log) -> None:
        self.logs.append(log)

    def rows(self) -> Log:
        lines = sorted(
            (line for line in self.table.values() if line.is_settled), key=lambda line: line.event.round
        )
        events = [line.event for line in lines]
        log = Log(
            contexts_of(events, self.problem.n_actions),
            np.array([event.action for event in events], dtype=np.int64),
            self.problem.rewards.to_unit([line.reward for line in lines]),
            np.array([event.propensity for event in events]),
            *(
                np.array([getattr(e, name) for e in events], dtype=np.int64)
                for name in ("epoch", "round", "component")
            ),
        )
        return (
            Log.concat([*self.logs, log] if events else self.logs, self.problem.n_actions)
            if self.logs
            else log
        )

    def mark_learned(self) -> None:
        for line in self.table.values():
            if line.is_settled:
                line.closed = "defaulted" if line.expired else "learned"
        self.logs = []

    def contents(self) -> StoreContents:
        settled = {
            key: Settled(line.event, line.reward, line.expired)
            for key, line in self.table.items()
            if line.reward is not None and line.closed is None
        }
        closed = {key: line.closed for key, line in self.table.items() if line.closed is not None}
        return StoreContents(
            {key: self.table[key].event for key in self._pending()}, settled, closed, self.logs
        )


def played(rule: OnDuplicate, default: float | None, as_table: bool) -> list[object]:
    """All that a bandit with late, repeated, missing and foreign rewards decides, learns and refuses."""
    clock, learner, rng = Clock(), Recorder(5), np.random.default_rng(3)
    bandit = Bandit(
        ["a", "b"],
        learner=learner,
        features=["x"],
        seed=1,
        reward_timeout=30.0,
        default_reward=default,
        max_pending=8,
        on_duplicate=rule,
        max_overtime=0.5,
        clock=clock,
    )
    # A table remembers all ids that were closed; here the memory does too.
    events: EventStore = (
        TableEventStore(bandit.problem) if as_table else MemoryEventStore(bandit.problem, 1000)
    )
    bandit._engine.events = events
    happened: list[object] = []
    ids: list[str] = []
    for round_ in range(120):
        clock.now += rng.exponential(2.0)
        decision = bandit.decide([rng.random()])
        ids.append(decision.event_id)
        happened.append(decision)
        for event_id in rng.choice(ids[-12:], size=1 + round_ % 2).tolist():
            try:
                bandit.reward(event_id, float(rng.integers(2)) / 2)
            except ValueError as error:
                happened.append(str(error))
        if round_ == 60:
            contexts = bandit.problem.contexts([[0.2], [0.4]])
            bandit.update(bandit.problem.log(contexts, ["a", "b"], [1, 0], propensities="uniform"))
        happened.append((bandit.n_pending, repr(bandit)))
    happened += [
        column.tolist() for log in learner.logs for column in (log.round, log.reward, log.contexts.shared)
    ]
    return happened


@pytest.mark.parametrize("default", [None, 0.0])
@pytest.mark.parametrize("rule", ["error", "first", "last", "sum"])
def test_a_table_of_events_gives_the_same_play(rule: OnDuplicate, default: float | None) -> None:
    in_memory = played(rule, default, as_table=False)
    assert in_memory == played(rule, default, as_table=True)
    assert any("expired" in line for line in in_memory if isinstance(line, str))

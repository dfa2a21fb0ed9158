"""Any sequence of calls: the bandit agrees with a plain model of who waits and who is settled."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gyrfalcon import Bandit, Decision
from gyrfalcon.bandit.reward_rules import OnDuplicate
from tests.bandit.helpers import Clock, batches, bytes_of

TTL, SIZE, OVERTIME = 10.0, 5, 1.0
UNITS = st.sampled_from([0.0, 0.25, 0.5, 1.0])


class BanditMachine(RuleBasedStateMachine):
    """The model: who waits since when, what each settled event earned, what is learned, and the epoch."""

    @initialize(
        on_duplicate=st.sampled_from(["error", "first", "last", "sum"]),
        default=st.sampled_from([None, 0.25]),
        cap=st.sampled_from([3, 50]),
        seed=st.integers(0, 5),
    )
    def begin(self, on_duplicate: OnDuplicate, default: float | None, cap: int, seed: int) -> None:
        self.clock = Clock()
        self.bandit = Bandit(
            learner=batches(SIZE),
            actions=["a", "b"],
            features=1,
            seed=seed,
            reward_timeout=TTL,
            default_reward=default,
            max_pending=cap,
            on_duplicate=on_duplicate,
            max_overtime=OVERTIME,
            out_of_range="clip",
            clock=self.clock,
        )
        self.on_duplicate, self.default, self.cap = on_duplicate, default, cap
        self.waiting: dict[str, tuple[float, int]] = {}  # when it was decided, at which round
        self.settled: dict[str, float] = {}
        self.expired: set[str] = set()
        self.learned: set[str] = set()
        self.n_updates = 0
        self.round, self.stop, self.epoch = 0, SIZE, 1

    @rule(x=st.floats(-3, 3))
    def decide(self, x: float) -> None:
        self._expire(1)
        self._advance()
        self._opened([self.bandit.decide([x])])

    @rule(x=st.floats(-3, 3), n=st.integers(0, 3))
    def decide_many(self, x: float, n: int) -> None:
        self._expire(n)
        self._advance()
        self._opened(list(self.bandit.decide_many([[x]] * n)))

    @precondition(lambda self: self.waiting or self.settled)
    @rule(data=st.data(), value=UNITS)
    def reward(self, data: st.DataObject, value: float) -> None:
        event_id = data.draw(st.sampled_from(sorted({*self.waiting, *self.settled})))
        self._expire(0)
        if self._refuses(event_id):
            with pytest.raises(ValueError, match=event_id):
                self.bandit.reward(event_id, value)
            return
        self.bandit.reward(event_id, value)
        if event_id in self.waiting or self.on_duplicate == "last":
            self.settled[event_id] = value
        elif self.on_duplicate == "sum":
            self.settled[event_id] += value
        self.waiting.pop(event_id, None)
        self._advance()

    @rule(value=st.sampled_from([float("nan"), float("inf"), "x", None]))
    def refused(self, value: Any) -> None:
        before = bytes_of(self.bandit)
        for event_id in [*list(self.waiting)[-1:], "nobody"]:
            with pytest.raises(ValueError, match=r"."):
                self.bandit.reward(event_id, value)
            with pytest.raises(ValueError, match=r"."):
                self.bandit.decide([value])
        if not self._due(0):
            assert bytes_of(self.bandit) == before
        self._expire(0)

    @rule(seconds=st.sampled_from([0.5, 4.0, TTL]))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @rule()
    def set_the_clock_back(self) -> None:
        self.decide(0.0)
        self.clock.now -= 50.0
        # Events are as old as they were.
        self.waiting = {key: (at - 50.0, number) for key, (at, number) in self.waiting.items()}
        self.decide(1.0)

    @rule(n=st.sampled_from([2, 4]))
    def update(self, n: int) -> None:
        problem = self.bandit.problem
        log = problem.log(
            problem.contexts([[1.0]] * n), ["a", "b"] * (n // 2), [0.5] * n, propensities="uniform"
        )
        self.bandit.update(log)
        self.round += n
        self.n_updates += n
        self._advance()

    @rule(x=st.floats(-3, 3))
    def save_and_load(self, x: float) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.bandit.save(Path(folder) / "bandit")
            loaded = Bandit.load(Path(folder) / "bandit", clock=self.clock)
        assert bytes_of(loaded) == bytes_of(self.bandit)
        self._expire(1)
        self._advance()
        decision = self.bandit.decide([x])
        assert loaded.decide([x]) == decision
        self._opened([decision])
        self.bandit = loaded

    @invariant()
    def agrees(self) -> None:
        held = self.bandit._live.engine.events.contents()
        assert self.bandit.n_pending == len(self.waiting) - len(self._due(0))
        assert list(held.pending) == list(self.waiting)
        assert {key: row.reward for key, row in held.settled.items()} == self.settled
        assert self.bandit.epoch.index == self.epoch
        assert (self.bandit._live.engine.round, self.bandit.epoch.stop) == (self.round, self.stop)

    def _opened(self, decisions: list[Decision]) -> None:
        for decision in decisions:
            assert decision.event_id not in {*self.waiting, *self.settled, *self.learned}
            assert (decision.round, decision.epoch) == (self.round, self.epoch)
            self.waiting[decision.event_id] = (self.clock.now, decision.round)
            self.round += 1

    def _refuses(self, event_id: str) -> bool:
        if event_id in self.waiting:
            return False
        return event_id in self.expired or event_id not in self.settled or self.on_duplicate == "error"

    def _due(self, n_new: int) -> list[str]:
        overflow = max(0, len(self.waiting) + n_new - self.cap)
        old = [key for key, (at, _) in self.waiting.items() if self.clock.now - at >= TTL]
        return list(dict.fromkeys([*list(self.waiting)[:overflow], *old]))

    def _expire(self, n_new: int) -> None:
        for event_id in self._due(n_new):
            del self.waiting[event_id]
            self.expired.add(event_id)
            if self.default is not None:
                self.settled[event_id] = self.default

    def _advance(self) -> None:
        is_open = any(self.stop - SIZE <= number < self.stop for _, number in self.waiting.values())
        is_half_in = 2 * (len(self.settled) + self.n_updates) >= SIZE
        overtime_is_up = is_half_in and self.round - self.stop >= OVERTIME * SIZE
        if self.round >= self.stop and (overtime_is_up or not is_open):
            self.learned |= set(self.settled)
            self.settled, self.n_updates = {}, 0
            self.epoch += 1
            self.stop = self.round + SIZE


TestBanditMachine = BanditMachine.TestCase
TestBanditMachine.settings = settings(stateful_step_count=40)

"""Any sequence of calls: the bandit agrees with a plain model of where every event stands."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gyrfalcon import Bandit, Decision
from gyrfalcon.bandit.learner_changes import own_learner
from gyrfalcon.bandit.reward_rules import OnDuplicate
from gyrfalcon.core.epochs import action_probabilities
from gyrfalcon.core.records import Log
from tests.bandit.helpers import Clock, Recorder, bytes_of, check_books

TIMEOUT, SIZE, OVERTIME = 10.0, 5, 1.0
UNITS = st.sampled_from([0.0, 0.25, 0.5, 1.0])
FEATURE = st.floats(-3, 3)
WAITING = ("pending", "rewarded")


@dataclass
class Modelled:
    """What is to be known of one event."""

    decision: Decision
    at: float
    x: float
    status: str = "pending"
    reward: float | None = None
    expired: bool = False
    crowded: bool = False
    retired: bool = False
    was_final: bool = False  # before its action was retired

    @property
    def waits(self) -> bool:
        return self.status in WAITING

    def finish(self, reward: float | None) -> None:
        self.reward = reward
        self.status = "dropped" if reward is None else "retired" if self.retired else "final"


class BanditMachine(RuleBasedStateMachine):
    """The model: how each event stands, what every fit has read, and the epoch."""

    @initialize(
        on_duplicate=st.sampled_from(["error", "first", "last", "sum"]),
        timeout=st.sampled_from([None, TIMEOUT]),
        default=st.sampled_from([None, 0.25]),
        cap=st.sampled_from([3, 50]),
        seed=st.integers(0, 5),
    )
    def begin(
        self, on_duplicate: OnDuplicate, timeout: float | None, default: float | None, cap: int, seed: int
    ) -> None:
        self.clock = Clock()
        self.bandit = Bandit(
            learner=Recorder(SIZE),
            actions=["a", "b"],
            features=1,
            seed=seed,
            reward_timeout=timeout,
            default_reward=default,
            max_pending=cap,
            on_duplicate=on_duplicate,
            max_overtime=OVERTIME,
            out_of_range="clip",
            clock=self.clock,
        )
        self.on_duplicate, self.timeout, self.default, self.cap = on_duplicate, timeout, default, cap
        self.events: dict[str, Modelled] = {}
        self.logged: dict[float, tuple[str, float]] = {}  # rows from elsewhere by their feature
        self.n_logged, self.n_late, self.n_labels = 0, 0, 0
        self.round, self.stop, self.epoch = 0, SIZE, 1
        self.fits: list[tuple[set[str], dict[float, tuple[str, float]]]] = []

    @rule(x=FEATURE, data=st.data())
    def decide(self, x: float, data: st.DataObject) -> None:
        self._expire(1)
        self._advance()
        own = data.draw(st.booleans())
        epoch, contexts = self.bandit.epoch, self.bandit.problem.context([x])
        decision = self.bandit.decide([x], event_id=f"own {self.round}" if own else None)
        self._opened([decision], [x])
        if epoch is self.bandit.epoch:
            row = action_probabilities(epoch, np.array([decision.round]), contexts)[0]
            assert decision.distribution == tuple(row.tolist())
            assert decision.propensity == row[self.bandit.problem.index_of(decision.action)]

    @rule(x=FEATURE, n=st.integers(0, 3))
    def decide_many(self, x: float, n: int) -> None:
        self._expire(n)
        self._advance()
        self._opened(list(self.bandit.decide_many([[x]] * n)), [x] * n)

    @precondition(lambda self: self.events)
    @rule(data=st.data())
    def decide_again(self, data: st.DataObject) -> None:
        event_id = data.draw(st.sampled_from(list(self.events)[-8:]))
        event = self.events[event_id]
        if self.bandit._live.engine.ledger.find(event_id) is None:
            assert not event.waits  # only ended events are forgotten
            assert event.status != "final"
        elif event.retired:
            with pytest.raises(ValueError, match="retired"):
                self.bandit.decide([0.0], event_id=event_id)
        else:
            again = self.bandit.decide([0.0], event_id=event_id)
            assert again[:6] == event.decision[:6]
            assert again.distribution in (None, event.decision.distribution)

    @precondition(lambda self: self.events)
    @rule(data=st.data(), value=UNITS, final=st.booleans())
    def reward(self, data: st.DataObject, value: float, final: bool) -> None:
        event_id = data.draw(st.sampled_from(list(self.events)[-12:]))
        event = self.events[event_id]
        self._expire(0)
        fixed = not event.waits and not (event.status == "final" and self.timeout is None)
        fixed = fixed or event.expired
        is_final = final or self.timeout is None
        if event.status == "pending":
            after: float | None = value
        elif (
            self.on_duplicate == "first"
            and not event.expired
            and event.status not in ("dropped", "withdrawn")
        ):
            after = event.reward
            is_final = is_final and not event.waits
            if event.status not in ("pending", "rewarded", "final"):
                with suppress(ValueError):  # it may be forgotten
                    self.bandit.reward(event_id, value, final=final)
                return
        elif fixed or self.on_duplicate == "error":
            with pytest.raises(ValueError, match=event_id) as caught:
                self.bandit.reward(event_id, value, final=final)
            if "expired without a reward" in str(caught.value):
                assert event.expired or event.status == "dropped"
                self.n_late += 1
            return
        else:
            after = value if self.on_duplicate == "last" else (event.reward or 0.0) + value
        self.bandit.reward(event_id, value, final=final)
        if event.waits:
            event.reward, event.status = after, "rewarded"
            if is_final:
                event.finish(after)
        elif event.status == "final":
            event.reward = after
        self._advance()

    @precondition(lambda self: self.events)
    @rule(data=st.data(), shown=st.booleans())
    def withdraw(self, data: st.DataObject, shown: bool) -> None:
        event_id = data.draw(st.sampled_from(list(self.events)[-8:]))
        event = self.events[event_id]
        other = next(one for one in self.bandit.problem.actions if one != event.decision.action)
        if event.waits or event.status == "final":
            self.bandit.withdraw(event_id, shown=other if shown else None)
            event.status = "withdrawn"
            self._advance()
        elif event.status != "withdrawn":
            with pytest.raises(ValueError, match=event_id):
                self.bandit.withdraw(event_id)

    @rule(value=st.sampled_from([float("nan"), float("inf"), "x", None]))
    def refused(self, value: Any) -> None:
        self._expire(0)
        self.bandit.reward_many({})
        self._advance()
        before = bytes_of(self.bandit)
        waiting = [one for one, event in self.events.items() if event.status == "pending"]
        for event_id in [*waiting[-1:], "nobody"]:
            with pytest.raises(ValueError, match=r"."):
                self.bandit.reward(event_id, value)
            with pytest.raises(ValueError, match=r"."):
                self.bandit.decide([value])
            with pytest.raises((ValueError, TypeError), match=r"."):
                self.bandit.reward_many({**dict.fromkeys(waiting[:1], 1.0), event_id: value})
        for bad in (["a", "zzz"], self.bandit.problem.actions):
            with pytest.raises(ValueError, match=r"."):
                self.bandit.retire_actions(bad)
        with pytest.raises(ValueError, match=r"."):
            self.bandit.add_actions(["new", self.bandit.problem.actions[0]])
        assert bytes_of(self.bandit) == before

    @rule(seconds=st.sampled_from([0.5, 4.0, TIMEOUT, 1e9]))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @rule(data=st.data())
    def set_the_clock_back(self, data: st.DataObject) -> None:
        self.decide(0.0, data)
        self.clock.now -= 50.0
        for event in self.events.values():  # as old as they were
            event.at -= 50.0
        self.decide(1.0, data)

    @rule(n=st.sampled_from([2, 4]))
    def update(self, n: int) -> None:
        problem = self.bandit.problem
        features = [100.0 + self.n_logged + row for row in range(n)]
        labels = [str(problem.actions[row % problem.n_actions]) for row in range(n)]
        log = problem.log(problem.contexts([[x] for x in features]), labels, [0.5] * n, [0.5] * n)
        self.bandit.update(log)
        self.logged |= {x: (label, 0.5) for x, label in zip(features, labels, strict=True)}
        self.round, self.n_logged = self.round + n, self.n_logged + n
        self._advance()

    @rule(n=st.integers(0, 2))
    def add_actions(self, n: int) -> None:
        if self.bandit.problem.n_actions < 5:
            self.bandit.add_actions([f"new {self.n_labels + row}" for row in range(n)])
            self.n_labels += n

    @rule(data=st.data())
    def retire_actions(self, data: st.DataObject) -> None:
        actions = list(self.bandit.problem.actions)
        gone = set(actions) - {*data.draw(st.permutations(actions))[: max(2, len(actions) - 1)]}
        self.bandit.retire_actions(sorted(gone, key=str))
        for event in self.events.values():
            if event.decision.action in gone:
                event.retired = True
                if event.status == "final":
                    event.status, event.was_final = "retired", True
        self.logged = {x: row for x, row in self.logged.items() if row[0] not in gone}
        for label in gone:
            with pytest.raises(ValueError, match="retired before"):
                self.bandit.add_actions([label])

    @rule(
        timeout=st.sampled_from([None, TIMEOUT, 4.0]),
        default=st.sampled_from([None, 0.25, 0.5]),
        cap=st.sampled_from([3, 50]),
        on_duplicate=st.sampled_from(["error", "first", "last", "sum"]),
        changed=st.sets(st.sampled_from(["timeout", "default", "cap", "on_duplicate"])),
    )
    def change_rules(
        self,
        timeout: float | None,
        default: float | None,
        cap: int,
        on_duplicate: OnDuplicate,
        changed: set[str],
    ) -> None:
        new = {"timeout": timeout, "default": default, "cap": cap, "on_duplicate": on_duplicate}
        names = {"timeout": "reward_timeout", "default": "default_reward", "cap": "max_pending"}
        self.bandit.change_rules(**{names.get(name, name): new[name] for name in changed})
        for name in changed:
            setattr(self, name, new[name])
        if self.timeout is None:
            for event in self.events.values():
                if event.status == "rewarded":
                    event.finish(event.reward)

    @rule()
    def change_learner(self) -> None:
        learner = self._learner()
        self.bandit.change_learner(Recorder(SIZE, learner.logs))
        for one in self._ready():  # rows that it has started from
            self.events[one].status = "learned"
        self.logged = {}
        self.epoch, self.stop = self.epoch + 1, self.round + SIZE
        assert self.bandit.status().history[-1].setting == "learner"

    @rule(x=FEATURE)
    def save_and_load(self, x: float) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.bandit.save(Path(folder) / "bandit", classes=[Recorder, Log])
            loaded = Bandit.load(Path(folder) / "bandit", classes=[Recorder, Log], clock=self.clock)
        assert bytes_of(loaded) == bytes_of(self.bandit)
        self._expire(1)
        self._advance()
        decision = self.bandit.decide([x], event_id=f"both {self.round}")
        assert loaded.decide([x], event_id=f"both {self.round}") == decision
        self._opened([decision], [x])
        self.bandit = loaded

    @invariant()
    def agrees(self) -> None:
        check_books(self.bandit)
        engine = self.bandit._live.engine
        ledger = engine.ledger
        held = {one: ledger.table.event(position) for one, position in ledger.live.items()}
        mine = {one: event for one, event in self.events.items() if event.waits or event.status == "final"}
        assert [*held] == [*mine]
        for one, event in held.items():
            assert ("pending", "rewarded", "final")[event.status] == mine[one].status
            assert (mine[one].reward is None) == np.isnan(event.reward)
            assert mine[one].reward in (None, event.reward)
            assert event.propensity == mine[one].decision.propensity
        n_due = len(self._due(0))
        assert self.bandit.n_pending == sum(event.waits for event in mine.values()) - n_due
        assert (self.bandit.epoch.index, self.bandit.epoch.stop) == (self.epoch, self.stop)
        assert (ledger.counts.round, ledger.counts.n_late) == (self.round, self.n_late)
        assert ledger.counts.n_dropped == sum(event.status == "dropped" for event in self.events.values())
        final = [one for one in self.events.values() if one.status in ("final", "learned") or one.was_final]
        assert ledger.counts.n_final == len(final)
        if final:  # of withdrawn events nothing is left, and sums count as what a fit reads
            mean = np.mean([min(one.reward, 1.0) for one in final if one.reward is not None])
            assert self.bandit.status().mean_reward == pytest.approx(mean, abs=1e-9)
        assert ledger.counts.n_learned == sum(event.status == "learned" for event in self.events.values())

    @invariant()
    def fits_read_what_they_should(self) -> None:
        learner = self._learner()
        assert len(learner.logs) == len(self.fits)
        for log, (ids, logged) in zip(learner.logs, self.fits, strict=True):
            by_round = {self.events[one].decision.round: self.events[one] for one in ids}
            is_ours = log.contexts.shared[:, 0] < 100.0
            assert sorted(log.round[is_ours].tolist()) == sorted(by_round)
            assert sorted(log.contexts.shared[~is_ours, 0].tolist()) == sorted(logged)
            for number, x, reward, propensity in zip(
                log.round[is_ours].tolist(),
                log.contexts.shared[is_ours, 0].tolist(),
                log.reward[is_ours].tolist(),
                log.propensity[is_ours].tolist(),
                strict=True,
            ):
                event = by_round[number]
                assert event.reward is not None
                earned = min(event.reward, 1.0)  # a sum is clipped as a whole
                assert (x, reward, propensity) == (event.x, earned, event.decision.propensity)
        used = [one for ids, _ in self.fits for one in ids]
        assert len(used) == len(set(used))

    def _learner(self) -> Recorder:
        learner = own_learner(self.bandit._live.engine.learner)
        assert isinstance(learner, Recorder)
        return learner

    def _opened(self, decisions: list[Decision], features: list[float]) -> None:
        for decision, x in zip(decisions, features, strict=True):
            assert decision.event_id not in self.events
            assert (decision.round, decision.epoch) == (self.round, self.epoch)
            self.events[decision.event_id] = Modelled(decision, self.clock.now, x)
            self.round += 1

    def _due(self, n_new: int) -> dict[str, bool]:
        """Who must become final, and whether only to make room."""
        waiting = [one for one, event in self.events.items() if event.waits]
        found, crowd = {}, len(waiting) + n_new - self.cap
        for one in waiting:
            late = self.timeout is not None and self.clock.now - self.events[one].at >= self.timeout
            if not late and crowd <= 0:
                break
            found[one] = not late
            crowd -= 1
        return found

    def _expire(self, n_new: int) -> None:
        for event_id, crowded in self._due(n_new).items():
            event = self.events[event_id]
            event.crowded = crowded
            event.expired = event.reward is None and self.default is not None
            event.finish(self.default if event.reward is None else event.reward)

    def _ready(self) -> list[str]:
        ready = []
        for one, event in self.events.items():
            if event.waits and self.timeout is not None:
                break
            if event.status == "final":
                ready.append(one)
        return ready

    def _advance(self) -> None:
        waiting = [event.decision for event in self.events.values() if event.waits]
        is_open = any(one.epoch == self.epoch and one.round < self.stop for one in waiting)
        if self.timeout is not None:  # later rows wait for earlier ones
            is_open = is_open or any(one.round < self.stop for one in waiting[:1])
        ready = self._ready()
        is_half_in = 2 * (len(ready) + len(self.logged)) >= SIZE
        overtime_is_up = is_half_in and self.round - self.stop >= OVERTIME * SIZE
        if self.round >= self.stop and (overtime_is_up or not is_open):
            for one in ready:
                self.events[one].status = "learned"
            self.fits.append((set(ready), self.logged))
            self.logged = {}
            self.epoch += 1
            self.stop = self.round + SIZE


TestBanditMachine = pytest.mark.filterwarnings("ignore:More than max_pending")(BanditMachine.TestCase)
TestBanditMachine.settings = settings(stateful_step_count=40)

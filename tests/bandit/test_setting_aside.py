"""Rows that no fit takes: they are found and set aside, and learning goes on with all the others."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from gyrfalcon import Bandit
from gyrfalcon.bandit.engine import CHUNK
from gyrfalcon.bandit.event_table import Status
from gyrfalcon.bandit.journal import replay
from gyrfalcon.bandit.refits import RefitJob, RefitMode
from gyrfalcon.bandit.setting_aside import MOST_FITS, refused_rows
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.steps import Sums
from tests.bandit.helpers import Recorder, check_books
from tests.bandit.test_journal import kept_journal


class Picky(Recorder):
    """A learner that fails on rows whose feature is 5 or more."""

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        odd = log.contexts.shared[:, 0] >= 5.0
        if odd.any():
            raise ArithmeticError(f"x is {log.contexts.shared[odd][0, 0]:g}")
        return super().next_epoch(epoch, log)


def played(bandit: Bandit, features: Iterable[float]) -> int:
    """Decide and reward one after the other; the number of rewards at which the learner failed."""
    n_failures = 0
    for x in features:
        event_id = bandit.decide([x]).event_id
        try:
            bandit.reward(event_id, 0.5)
        except ArithmeticError:
            n_failures += 1
        bandit.wait()
    return n_failures


@pytest.mark.parametrize("refit", ["inline", "background"])
def test_rows_that_the_learner_fails_on_are_set_aside_after_three_failures(refit: RefitMode) -> None:
    learner = Picky(4)
    bandit = Bandit(["a", "b"], learner=learner, features=1, seed=1, refit=refit)
    journal = kept_journal(bandit)
    with pytest.warns(RuntimeWarning) as caught:
        n_failures = played(bandit, [0.0, 7.0, 1.0, 2.0, 3.0, 8.0, 4.0, 0.5])
    aside = [str(one.message) for one in caught if "set aside" in str(one.message)]
    assert aside == [
        "2 rows are set aside, because the learner fails on them (ArithmeticError: x is 7). "
        "Learning goes on with the others; `status` counts them."
    ]
    assert n_failures == (3 if refit == "inline" else 0)
    assert learner.logs[-1].contexts.shared[:, 0].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    status = bandit.status()
    assert (status.n_set_aside, status.n_learned, status.epoch) == (2, 5, 2)
    assert any("2 rows were set aside" in note and "x is 7" in note for note in status.notes)
    check_books(bandit)
    with pytest.raises(ValueError, match="no fit takes, and was set aside"):
        bandit.reward(bandit._live.engine.ledger.table.event_id(1), 1.0)
    again = Bandit(["a", "b"], learner=Picky(4), features=1, seed=1, refit=refit)
    replay(again._live.engine, journal)
    assert again.status().n_set_aside == 2
    check_books(again)


def test_further_rows_are_set_aside_without_a_further_warning() -> None:
    bandit = Bandit(["a", "b"], learner=Picky(4), features=1, seed=1)
    with pytest.warns(RuntimeWarning, match="set aside") as caught:
        played(bandit, [7.0, *[0.0] * 10, 9.0, *[0.0] * 10])
    assert sum("set aside" in str(one.message) for one in caught) == 1
    assert bandit.status().n_set_aside == 2
    assert bandit.epoch.index > 3


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_learner_that_fails_whatever_the_rows_are_loses_none() -> None:
    learner = Recorder(4, fails=["the library is broken"])
    bandit = Bandit(["a", "b"], learner=learner, features=1, seed=1)
    assert played(bandit, np.zeros(20)) == 17
    assert bandit.status().n_set_aside == 0
    learner.fails.clear()
    played(bandit, [0.0])
    assert [len(log) for log in learner.logs] == [21]


def test_a_full_memory_is_not_the_fault_of_rows() -> None:
    class Full(Recorder):
        def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
            if self.fails and len(log) > 1:
                raise MemoryError("no room")
            return super().next_epoch(epoch, log)

    learner = Full(4, fails=["full"])
    bandit = Bandit(["a", "b"], learner=learner, features=1, seed=1)
    for _ in range(20):
        event_id = bandit.decide([0.0]).event_id
        with suppress(MemoryError):
            bandit.reward(event_id, 1.0)
    learner.fails.clear()
    played(bandit, [0.0])
    assert [len(log) for log in learner.logs] == [21]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_log_from_elsewhere_that_the_learner_fails_on_is_set_aside_as_a_whole() -> None:
    learner = Picky(4)
    bandit = Bandit(["a", "b"], learner=learner, features=1, seed=1)
    problem = bandit.problem
    bandit.update(problem.log(problem.contexts([[1.0], [9.0]]), ["a", "b"], [1, 0], [0.5, 0.5]))
    played(bandit, [0.0, 1.0, 2.0, 3.0, 4.0])
    assert learner.logs[-1].contexts.shared[:, 0].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert bandit.status().n_set_aside == 2
    assert bandit._live.engine.ledger.n_log_rows == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PickySums(EpsilonFalcon):
    """Sums of rows fail on features of 5 or more."""

    def sums(self, epoch: Epoch, log: Log, before: Sums | None = None) -> Sums:
        if (log.contexts.shared >= 5.0).any():
            raise ArithmeticError("too large")
        return EpsilonFalcon.sums(self, epoch, log, before)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_rows_of_a_long_epoch_that_cannot_be_summed_are_set_aside() -> None:
    n_first = 4 * CHUNK + 1
    bandit = Bandit(["a", "b"], learner=PickySums(schedule=FixedBatch(n_first)), features=1, seed=1)
    bandit.reward_many(dict.fromkeys(bandit.decide_many(np.zeros((n_first, 1))).event_id, 0.5))
    bandit.reward_many({})
    assert bandit.epoch.index == 2
    features = np.zeros((2 * CHUNK, 1))
    features[3] = 9.0
    ids = bandit.decide_many(features).event_id
    for part in range(8):
        with suppress(ArithmeticError):
            bandit.reward_many(dict.fromkeys(ids[part * CHUNK // 4 : (part + 1) * CHUNK // 4], 0.5))
    assert bandit.status().n_set_aside == 1
    assert bandit._live.engine.sums is not None
    assert bandit._live.engine.ledger.ended[ids[3]].status == Status.SET_ASIDE
    check_books(bandit)


@dataclass(frozen=True)
class Fussy:
    """A learner whose fits fail on some rounds, or on too many rows of another kind together."""

    bad: frozenset[int]
    together: frozenset[int] = frozenset()
    fits: list[int] = field(default_factory=list)

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        return Recorder(100).start(problem, log)

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        return epoch

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        rounds = set(log.round.tolist())
        self.fits.append(len(rounds))
        if rounds & self.bad or len(rounds & self.together) > 2:
            raise ArithmeticError("no")
        return epoch


def job_of(learner: Fussy, n: int) -> RefitJob:
    """The refit of n rewarded rows, in an epoch that goes on."""
    bandit = Bandit(["a", "b"], learner=learner, seed=1)
    bandit.reward_many(dict.fromkeys(bandit.decide_many(n=n).event_id, 1.0))
    return bandit._live.engine.job_on(n, 0, n)


@given(n=st.integers(1, 60), data=st.data())
def test_bisection_finds_single_rows_and_never_a_row_that_fits(n: int, data: st.DataObject) -> None:
    bad = frozenset(data.draw(st.sets(st.integers(0, n - 1), max_size=4)))
    learner = Fussy(bad)
    found = refused_rows(job_of(learner, n))
    assert (frozenset() if found is None else frozenset(found.positions)) == bad


@given(n=st.integers(3, 60), data=st.data())
def test_what_remains_fits_and_searches_are_short(n: int, data: st.DataObject) -> None:
    bad = frozenset(data.draw(st.sets(st.integers(0, n - 1))))
    together = frozenset(data.draw(st.sets(st.integers(0, n - 1))))
    learner = Fussy(bad, together)
    found = refused_rows(job_of(learner, n))
    refused = frozenset() if found is None else frozenset(found.positions)
    remaining = frozenset(range(n)) - refused
    assert not remaining & bad
    assert len(remaining & together) <= 2
    assert len(learner.fits) <= MOST_FITS + 10

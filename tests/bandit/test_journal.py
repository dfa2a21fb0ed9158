"""The journal: numbered without gaps, and enough to rebuild the state that eight threads have made."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pytest

from gyrfalcon import Bandit
from gyrfalcon.bandit.journal import Record, replay
from gyrfalcon.bandit.refits import RefitMode
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from tests.bandit.helpers import Clock, bytes_of_engine, check_books

N_THREADS, N_STEPS = 8, 60


def bandit_of(timeout: float | None, refit: RefitMode = "inline", *, declared: bool = True) -> Bandit:
    return Bandit(
        ["a", "b", "c"],
        learner=EpsilonFalcon(schedule=FixedBatch(40)),
        features=2 if declared else None,
        seed=3,
        refit=refit,
        reward_timeout=timeout,
        default_reward=0.0 if timeout else None,
        on_duplicate="sum",
        out_of_range="clip",
        max_pending=150,
        clock=Clock(),
    )


def kept_journal(bandit: Bandit) -> list[tuple[int, Record]]:
    journal: list[tuple[int, Record]] = []
    bandit._live.engine.sink = lambda number, record: journal.append((number, record))
    bandit._live.engine.ledger.outbox = deque()
    return journal


def state_of(bandit: Bandit) -> bytes:
    return bytes_of_engine(bandit._live.completed(), clock_latest=0.0, clock_offset=0.0)


@pytest.mark.filterwarnings("ignore:More than max_pending")
@pytest.mark.parametrize("timeout", [None, 5.0])
def test_the_state_that_eight_threads_made_is_rebuilt_from_the_journal(timeout: float | None) -> None:
    bandit = bandit_of(timeout, "background")
    journal, barrier = kept_journal(bandit), threading.Barrier(N_THREADS)

    def play(thread: int) -> None:
        rng = np.random.default_rng(thread)
        barrier.wait()
        made: list[str] = []
        for step in range(N_STEPS):
            made.append(bandit.decide(rng.normal(size=2)).event_id)
            made += bandit.decide_many(rng.normal(size=(2, 2))).event_id
            for event_id in rng.choice(made[-12:], size=2).tolist():
                with suppress(ValueError):  # it has ended
                    bandit.reward(event_id, float(rng.random()), final=bool(rng.integers(2)))
            if step % 10 == 3:
                with suppress(ValueError):
                    bandit.withdraw(str(rng.choice(made[-12:])))
            _change(bandit, thread, step)

    with ThreadPoolExecutor(N_THREADS) as pool:
        list(pool.map(play, range(N_THREADS)))
    bandit.wait()
    check_books(bandit)
    assert [number for number, _ in journal] == list(range(1, len(journal) + 1))
    kinds = {type(record).__name__ for _, record in journal}
    assert kinds >= {"Decided", "Rewarded", "Withdrawn", "ProblemChanged", "LogAdded", "EpochOpened"}
    again = bandit_of(timeout, "background")
    replay(again._live.engine, journal)
    check_books(again)
    assert state_of(again) == state_of(bandit)


def _change(bandit: Bandit, thread: int, step: int) -> None:
    clock = bandit._live.engine.clock.source
    assert isinstance(clock, Clock)
    if thread == 0:
        clock.now += 0.25
    if thread == 1 and step % 15 == 7:
        bandit.add_actions([f"new {step}"])
    if thread == 2 and step == 40:
        bandit.retire_actions(["b"])
    if thread == 3 and step % 20 == 10:
        problem = bandit.problem
        with suppress(ValueError):  # another thread has changed the actions
            bandit.update(problem.log(problem.contexts(np.ones((2, 2))), ["a", "c"], [1, 0], [0.5, 0.5]))
    if thread == 4 and step == 30:
        bandit.change_rules(on_duplicate="last")


def test_features_that_the_first_context_shows_and_logs_before_it_are_in_the_journal() -> None:
    for with_log in (False, True):
        bandit = bandit_of(None, declared=False)
        journal = kept_journal(bandit)
        bandit.add_actions(["d"])
        if with_log:
            bandit.update(bandit.problem.log(bandit.problem.contexts(n=2), ["a", "d"], [1, 0], [0.5, 0.5]))
        bandit.decide(None if with_log else {"age": 3.0})
        bandit.retire_actions(["a"])
        again = bandit_of(None, declared=False)
        replay(again._live.engine, journal)
        assert state_of(again) == state_of(bandit)
        assert again.problem.features.width == (0 if with_log else 1)


def test_a_rule_without_a_timeout_makes_rewards_final_that_waited_for_theirs() -> None:
    bandit = bandit_of(5.0)
    journal = kept_journal(bandit)
    ids = bandit.decide_many(np.zeros((3, 2))).event_id
    bandit.reward_many({ids[1]: 0.5, ids[2]: 0.25})
    assert bandit.n_pending == 3
    bandit.change_rules(reward_timeout=None)
    assert bandit.n_pending == 1
    check_books(bandit)
    assert bandit._live.engine.ledger.n_ready == 2
    again = bandit_of(5.0)
    replay(again._live.engine, journal)
    assert state_of(again) == state_of(bandit)


def test_a_journal_with_a_gap_is_refused_and_repeated_records_are_passed_over() -> None:
    bandit = bandit_of(None)
    journal = kept_journal(bandit)
    bandit.decide_many(np.zeros((3, 2)))
    again = bandit_of(None)
    with pytest.raises(ValueError, match="record 3 follows record 1; give the journal without gaps"):
        replay(again._live.engine, [journal[0], journal[2]])
    replay(again._live.engine, [*journal, *journal[1:]])
    assert state_of(again) == state_of(bandit)


def test_a_sink_that_fails_loses_no_record_and_warns_once() -> None:
    bandit = bandit_of(None)
    seen: list[int] = []
    works: list[bool] = []

    def sink(number: int, record: Record) -> None:
        if not works:
            raise OSError("the disk is full")
        seen.append(number)

    bandit._live.engine.sink, bandit._live.engine.ledger.outbox = sink, deque()
    with pytest.warns(RuntimeWarning, match="The decision log failed: the disk is full"):
        bandit.decide([1.0, 2.0])
    bandit.decide_many(np.zeros((2, 2)))
    works.append(True)
    bandit.reward_many({})
    assert seen == [1, 2, 3]

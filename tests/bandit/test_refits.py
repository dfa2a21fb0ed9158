"""Refits beside decisions: the epoch in play decides, and the next one is swapped in if it still fits."""

from __future__ import annotations

import copy
import pickle
import threading
import time
import warnings

import pytest

from gyrfalcon import Bandit
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.records import Log
from tests.bandit.helpers import Recorder, check_books
from tests.processes import LIMIT


class Held(Recorder):
    """A learner whose fits wait until they are let go, one by one."""

    def __init__(self, size: int = 4) -> None:
        super().__init__(size)
        object.__setattr__(self, "begun", threading.Semaphore(0))
        object.__setattr__(self, "let_go", threading.Semaphore(0))

    begun: threading.Semaphore
    let_go: threading.Semaphore

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        self.begun.release()
        assert self.let_go.acquire(timeout=LIMIT)
        return super().next_epoch(epoch, log)


def refitting(learner: Recorder, **settings: object) -> Bandit:
    """A bandit whose first refit is under way."""
    bandit = Bandit(["a", "b", "c"], learner=learner, seed=1, refit="background", **settings)  # type: ignore[arg-type]
    bandit.reward_many(dict.fromkeys(bandit.decide_many(n=learner.size).event_id, 0.5))
    if isinstance(learner, Held):
        assert learner.begun.acquire(timeout=LIMIT)
    return bandit


def test_a_seed_refits_inline_and_no_seed_in_the_background() -> None:
    assert Bandit(["a", "b"], seed=1)._live.refit == "inline"
    assert Bandit(["a", "b"])._live.refit == "background"
    assert Bandit(["a", "b"], refit="inline")._live.refit == "inline"
    with pytest.raises(ValueError, match="refit is 'later'; choose 'background' or 'inline'"):
        Bandit(["a", "b"], refit="later")  # type: ignore[arg-type]


def test_decisions_during_a_refit_are_of_the_epoch_in_play_and_count_in_the_next_fit() -> None:
    learner = Held()
    bandit = refitting(learner)
    during = bandit.decide()
    assert during.epoch == 1
    bandit.reward(during.event_id, 1.0)
    learner.let_go.release()
    bandit.wait()
    assert (bandit.epoch.index, bandit.epoch.start) == (2, 5)
    assert [log.round.tolist() for log in learner.logs] == [[0, 1, 2, 3]]
    learner.let_go.release()
    bandit.reward_many(dict.fromkeys(bandit.decide_many(n=4).event_id, 0.5))
    bandit.wait()
    assert [log.round.tolist() for log in learner.logs] == [[0, 1, 2, 3], [4, 5, 6, 7, 8]]
    check_books(bandit)


def test_rewards_and_withdrawals_of_rows_in_a_fit_are_refused_and_logs_wait_for_the_next() -> None:
    learner = Held()
    bandit = refitting(learner, on_duplicate="last")
    event_id = next(iter(bandit._live.engine.ledger.live))
    with pytest.raises(ValueError, match="has a final reward; a further reward can't change that"):
        bandit.reward(event_id, 1.0)
    with pytest.raises(ValueError, match="can't be withdrawn"):
        bandit.withdraw(event_id)
    bandit.update(bandit.problem.log(bandit.problem.contexts(n=2), ["a", "b"], [1, 0], [0.5, 0.5]))
    learner.let_go.release()
    bandit.wait()
    assert [len(log) for log in learner.logs] == [4]
    assert bandit._live.engine.ledger.n_log_rows == 2
    check_books(bandit)


@pytest.mark.parametrize("adds", [True, False])
def test_a_change_of_actions_makes_the_job_void_and_the_next_one_is_due(adds: bool) -> None:
    learner = Held()
    bandit = refitting(learner)
    if adds:
        bandit.add_actions(["d"])
    else:
        bandit.retire_actions(["c"])
    learner.let_go.release()
    assert learner.begun.acquire(timeout=LIMIT)  # the next one, as the first is of the actions before
    assert len(learner.logs) == 1
    assert bandit.decide().epoch == 1
    learner.let_go.release()
    bandit.wait()
    assert bandit.epoch.index == 2
    assert len(bandit.decide().distribution or ()) == bandit.problem.n_actions == (4 if adds else 2)
    assert learner.logs[-1].action.max() < bandit.problem.n_actions
    check_books(bandit)


def test_a_learner_that_fails_in_the_background_warns_once_and_is_tried_again() -> None:
    learner = Recorder(2, fails=["matrix is singular"])
    bandit = Bandit(["a", "b"], learner=learner, seed=1, refit="background")
    ids = bandit.decide_many(n=4).event_id
    bandit.reward_many(dict.fromkeys(ids[:2], 1.0))
    bandit.wait()
    with pytest.warns(
        RuntimeWarning, match=r"ArithmeticError: matrix is singular.*next reward tries"
    ) as caught:
        assert bandit.decide().epoch == 1
    assert [one.filename for one in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bandit.decide().epoch == 1
    learner.fails.clear()
    bandit.wait()
    assert bandit.epoch.index == 1  # not before there is another reward
    bandit.reward(ids[2], 1.0)
    bandit.wait()
    assert bandit.epoch.index == 2
    assert [len(log) for log in learner.logs] == [3]


def test_a_row_that_the_learner_fails_on_may_be_withdrawn() -> None:
    learner = Recorder(2, fails=["odd row"])
    bandit = Bandit(["a", "b"], learner=learner, seed=1)
    ids = bandit.decide_many(n=2).event_id
    bandit.reward(ids[0], 1.0)
    with pytest.raises(ArithmeticError, match="odd row"):
        bandit.reward(ids[1], 1.0)
    learner.fails.clear()
    bandit.withdraw(ids[1])
    assert bandit.epoch.index == 2
    assert [log.round.tolist() for log in learner.logs] == [[0]]


class Leaving(Recorder):
    """A learner that wants to end the program."""

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        raise SystemExit(3)


def test_a_learner_that_exits_in_the_background_ends_no_refit_for_good() -> None:
    bandit = refitting(Leaving(2))
    bandit.wait(60.0)
    with pytest.warns(RuntimeWarning, match=r"the learner raised SystemExit\(3\)"):
        assert bandit.decide().epoch == 1


def test_a_wait_ends_with_the_refit_or_when_its_time_is_up() -> None:
    learner = Held()
    bandit = refitting(learner)
    start = time.monotonic()
    bandit.wait(0.05)
    assert bandit.epoch.index == 1
    assert time.monotonic() - start < LIMIT
    learner.let_go.release()
    bandit.wait()
    assert bandit.epoch.index == 2
    bandit.wait()  # nothing is under way


def test_bandits_are_neither_pickled_nor_copied() -> None:
    bandit = Bandit(["a", "b"], seed=1)
    for refused in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=r"can't be copied or pickled; use save\(path\) and Bandit.load"):
            refused(bandit)


def test_an_epoch_does_not_end_before_its_rows_can_be_read() -> None:
    """Outcomes that are final wait for earlier ones; the epoch of the former must wait with them."""
    learner = Recorder(4)
    bandit = Bandit(
        ["a", "b"], learner=learner, seed=1, reward_timeout=60.0, max_overtime=0.0, clock=lambda: 0.0
    )
    bandit.reward_many(dict.fromkeys(bandit.decide_many(n=6).event_id[:4], 1.0), final=True)
    assert bandit.epoch.index == 2  # rounds 4 and 5 are open
    later = bandit.decide_many(n=4).event_id
    bandit.reward_many(dict.fromkeys(later, 1.0), final=True)
    assert bandit.decide().epoch == 2
    assert [log.round.tolist() for log in learner.logs] == [[0, 1, 2, 3]]

"""Ids and draws: the same for the same seed and ids, and never shared by bandits that go on elsewhere."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from gyrfalcon import Bandit
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.learners.baselines.uniform import Uniform
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.protocol import Learner
from tests.bandit.helpers import Recorder, batches, check_books

MANY = 20


def ids_of(bandit: Bandit, n: int = 20) -> list[str]:
    return [bandit.decide().event_id for _ in range(n)] + list(bandit.decide_many(n=n).event_id)


def test_after_a_crash_no_id_is_given_out_again(tmp_path: Path) -> None:
    bandit = Bandit(["a", "b"], learner=batches(), seed=1)
    given = ids_of(bandit)
    bandit.save(tmp_path / "bandit")
    given += ids_of(bandit)  # and then it crashes
    del bandit
    for _ in range(3):
        bandit = Bandit.load(tmp_path / "bandit")
        given += ids_of(bandit)
        bandit.save(tmp_path / "bandit")
    assert len(given) == len(set(given))


def test_two_loads_of_one_file_share_neither_ids_nor_draws(tmp_path: Path) -> None:
    Bandit(list(range(50)), learner=Uniform(), seed=1).save(tmp_path / "bandit")
    one, two = (Bandit.load(tmp_path / "bandit").decide_many(n=MANY) for _ in range(2))
    assert not {*one.event_id} & {*two.event_id}
    assert list(one.action) != list(two.action)


def test_the_same_seed_and_ids_give_the_same_decisions_also_after_loading(tmp_path: Path) -> None:
    bandits = [Bandit(list(range(50)), learner=Uniform(), seed=1) for _ in range(2)]
    bandits[0].decide()
    bandits[0].save(tmp_path / "bandit")
    bandits.append(Bandit.load(tmp_path / "bandit"))
    ids: list[str | int | UUID] = ["visit", 17, UUID(int=5), "zoé"]
    actions = [[bandit.decide(event_id=one).action for one in ids] for bandit in bandits]
    assert actions[0] == actions[1] == actions[2]


def test_numbers_and_uuids_are_known_by_their_text() -> None:
    bandit = Bandit(["a", "b"], learner=batches(), seed=1)
    decision = bandit.decide(event_id=7)
    assert decision.event_id == "7"
    assert bandit.decide(event_id="7")[:6] == decision[:6]
    bandit.reward(7, 1.0)
    bandit.decide_many(n=2, event_ids=[UUID(int=1), 8])
    bandit.reward_many({UUID(int=1): 1.0, "8": 0.0})
    bandit.decide_many(n=1, event_ids=[9])
    with pytest.raises(ValueError, match="event '9' is there twice"):
        bandit.reward_many({9: 1.0, "9": 0.0})
    assert bandit.n_pending == 1


def test_a_repeated_decision_answers_what_was_decided_alone_and_among_others() -> None:
    bandit = Bandit(list(range(50)), learner=batches(2), seed=1, max_pending=3)
    first = bandit.decide(event_id="first")
    bandit.reward_many({"first": 1.0} | dict.fromkeys(bandit.decide_many(n=1).event_id, 0.5))
    assert bandit.epoch.index == 2
    again = bandit.decide_many(n=4, event_ids=["x", "first", "y", "z"])
    assert again[1] == first._replace(distribution=None, model=None)
    assert list(again.action)[1] == first.action
    assert [one.round for one in again] == [2, 0, 3, 4]
    assert [one.epoch for one in again] == [2, 1, 2, 2]
    assert again.distribution is None
    assert bandit.n_pending == 3
    check_books(bandit)


def test_a_repeated_decision_of_a_retired_action_is_refused_and_nothing_is_decided() -> None:
    bandit = Bandit(["a", "b", "c"], learner=batches(), seed=1)
    bandit.retire_actions([bandit.decide(event_id="gone").action])
    for call in (
        lambda: bandit.decide(event_id="gone"),
        lambda: bandit.decide_many(n=2, event_ids=["new", "gone"]),
    ):
        with pytest.raises(ValueError, match="'gone' was decided before its action was retired"):
            call()
    assert bandit.n_pending == 1


def in_child(bandit: Bandit, n: int = MANY) -> tuple[list[str], list[int]]:
    """Ids and actions that a forked process gives out."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover - another process
        code = 1
        try:
            check_books(bandit)
            made = [bandit.decide() for _ in range(n)]
            bandit.reward_many({one.event_id: 0.5 for one in made})
            bandit.wait()
            check_books(bandit)
            os.write(write, "\n".join(f"{one.event_id} {one.action}" for one in made).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read) as pipe:
        lines = [line.split() for line in pipe]
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return [event_id for event_id, _ in lines], [int(action) for _, action in lines]


class Slow(Recorder):
    """A learner whose fits wait until they may go on."""

    may_go_on = threading.Event()
    has_begun = threading.Event()
    parent = os.getpid()

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        return super().start(problem, log)

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        if os.getpid() == self.parent:
            self.has_begun.set()
            assert self.may_go_on.wait(600.0)
        return super().next_epoch(epoch, log)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize("refitting", [False, True])
def test_a_forked_process_shares_neither_ids_nor_draws_also_during_a_refit(refitting: bool) -> None:
    bandit = Bandit(list(range(50)), learner=Slow(MANY), seed=1, refit="background")
    Slow.has_begun.clear()
    Slow.may_go_on.clear()
    if refitting:
        bandit.reward_many(dict.fromkeys(bandit.decide_many(n=MANY).event_id, 0.5))
        assert Slow.has_begun.wait(600.0)
    try:
        children = [in_child(bandit) for _ in range(2)]
        own = bandit.decide_many(n=MANY)
    finally:
        Slow.may_go_on.set()
    bandit.wait()
    assert bandit.epoch.index == 1 + refitting
    own_actions = [int(str(action)) for action in own.action]
    everyone = [*children, (list(own.event_id), own_actions)]
    assert len({one for ids, _ in everyone for one in ids}) == 3 * MANY
    assert len({str(actions) for _, actions in everyone}) == 3
    check_books(bandit)
    assert np.all(bandit._live.engine.ledger.tallies.decided >= 0)


@pytest.mark.parametrize("number", [np.int64(17), np.uint8(17), np.int32(17), np.array(17)], ids=repr)
def test_a_whole_number_of_any_kind_is_the_same_id(number: Any) -> None:
    """Before, ids from a column of a table were refused."""
    bandit = Bandit(["a", "b"], seed=1)
    decision = bandit.decide(event_id=number)
    assert decision.event_id == "17"
    bandit.reward(number, 1.0)
    assert bandit.n_pending == 0


@pytest.mark.parametrize("wrong", [True, np.True_, 1.0, np.float64(1.0), np.array([1, 2]), b"1"], ids=repr)
def test_what_is_no_whole_number_is_no_id(wrong: Any) -> None:
    with pytest.raises(TypeError, match="give text, a number or a UUID"):
        Bandit(["a", "b"], seed=1).decide(event_id=wrong)


@pytest.mark.parametrize("learner", [None, LinUCB(mixing=0.1, schedule=FixedBatch(20))])
def test_a_repeated_decision_answers_with_distribution_and_model(learner: Learner | None) -> None:
    """Before, both were missing from the second answer, though nothing had changed."""
    rng = np.random.default_rng(3)
    bandit = Bandit(["a", "b", "c"], learner=learner, features=2, seed=1)
    for visit in range(120):
        eligible = ["a", "c"] if visit % 7 == 0 else None
        context = rng.normal(size=2)
        decision = bandit.decide(context, eligible=eligible, event_id=visit)
        assert decision.distribution is not None
        assert bandit.decide(context, eligible=eligible, event_id=visit) == decision
        many = bandit.decide_many([context], eligible=[eligible or list("abc")], event_ids=[visit])
        assert many[0] == decision
        if visit % 3:
            bandit.reward(decision.event_id, float(rng.random()))
    first = bandit.decide(rng.normal(size=2), event_id=0)
    assert (first.epoch, first.distribution, first.model) == (1, None, None)  # its policy is gone

"""Epochs turn over exactly when their rounds are settled, or after overtime; failures lose nothing."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from gyrfalcon import Bandit
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from tests.bandit.helpers import Clock, Recorder, batches, refused


def bandit_of(size: int = 4, **settings: object) -> Bandit:
    return Bandit(learner=Recorder(size), actions=["a", "b"], seed=1, **settings)  # type: ignore[arg-type]


def recorded(bandit: Bandit) -> list[list[int]]:
    learner = bandit._live.engine.learner
    assert isinstance(learner, Recorder)
    return [log.round.tolist() for log in learner.logs]


def log_of(problem: Problem, n: int, reward: float = 0.5) -> Log:
    contexts = problem.contexts(np.ones((n, 1)) if problem.features.width else None, n=n)
    return problem.log(contexts, ["a", "b"] * (n // 2), rewards=[reward] * n, propensities="uniform")


def test_an_epoch_turns_over_with_the_last_reward_of_its_rounds() -> None:
    bandit = bandit_of(4)
    ids = [bandit.decide().event_id for _ in range(4)]
    for event_id in ids[1:]:
        bandit.reward(event_id, 1.0)
    assert bandit.epoch.index == 1
    bandit.reward(ids[0], 1.0)
    assert (bandit.epoch.index, bandit.epoch.start, bandit.epoch.stop) == (2, 4, 8)


def test_settled_rewards_alone_do_not_turn_an_epoch_over() -> None:
    bandit = bandit_of(4)
    for _ in range(3):
        bandit.reward(bandit.decide().event_id, 1.0)
    assert bandit.epoch.index == 1


def test_rounds_beyond_the_plan_do_not_hold_an_epoch_up() -> None:
    bandit = bandit_of(4, max_overtime=10.0)
    batch = bandit.decide_many(n=6)
    bandit.reward_many(dict.fromkeys(batch.event_id[:4], 1.0))
    assert (bandit.epoch.index, bandit.epoch.start, bandit.epoch.stop) == (2, 6, 10)
    assert recorded(bandit) == [[0, 1, 2, 3]]
    bandit.reward_many(dict.fromkeys(batch.event_id[4:], 1.0))
    assert bandit.epoch.index == 2


@pytest.mark.parametrize(("overtime", "turns_at"), [(0.0, 4), (0.5, 6), (0.6, 7), (1.0, 8)])
def test_after_overtime_an_epoch_turns_over_with_what_has_come_in(overtime: float, turns_at: int) -> None:
    bandit = bandit_of(4, max_overtime=overtime)
    for _ in range(2):
        bandit.reward(bandit.decide().event_id, 1.0)
    for _ in range(turns_at - 2):
        assert bandit.decide().epoch == 1
    assert bandit.decide().epoch == 2
    assert (bandit.epoch.index, bandit.epoch.start, bandit.epoch.stop) == (2, turns_at, turns_at + 4)
    assert recorded(bandit) == [[0, 1]]


def test_no_overtime_still_counts_a_reward_that_comes_before_the_next_decision() -> None:
    bandit = bandit_of(1, max_overtime=0.0)
    for _ in range(3):
        bandit.reward(bandit.decide().event_id, 1.0)
    assert recorded(bandit) == [[0], [1], [2]]


def test_overtime_goes_on_until_half_as_many_rewards_as_planned_rounds_are_in() -> None:
    bandit = bandit_of(4, max_overtime=0.5)
    batch = bandit.decide_many(n=50)
    bandit.reward(batch.event_id[7], 1.0)
    assert bandit.epoch.index == 1
    bandit.reward(batch.event_id[40], 1.0)
    assert (bandit.epoch.index, bandit.epoch.start) == (2, 50)


def test_unlimited_overtime_waits_for_every_planned_round() -> None:
    bandit = bandit_of(4, max_overtime=math.inf)
    batch = bandit.decide_many(n=100)
    bandit.reward_many(dict.fromkeys(batch.event_id[1:], 1.0))
    assert bandit.epoch.index == 1
    bandit.reward(batch.event_id[0], 1.0)
    assert bandit.epoch.index == 2


def test_when_all_rounds_expired_without_default_the_policy_stays() -> None:
    clock = Clock()
    bandit = bandit_of(4, reward_timeout=1.0, clock=clock)
    bandit.decide_many(n=4)
    clock.now += 1.0
    assert bandit.decide().epoch == 2
    assert bandit.epoch.report is not None
    assert "no rewards came in" in bandit.epoch.report.notes[0]


def test_a_learner_that_fails_in_reward_loses_no_reward_and_is_asked_again_with_the_next() -> None:
    learner = Recorder(2, fails=["matrix is singular"])
    bandit = Bandit(learner=learner, actions=["a", "b"], seed=1)
    ids = bandit.decide_many(n=3).event_id
    bandit.reward(ids[0], 0.25)
    with pytest.raises(ArithmeticError, match="matrix is singular") as caught:
        bandit.reward(ids[1], 0.75)
    assert "The rewards are credited" in caught.value.__notes__[1]
    assert (bandit.epoch.index, bandit.n_pending) == (1, 1)
    assert bandit.decide().epoch == 1
    learner.fails.clear()
    bandit.reward(ids[2], 1.0)
    assert bandit.epoch.index == 2
    assert learner.logs[0].reward.tolist() == [0.25, 0.75, 1.0]


def test_a_learner_that_fails_in_decide_only_warns_because_decisions_must_go_on() -> None:
    clock, learner = Clock(), Recorder(2, fails=["matrix is singular"])
    bandit = Bandit(
        learner=learner, actions=["a", "b"], seed=1, reward_timeout=1, default_reward=0, clock=clock
    )
    bandit.decide_many(n=2)
    clock.now += 1.0
    with pytest.warns(RuntimeWarning, match=r"matrix is singular.*decisions go on") as caught:
        assert bandit.decide().epoch == 1
    assert caught[0].filename == __file__
    assert bandit.decide().epoch == 1  # the same rows are not tried again
    learner.fails.clear()
    clock.now += 1.0
    assert bandit.decide().epoch == 2


def test_a_failing_start_leaves_the_features_open() -> None:
    bandit = Bandit(learner=EpsilonFalcon(), actions=["a", "b"], seed=1)
    bandit._live.engine.learner = object()  # type: ignore[assignment]
    with pytest.raises(AttributeError):
        bandit.decide([1.0])
    bandit._live.engine.learner = EpsilonFalcon()
    assert bandit.decide([1.0, 2.0]).round == 0


def test_a_log_of_decisions_made_elsewhere_is_learned_from_and_counts_as_rounds() -> None:
    bandit = bandit_of(4, features=1)
    bandit.update(log_of(bandit.problem, 2))
    assert (bandit.epoch.index, bandit.decide([1.0]).round) == (1, 2)
    bandit.update(log_of(bandit.problem, 10))
    assert bandit.epoch.index == 2
    assert bandit.epoch.start == 13
    learner = bandit._live.engine.learner
    assert isinstance(learner, Recorder)
    assert len(learner.logs[0]) == 12


def test_an_empty_log_changes_nothing() -> None:
    bandit = Bandit(learner=batches(), actions=["a", "b"], seed=1)
    bandit.update(log_of(bandit.problem, 0))
    assert bandit.decide([1.0]).round == 0


def test_a_log_that_the_learner_fails_on_is_kept() -> None:
    learner = Recorder(4, fails=["no"])
    bandit = Bandit(learner=learner, actions=["a", "b"], features=1, seed=1)
    with pytest.raises(ArithmeticError):
        bandit.update(log_of(bandit.problem, 4))
    learner.fails.clear()
    bandit.update(log_of(bandit.problem, 2))
    assert [len(log) for log in learner.logs] == [6]


def test_a_warm_start_plays_what_the_log_says_from_the_first_round() -> None:
    problem = Problem(["a", "b"], features=1)
    contexts = problem.contexts(np.ones((40, 1)))
    actions = ["a", "b"] * 20
    log = problem.log(
        contexts, actions, rewards=[float(action == "b") for action in actions], propensities="uniform"
    )
    warm = Bandit(learner=batches(), problem=problem, initial_log=log, seed=1)
    assert (warm.epoch.index, warm.epoch.start) == (1, 0)
    assert sum(warm.decide([1.0]).action == "b" for _ in range(100)) > 80


def test_a_log_of_another_problem_is_refused() -> None:
    bandit = bandit_of(4, features=1)
    other = Problem(["a", "b"], features=2)
    log = other.log(other.contexts(np.ones((2, 2))), ["a", "b"], [0, 1], propensities="uniform")
    with refused(
        bandit, "has the features 'x0', 'x1' and this problem 'x0'; make the log with this problem's"
    ):
        bandit.update(log)
    with pytest.raises(ValueError, match=r"declare the features"):
        Bandit(actions=["a", "b"], initial_log=log)
    with refused(bandit, "the log is a list", TypeError):
        bandit.update([1, 2])  # type: ignore[arg-type]


WRONG = {
    "action 2": {"action": np.array([0, 2])},
    "action -1": {"action": np.array([0, -1])},
    "reward nan": {"reward": np.array([0.5, math.nan])},
    "reward 1.5": {"reward": np.array([1.5, 0.0])},
    "propensity 0.0": {"propensity": np.array([0.0, 0.5])},
    "reward is float64 of shape": {"reward": np.zeros(3)},
    "round is float64": {"round": np.zeros(2)},
}


@pytest.mark.parametrize("told", WRONG)
def test_a_log_put_together_wrongly_is_refused(told: str) -> None:
    bandit = bandit_of(4, features=1)
    with refused(bandit, told):
        bandit.update(replace(log_of(bandit.problem, 2), **WRONG[told]))  # type: ignore[arg-type]


def test_a_log_with_contexts_put_together_wrongly_is_refused() -> None:
    bandit = bandit_of(4, features=1)
    log = log_of(bandit.problem, 2)
    for contexts, told in (
        (replace(log.contexts, shared=np.array([[1.0], [np.inf]])), "row 1 of the log has the feature inf"),
        (replace(log.contexts, shared=np.ones((3, 1))), "shared is float64 of shape"),
        (replace(log.contexts, eligible=np.zeros((2, 2), dtype=np.bool_)), "ineligible action 0"),
        (replace(log.contexts, actions=np.zeros((2, 2, 1))), "1 action features"),
    ):
        with refused(bandit, told):
            bandit.update(replace(log, contexts=contexts))

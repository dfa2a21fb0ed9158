"""Epochs turn over by one rule: when, on which rows, and in which round."""

from __future__ import annotations

import numpy as np
import pytest

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import UniformPolicy
from gyrfalcon.core.records import Log
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.engine.turnover import Patience, played_epochs, turn_over
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.learners.baselines.greedy import Greedy
from gyrfalcon.simulation.replications import simulate
from tests.bandit.helpers import Recorder

PROBLEM = Problem(["a", "b"], features=1)
LEARNER = Greedy(schedule=FixedBatch(10))


def epoch_of(start: int, stop: int) -> Epoch:
    everyone = UniformPolicy(2)
    return Epoch(index=1, start=start, stop=stop, policy=everyone, passive_policy=everyone)


def log_of(n: int) -> Log:
    contexts = PROBLEM.contexts(np.linspace(0.0, 1.0, n)[:, None])
    return PROBLEM.log(contexts, ["a", "b"] * (n // 2), [0.0, 1.0] * (n // 2), propensities="uniform")


@pytest.mark.parametrize("patience", [Patience(), Patience(1.0, 0.5), Patience(np.inf, 1.0)])
def test_no_epoch_is_over_before_its_planned_rounds_and_each_is_once_all_of_them_are_settled(
    patience: Patience,
) -> None:
    assert not patience.is_over(epoch_of(20, 30), 29, n_pending=0, n_settled=9)
    assert patience.is_over(epoch_of(20, 30), 30, n_pending=0, n_settled=0)


def test_pending_rewards_are_waited_for_until_overtime_is_up_and_enough_rows_are_settled() -> None:
    epoch, patience = epoch_of(20, 30), Patience(max_overtime=2.0, min_settled=0.5)
    assert not patience.is_over(epoch, 49, n_pending=1, n_settled=100)
    assert not patience.is_over(epoch, 50, n_pending=1, n_settled=4)
    assert patience.is_over(epoch, 50, n_pending=1, n_settled=5)
    assert Patience().is_over(epoch, 30, n_pending=10, n_settled=0)


@pytest.mark.parametrize(("round_", "start"), [(5, 10), (10, 10), (17, 17)])
def test_a_successor_starts_where_it_was_planned_or_later_with_as_many_rounds(
    round_: int, start: int
) -> None:
    following = turn_over(LEARNER, LEARNER.start(PROBLEM), log_of(10), round_)
    assert (following.index, following.start, following.stop) == (2, start, start + 10)


def test_a_learner_that_fails_raises_its_own_error_with_the_epoch_and_the_round() -> None:
    learner = Recorder(10, fails=["singular"])
    with pytest.raises(ArithmeticError, match="singular") as caught:
        turn_over(learner, learner.start(PROBLEM), log_of(10), 12)
    assert caught.value.__notes__ == ["The learner could not refit after epoch 1, before round 12."]


def test_a_simulation_names_the_epoch_after_which_its_learner_failed() -> None:
    learner = Recorder(50, fails=["singular"])
    with pytest.raises(ArithmeticError) as caught:
        simulate(learner, StepExample(), 200)
    assert caught.value.__notes__ == ["The learner could not refit after epoch 1, before round 50."]


@pytest.mark.parametrize(("n_rounds", "n_epochs"), [(1, 1), (10, 1), (11, 2), (35, 4)])
def test_epochs_are_played_until_all_rounds_are(n_rounds: int, n_epochs: int) -> None:
    made: list[int] = []

    def following(epoch: Epoch) -> Epoch:
        made.append(epoch.index)
        return turn_over(LEARNER, epoch, log_of(10), epoch.stop)

    epochs = list(played_epochs(LEARNER.start(PROBLEM), n_rounds, following))
    assert [epoch.start for epoch in epochs] == list(range(0, n_rounds, 10))
    assert len(epochs) == n_epochs == len(made) + 1


def test_an_epoch_without_rows_still_has_a_successor() -> None:
    none = Log(
        Contexts(np.empty((0, 1))), *[np.empty(0, dtype=kind) for kind in (int, float, float, int, int, int)]
    )
    assert turn_over(LEARNER, LEARNER.start(PROBLEM), none, 30).start == 30

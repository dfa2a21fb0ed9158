"""How often experiments call a policy better that is not, and how long they take to find one that is."""

from __future__ import annotations

import numpy as np
import pytest

from gyrfalcon import AdaptiveFalcon
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.simulation.experiments import simulate_experiment
from tests.experiment.environments import Effects

NULLS = {
    "all equal": Effects((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    "rare rewards": Effects((0.0, 0.0), (0.0, 0.0), base=0.03),
    "six actions": Effects((0.0,) * 6, (0.0,) * 6),
    "contexts matter, and the control is as good as the best": Effects((0.0, -0.1, -0.1), (0.0, 0.1, -0.1)),
    "contexts matter alike for all": Effects((0.0, 0.0, 0.0), (0.4, 0.4, 0.4)),
}
FIND = {
    "an action by a tenth": Effects((0.0, 0.1, 0.0), (0.0, 0.0, 0.0)),
    "a policy by a tenth": Effects((0.0, 0.0, 0.0), (0.0, 0.4, 0.0)),
}


@pytest.mark.parametrize("name", NULLS)
def test_false_alarms_are_few(name: str) -> None:
    """In 40 runs; at 5% seven or more would have a chance of 0.3%."""
    found = simulate_experiment(NULLS[name], 0, max_rounds=600, n_replications=40, seed=3)
    assert found.is_better.sum() < 7
    assert (found.stopped_at[~found.is_better] == 600).all()


@pytest.mark.long
@pytest.mark.parametrize(("max_rounds", "n_replications"), [(1000, 1000), (2000, 1000), (5000, 300)])
@pytest.mark.parametrize("name", NULLS)
def test_false_alarms_are_at_most_one_in_twenty(name: str, max_rounds: int, n_replications: int) -> None:
    found = simulate_experiment(NULLS[name], 0, max_rounds=max_rounds, n_replications=n_replications, seed=5)
    assert found.is_better.mean() <= 0.05


@pytest.mark.long
def test_nor_with_a_learner_that_hardly_explores() -> None:
    learner: Learner = AdaptiveFalcon(classes=("linear",))
    found = simulate_experiment(
        NULLS["all equal"], 0, max_rounds=1500, n_replications=200, seed=5, learner=learner
    )
    assert found.is_better.mean() <= 0.05


@pytest.mark.parametrize("name", FIND)
def test_large_effects_are_found(name: str) -> None:
    found = simulate_experiment(FIND[name], 0, max_rounds=4000, n_replications=10, seed=6)
    assert found.is_better.mean() >= 0.9
    assert (found.gain[found.is_better] > 0.0).all()
    assert found.gain.mean() > 0.08
    assert found.stopped_at.mean() < 2500


@pytest.mark.long
@pytest.mark.parametrize(
    ("effects", "most"),
    [
        (Effects((0.0, 0.05, 0.0), (0.0, 0.0, 0.0)), 6500),
        (Effects((0.0, 0.0, 0.0), (0.0, 0.2, 0.0)), 6500),
        (FIND["an action by a tenth"], 2000),
        (FIND["a policy by a tenth"], 2000),
    ],
)
def test_expected_stopping_times(effects: Effects, most: int) -> None:
    found = simulate_experiment(effects, 0, max_rounds=10_000, n_replications=100, seed=6)
    assert found.is_better.mean() >= 0.8
    assert found.stopped_at.mean() < most
    assert (found.gain[found.is_better] <= 0.0).mean() <= 0.05


def test_a_minimum_effect_is_to_be_exceeded() -> None:
    """No gain is above a tenth; in 20 runs four alarms at 5% would have a chance of 2%."""
    found = simulate_experiment(
        FIND["an action by a tenth"], 0, max_rounds=1500, n_replications=20, seed=7, minimum_effect=0.1
    )
    assert found.is_better.sum() < 4


def test_simulated_experiments_can_be_repeated_and_cut() -> None:
    environment = FIND["an action by a tenth"]
    one, two = (
        simulate_experiment(environment, 0, max_rounds=1200, n_replications=3, seed=8) for _ in range(2)
    )
    assert one.decision == two.decision
    assert np.array_equal(one.stopped_at, two.stopped_at)
    assert np.array_equal(one.regret, two.regret)
    first = simulate_experiment(environment, 0, max_rounds=1200, n_replications=1, seed=8)
    assert first.stopped_at[0] == one.stopped_at[0]

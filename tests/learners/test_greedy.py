"""Greedy play: the best estimate by all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.policies.kernel_policy import KernelPolicy
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.learners.baselines.epsilon_greedy import EpsilonGreedy
from gyrfalcon.learners.baselines.greedy import Greedy
from gyrfalcon.simulation.replications import simulate
from tests.contracts.environments import Lines, started, uniform_log


@pytest.mark.parametrize(("mixing", "least"), [(0.0, 0.0), (0.3, 0.1)])
def test_it_plays_the_best_estimate_after_a_uniform_epoch(mixing: float, least: float) -> None:
    environment = Lines()
    play = started(Greedy(mixing=mixing), environment)
    assert (play.decide().propensity == 1 / 3).all()
    play.until(300)
    contexts = environment.draw(0, 100, seed=1).contexts
    probabilities = play.epoch.policy.probabilities(contexts)
    assert isinstance(play.epoch.policy, KernelPolicy)
    best = play.epoch.policy.scorer.scores(contexts).argmax(axis=1)
    assert np.array_equal(probabilities.argmax(axis=1), best)
    np.testing.assert_allclose(probabilities.min(axis=1), least, atol=1e-15)


def test_it_is_epsilon_greedy_without_exploration() -> None:
    ours, theirs = (
        simulate(learner, StepExample(), 2000, seed=1) for learner in (Greedy(), EpsilonGreedy(epsilon=0.0))
    )
    assert np.array_equal(ours.regret, theirs.regret)


def test_it_tries_an_action_without_rows_and_fits_all_rows() -> None:
    environment = Lines()
    play = started(Greedy(), environment)
    log = uniform_log(environment, 200)
    play.learn(log.where(log.action != 0))
    contexts = environment.draw(0, 50, seed=1).contexts
    np.testing.assert_allclose(play.epoch.policy.probabilities(contexts)[:, 0], 1 / 3)
    play.learn(log.where(log.action == 0))
    assert play.epoch.report is not None
    assert play.epoch.report.n_active == 200


@pytest.mark.parametrize(
    ("settings", "value"), [({"mixing": -0.1}, "mixing is -0.1"), ({"schedule": 5}, "schedule is 5")]
)
def test_bad_settings_are_refused_with_their_value(settings: dict[str, Any], value: str) -> None:
    with pytest.raises(ValueError, match=value):
        Greedy(**settings)

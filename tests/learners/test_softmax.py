"""Boltzmann exploration."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import KernelPolicy
from gyrfalcon.core.policies.kernels import SoftmaxKernel
from gyrfalcon.learners.baselines.softmax import Softmax
from tests.contracts.environments import Lines, started, uniform_log
from tests.learners.spreads import spread_of


def test_odds_are_exponential_in_the_gap() -> None:
    learner = Softmax(temperature=0.2, decay=0.0)
    problem = Problem(["a", "b"], 0)
    log = problem.log(problem.contexts(n=4), list("abab"), [0.7, 0.2, 0.5, 0.2], propensities="uniform")
    epoch = learner.next_epoch(learner.start(problem), log)
    a, b = epoch.policy.probabilities(problem.contexts(n=1))[0]
    assert a / b == pytest.approx(math.exp((0.6 - 0.2) / spread_of(log.reward) / 0.2))


@pytest.mark.parametrize(("decay", "expected"), [(0.0, 2.0), (0.5, 0.1), (1.0, 0.005)])
def test_the_temperature_falls_with_all_rows_so_far(decay: float, expected: float) -> None:
    play = started(Softmax(temperature=2.0, decay=decay), Lines())
    play.learn(uniform_log(play.environment, 100))
    play.learn(uniform_log(play.environment, 300, seed=1))
    assert isinstance(play.epoch.policy, KernelPolicy)
    assert isinstance(play.epoch.policy.kernel, SoftmaxKernel)
    assert play.epoch.policy.kernel.temperature == pytest.approx(expected)


def test_an_action_without_rows_is_as_likely_as_the_best() -> None:
    environment = Lines()
    play = started(Softmax(), environment)
    log = uniform_log(environment, 200)
    play.learn(log.where(log.action != 0))
    probabilities = play.epoch.policy.probabilities(environment.draw(0, 50, seed=1).contexts)
    np.testing.assert_allclose(probabilities[:, 0], probabilities.max(axis=1), rtol=1e-12)


@pytest.mark.parametrize(
    ("settings", "value"),
    [({"temperature": 0.0}, "temperature is 0.0"), ({"decay": -1.0}, "decay is -1.0")],
)
def test_bad_settings_are_refused_with_their_value(settings: dict[str, Any], value: str) -> None:
    with pytest.raises(ValueError, match=value):
        Softmax(**settings)

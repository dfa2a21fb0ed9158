"""FALCON+: trust in each epoch's regression by its error bound."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.policies.kernel_policy import KernelPolicy
from gyrfalcon.core.policies.kernels import InverseGapWeighting
from gyrfalcon.core.schedules import KnownHorizon
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.falcon_plus import FalconPlus
from tests.contracts.environments import Lines, epochs_of, started, uniform_log


def test_gamma_by_hand() -> None:
    # K = 3, d = 9, n = 400, m = 2: E = .01 9 ln(2 4 / .05) / 400 = .0011419 and sqrt(3 / E) / 2 = 25.628.
    play = started(FalconPlus(c_error=0.01), Lines())
    play.learn(uniform_log(play.environment, 400))
    assert isinstance(play.epoch.policy, KernelPolicy)
    assert isinstance(play.epoch.policy.kernel, InverseGapWeighting)
    assert play.epoch.policy.kernel.gamma == pytest.approx(25.628, abs=1e-3)
    assert play.epoch.report is not None
    assert play.epoch.report.gamma == play.epoch.policy.kernel.gamma


def test_the_error_bound_has_the_rates_that_are_given() -> None:
    learner = FalconPlus(c_error=2.0, rho=0.5, rho_prime=1.0, comp=3.0)
    assert learner.error(100, 7, 0.1) == pytest.approx(2 * 3 * math.log(100) * math.log(10) / 10)


def test_gamma_grows_by_the_root_of_two_up_to_its_logarithm() -> None:
    epochs = epochs_of(FalconPlus(), StepExample(), 6400)
    gammas = {epoch.index: epoch.report.gamma for epoch in epochs if epoch.report is not None}
    for m in range(3, 7):
        ratio = math.sqrt(2 * math.log(2 * m**2 / 0.05) / math.log(2 * (m + 1) ** 2 / 0.05))
        assert gammas[m + 1] / gammas[m] == pytest.approx(ratio, rel=1e-12)


def test_it_is_epsilon_falcon_without_passive_rows_at_the_same_gamma() -> None:
    environment, delta, c_error = Lines(), 0.05, 0.02
    c_gamma = 0.5 * math.sqrt(math.log(1 / delta) / (c_error * math.log(8 / delta)))
    plays = [
        started(learner, environment)
        for learner in (
            FalconPlus(c_error=c_error, delta=delta),
            EpsilonFalcon(epsilon=0.0, c_gamma=c_gamma, delta=delta),
        )
    ]
    log = uniform_log(environment, 300)
    for play in plays:
        play.learn(replace(log, component=np.zeros(300, dtype=np.int64)))
    contexts = environment.draw(0, 50, seed=2).contexts
    ours, theirs = (play.epoch.policy.probabilities(contexts) for play in plays)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_it_forgets_earlier_epochs() -> None:
    environment = Lines()
    play, fresh = started(FalconPlus(), environment), started(FalconPlus(), environment)
    play.learn(uniform_log(environment, 300))
    last = uniform_log(environment, 200, seed=1)
    for one in (play, fresh):
        one.learn(last)
    contexts = environment.draw(0, 50, seed=2).contexts
    gaps = []
    for one in (play, fresh):
        assert isinstance(one.epoch.policy, KernelPolicy)
        scores = one.epoch.policy.scorer.scores(contexts)
        assert one.epoch.report is not None
        gaps.append((scores.max(axis=1, keepdims=True) - scores) * one.epoch.report.reward_unit)
    np.testing.assert_allclose(gaps[0], gaps[1], rtol=1e-8)


def test_a_known_horizon_needs_few_fits() -> None:
    epochs = epochs_of(FalconPlus(schedule=KnownHorizon(10_000)), Lines(), 10_000)
    assert [epoch.stop for epoch in epochs] == [200, 2000, 6325, 10_000]


@pytest.mark.parametrize(
    ("settings", "value"),
    [
        ({"c_error": 0.0}, "c_error is 0.0"),
        ({"delta": 0.5}, "delta is 0.5"),
        ({"rho": 1.5}, "rho is 1.5"),
        ({"rho_prime": -1.0}, "rho_prime -1.0"),
        ({"comp": math.inf}, "comp is inf"),
    ],
)
def test_bad_settings_are_refused_with_their_value(settings: dict[str, Any], value: str) -> None:
    with pytest.raises(ValueError, match=value):
        FalconPlus(**settings)

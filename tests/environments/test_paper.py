"""The paper's examples as environments to draw from."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.policies.kernel_policy import UniformPolicy
from gyrfalcon.environments.paper import SensitivityExample, StepExample
from gyrfalcon.environments.population.best_in_class import best_in_class, misspecification
from gyrfalcon.environments.population.population import greedy_policy
from gyrfalcon.environments.protocol import Environment
from gyrfalcon.oracles.linear.linear import Linear

both_environments = pytest.mark.parametrize("environment", [StepExample(), SensitivityExample()])


@both_environments
@given(st.integers(0, 9000), st.integers(1, 5000), st.integers(0, 5000), st.integers(0, 2**32))
def test_rows_are_the_same_however_rounds_are_cut(
    environment: Environment, start: int, first: int, second: int, seed: int
) -> None:
    whole = environment.draw(start, start + first + second + 1, seed)
    left = environment.draw(start, start + first, seed)
    right = environment.draw(start + first, start + first + second + 1, seed)
    assert np.array_equal(whole.rewards, np.concatenate([left.rewards, right.rewards]))
    assert np.array_equal(
        whole.contexts.shared, np.concatenate([left.contexts.shared, right.contexts.shared])
    )


def test_the_environment_has_the_papers_means_and_noise() -> None:
    outcomes = StepExample().draw(0, 200_000, seed=1)
    x = outcomes.contexts.shared[:, 0]
    assert np.array_equal(outcomes.means[:, 0], x > 0.5)
    assert np.all(outcomes.means[:, 1] == 0.5)
    # 400,000 normal draws: their mean and variance stray by five standard errors once in 1.7 million seeds.
    noise = outcomes.rewards - outcomes.means
    assert abs(noise.mean()) < 5 * 0.1 / np.sqrt(noise.size)
    assert abs(noise.var() - 0.01) < 5 * 0.01 * np.sqrt(2 / noise.size)


def test_appendix_e_has_the_papers_means_and_noise() -> None:
    example = SensitivityExample(theta=0.04, noise=0.2)
    outcomes = example.draw(0, 200_000, seed=1)
    x = outcomes.contexts.shared[:, 0]
    assert np.array_equal(outcomes.means[:, 0], np.where(x <= 0.96, 0.1, 1.0))
    assert np.array_equal(outcomes.means[:, 1], 1.0 + example.slope * x)
    # The lines of the best linear model meet at 1 - theta, and action 2 falls.
    assert example.best_coefficients[0] + example.best_coefficients[1] * 0.96 == pytest.approx(
        1.0 + example.slope * 0.96
    )
    assert example.slope < 0.0
    noise = outcomes.rewards - outcomes.means
    assert abs(noise.mean()) < 5 * 0.2 / np.sqrt(noise.size)
    assert abs(noise.var() - 0.04) < 5 * 0.04 * np.sqrt(2 / noise.size)


def test_the_constants_of_section_1_1_are_those_of_its_population() -> None:
    environment = StepExample()
    found = misspecification(environment.population, Linear())
    x = np.array([0.0, 1.0])
    heights = found.model.scores(Contexts(x[:, np.newaxis])).T
    for (intercept, slope), line in zip(environment.best_coefficients, heights, strict=True):
        assert line == pytest.approx(intercept + slope * x, abs=1e-9)
    assert (found.b, found.B) == pytest.approx((environment.b, 2 * environment.b), abs=1e-9)
    assert environment.population.regret(UniformPolicy(2)) == pytest.approx(
        environment.uniform_regret, abs=1e-12
    )


def test_what_optimal_data_teach_costs_more_than_appendix_e_claims() -> None:
    environment = SensitivityExample()
    play = greedy_policy(best_in_class(environment.population, Linear()))
    learnt = best_in_class(environment.population, Linear(), play=play)
    assert environment.population.regret(greedy_policy(learnt)) > SensitivityExample.claimed_regret


def test_both_examples_meet_the_same_luck() -> None:
    step, sensitivity = StepExample().draw(5, 50, 3), SensitivityExample().draw(5, 50, 3)
    assert np.array_equal(step.contexts.shared, sensitivity.contexts.shared)
    assert np.allclose(step.rewards - step.means, sensitivity.rewards - sensitivity.means, atol=1e-15)


@both_environments
def test_environments_of_two_seeds_differ(environment: Environment) -> None:
    assert not np.array_equal(environment.draw(0, 10, 1).rewards, environment.draw(0, 10, 2).rewards)


@pytest.mark.parametrize("theta", [0.0, -0.01, 0.0501, 1.0, math.nan])
def test_a_theta_outside_the_papers_range_is_refused(theta: float) -> None:
    with pytest.raises(ValueError, match=f"theta is {theta}; give a number above 0 and up to 0.05"):
        SensitivityExample(theta)


@pytest.mark.parametrize("noise", [-0.1, math.inf, math.nan])
def test_a_noise_that_is_no_standard_deviation_is_refused(noise: float) -> None:
    for example in (StepExample, SensitivityExample):
        with pytest.raises(ValueError, match=f"noise is {noise}"):
            example(noise=noise)

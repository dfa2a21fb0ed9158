"""Rare rewards and uneven noise against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.environments.population.best_in_class import misspecification
from gyrfalcon.environments.synthetic.outcomes import HeteroscedasticEnvironment, RareRewardEnvironment
from gyrfalcon.oracles.linear.linear import Linear
from tests.environments.sinusoids import wave_error

seeds = st.integers(0, 2**32)
dials = st.floats(0.0, 1.0)


@given(seeds, dials, st.integers(1, 3), st.integers(2, 6), st.floats(0.001, 0.5))
def test_uniform_play_earns_the_rate_exactly(
    environment_seed: int, dial: float, n_features: int, n_actions: int, rate: float
) -> None:
    environment = RareRewardEnvironment(
        n_actions=n_actions,
        n_features=n_features,
        rate=rate,
        misspecification=dial,
        environment_seed=environment_seed,
    )
    population = environment.population
    assert population.mean(population.means.mean(axis=1)) == pytest.approx(rate, rel=1e-12)
    assert 0.0 <= population.means.min() <= population.means.max() <= 2 * rate


def test_rewards_are_0_or_1_and_rare() -> None:
    rewards = RareRewardEnvironment(misspecification=0.5).draw(0, 100_000, seed=2).rewards
    assert np.array_equal(np.unique(rewards), [0.0, 1.0])
    # The mean of a row strays less than one coin does: five standard errors, one in 1.7 million seeds.
    assert abs(rewards.mean() - 0.05) < 5 * np.sqrt(0.05 * 0.95 / 100_000)


@given(seeds, dials, st.integers(1, 3))
def test_rare_rewards_have_the_b_of_their_waves(environment_seed: int, dial: float, n_features: int) -> None:
    environment = RareRewardEnvironment(
        n_features=n_features, misspecification=dial, environment_seed=environment_seed
    )
    errors = [wave_error(w, 0.0) for w in environment.parts[1].frequencies]
    found = misspecification(environment.population, Linear())
    assert found.b == pytest.approx((dial * 0.05) ** 2 * np.mean(errors), abs=1e-12)


def test_dial_0_is_linear() -> None:
    for environment in (RareRewardEnvironment(n_features=3), HeteroscedasticEnvironment(n_features=3)):
        assert misspecification(environment.population, Linear()).b < 1e-12


@given(seeds, dials, st.integers(1, 3))
def test_uneven_noise_leaves_b_alone(environment_seed: int, dial: float, n_features: int) -> None:
    environment = HeteroscedasticEnvironment(
        n_features=n_features, misspecification=dial, environment_seed=environment_seed
    )
    errors = [wave_error(w, 0.0) for w in environment.parts[1].frequencies]
    found = misspecification(environment.population, Linear())
    assert found.b == pytest.approx(dial**2 / 4 * np.mean(errors), abs=1e-10)


def test_noise_grows_along_the_first_feature() -> None:
    environment = HeteroscedasticEnvironment(noise=0.1, most_noise=0.7)
    drawn = environment.draw(0, 100_000, seed=3)
    x, noise = drawn.contexts.shared, drawn.rewards - drawn.means
    standardised = noise / environment.deviations(x)[:, np.newaxis]
    # 300,000 standard normals, in all and in four parts of the range: five standard errors, one in 350,000.
    for part in (x[:, 0] < -0.5, np.abs(x[:, 0]) <= 0.5, x[:, 0] > 0.5, x[:, 1] > 0.0, x[:, 0] > -1.0):
        n = standardised[part].size
        assert abs(standardised[part].var() - 1.0) < 5 * np.sqrt(2 / n)
    # Over all contexts, E sd^2 = (s^2 + s S + S^2) / 3; a squared error has a variance below 3 E sd^4.
    expected = (0.1**2 + 0.1 * 0.7 + 0.7**2) / 3
    fourth = (0.7**5 - 0.1**5) / (5 * 0.6)
    assert abs(np.square(noise).mean() - expected) < 5 * np.sqrt(3 * fourth / 100_000)


@pytest.mark.parametrize("rate", [0.0, 0.6, float("nan")])
def test_a_rate_that_means_cannot_keep_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match=f"rate is {rate}; "):
        RareRewardEnvironment(rate=rate)


def test_noise_that_shrinks_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"most_noise is 0\.1, below the noise, 0\.2; give no less than that"
    ):
        HeteroscedasticEnvironment(noise=0.2, most_noise=0.1)
    with pytest.raises(ValueError, match="most_noise is inf; it is a standard deviation"):
        HeteroscedasticEnvironment(most_noise=float("inf"))

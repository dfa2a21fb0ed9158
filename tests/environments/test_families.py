"""Environments with a misspecification dial against closed forms and definitions, row by row."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.arrays import Floats
from gyrfalcon.environments.population.best_in_class import misspecification
from gyrfalcon.environments.population.population import Population
from gyrfalcon.environments.synthetic.families import (
    BumpEnvironment,
    LinearEnvironment,
    MisspecifiedEnvironment,
    SinusoidEnvironment,
    XorEnvironment,
)
from gyrfalcon.environments.synthetic.shapes import BumpMeans, SinusoidMeans, XorMeans
from gyrfalcon.oracles.linear.linear import Linear
from tests.environments.sinusoids import wave_error

seeds = st.integers(0, 2**32)
dials = st.floats(0.0, 1.0)
BENT: list[MisspecifiedEnvironment] = [
    *(SinusoidEnvironment(n_features=p, environment_seed=p) for p in (1, 2, 3)),
    *(XorEnvironment(n_features=p, environment_seed=p) for p in (2, 3)),
    *(BumpEnvironment(n_features=p, n_actions=2, environment_seed=p) for p in (1, 2, 3)),
]
bent_environments = pytest.mark.parametrize("environment", BENT, ids=repr)


def waves_of(environment: SinusoidEnvironment) -> SinusoidMeans:
    assert isinstance(environment.shape, SinusoidMeans)
    return environment.shape


def checkers_of(environment: XorEnvironment) -> XorMeans:
    assert isinstance(environment.shape, XorMeans)
    return environment.shape


def bumps_of(environment: BumpEnvironment) -> BumpMeans:
    assert isinstance(environment.shape, BumpMeans)
    return environment.shape


# The dial.


@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_a_linear_environment_is_in_the_class(n_features: int) -> None:
    found = misspecification(LinearEnvironment(n_features=n_features).population, Linear())
    assert found.b < 1e-25
    assert found.sup < 1e-12


@bent_environments
def test_dial_0_is_the_linear_environment_of_the_same_seed(environment: MisspecifiedEnvironment) -> None:
    straight = replace(environment, misspecification=0.0)
    linear = LinearEnvironment(
        n_actions=environment.n_actions,
        n_features=environment.n_features,
        environment_seed=environment.environment_seed,
    )
    first, second = straight.draw(0, 100, 1), linear.draw(0, 100, 1)
    assert np.array_equal(first.means, second.means)
    assert np.array_equal(first.rewards, second.rewards)
    assert misspecification(straight.population, Linear()).b < 1e-12


@pytest.mark.parametrize("family", [SinusoidEnvironment, XorEnvironment, BumpEnvironment])
def test_dial_0_is_linear_with_many_features_too(family: type[MisspecifiedEnvironment]) -> None:
    sample = Population.sampled(family(n_features=8, misspecification=0.0), 2_000, seed=0)
    assert misspecification(sample, Linear()).b < 1e-12


@bent_environments
def test_errors_grow_as_the_square_of_the_dial(environment: MisspecifiedEnvironment) -> None:
    full = misspecification(environment.population, Linear())
    assert full.b > 0.01
    for dial in (0.1, 0.3, 0.7):
        found = misspecification(replace(environment, misspecification=dial).population, Linear())
        expected = dial**2 * full.b, dial**2 * full.B
        assert (found.b, found.B) == pytest.approx(expected, rel=1e-10)
        assert found.sup == pytest.approx(dial * full.sup, rel=1e-8)


@given(
    seeds,
    dials,
    st.integers(2, 6),
    st.integers(2, 9),
    st.sampled_from([SinusoidEnvironment, XorEnvironment, BumpEnvironment]),
)
def test_means_stay_in_range_even_in_the_corners(
    environment_seed: int, dial: float, n_actions: int, n_features: int, family: type[MisspecifiedEnvironment]
) -> None:
    environment = family(
        n_actions=n_actions, n_features=n_features, misspecification=dial, environment_seed=environment_seed
    )
    corners = np.array(list(itertools.product([-1.0, 1.0], repeat=n_features)))
    means = environment.means(corners)
    assert means.min() >= 0.0
    assert means.max() <= 1.0
    # Every line touches an end of the range in a corner.
    values = environment.linear_part.values(corners)
    np.testing.assert_allclose(np.abs(values).max(axis=0), 1.0, rtol=0, atol=1e-12)


# Closed forms.


@given(seeds, dials, st.integers(1, 3), st.floats(0.5, 12.0))
def test_b_of_a_sinusoid_has_its_closed_form(
    environment_seed: int, dial: float, n_features: int, frequency: float
) -> None:
    environment = SinusoidEnvironment(
        n_features=n_features, misspecification=dial, frequency=frequency, environment_seed=environment_seed
    )
    waves = waves_of(environment)
    errors = [wave_error(w, phase) for w, phase in zip(waves.frequencies, waves.phases, strict=True)]
    found = misspecification(environment.population, Linear())
    assert found.b == pytest.approx(dial**2 / 4 * np.mean(errors), abs=1e-10)


@given(seeds, dials, st.integers(2, 3), st.integers(2, 5))
def test_xor_has_its_closed_forms(
    environment_seed: int, dial: float, n_features: int, n_actions: int
) -> None:
    environment = XorEnvironment(
        n_actions=n_actions, n_features=n_features, misspecification=dial, environment_seed=environment_seed
    )
    heights = np.abs(checkers_of(environment).heights)
    found = misspecification(environment.population, Linear())
    expected = dial**2 / 4 * np.mean(heights**2), dial**2 / 4 * heights.max() ** 2
    assert (found.b, found.B) == pytest.approx(expected, abs=1e-10)
    assert found.sup == pytest.approx(dial / 2 * heights.max(), abs=1e-10)


@given(seeds, dials, st.integers(1, 3), st.floats(0.05, 0.95))
def test_b_of_a_bump_has_its_closed_form(
    environment_seed: int, dial: float, n_features: int, radius: float
) -> None:
    environment = BumpEnvironment(
        n_actions=2,
        n_features=n_features,
        misspecification=dial,
        radius=radius,
        environment_seed=environment_seed,
    )
    centres = bumps_of(environment).centres
    share = radius ** centres.shape[1]
    # An indicator has variance share (1 - share) and covariance share c_j with each of its features.
    errors = share * (1 - share) - 3 * share**2 * np.square(centres).sum(axis=1)
    found = misspecification(environment.population, Linear())
    assert found.b == pytest.approx(dial**2 * np.mean(errors), abs=1e-10)


def test_the_value_of_a_bump_on_a_line_is_the_length_of_all_bumps_together() -> None:
    environment = BumpEnvironment(n_actions=2, n_features=1, radius=0.2, environment_seed=3)
    first, second = np.sort(bumps_of(environment).centres.ravel())
    length = 0.4 + min(0.4, second - first)
    assert environment.population.optimal_value() == pytest.approx(length / 2, abs=1e-12)


def test_a_sample_agrees_with_the_quadrature() -> None:
    for environment in BENT:
        drawn, population = environment.draw(0, 100_000, seed=6), environment.population
        means = [population.mean(population.means[:, action]) for action in range(environment.n_actions)]
        errors = drawn.means.std(axis=0) / np.sqrt(100_000)
        # Five standard errors for 21 actions in all: wrong for one in 80,000 seeds.
        assert np.all(np.abs(drawn.means.mean(axis=0) - means) < 5 * errors + 1e-12)


# Shapes by their definitions, row by row.


def rows_of(environment: MisspecifiedEnvironment) -> Floats:
    return environment.draw(0, 300, seed=8).contexts.shared


def test_a_sinusoid_is_one_of_a_projection() -> None:
    environment = SinusoidEnvironment(n_features=5, frequency=3.0)
    x, waves = rows_of(environment), waves_of(environment)
    np.testing.assert_allclose(np.linalg.norm(waves.frequencies, axis=1), 3.0, rtol=1e-12)
    for action in range(environment.n_actions):
        z = sum(waves.frequencies[action, j] * x[:, j] for j in range(5))
        expected = (1 + np.sin(z + waves.phases[action])) / 2
        np.testing.assert_allclose(environment.means(x)[:, action], expected, rtol=0, atol=1e-13)


def test_xor_looks_at_the_signs_of_two_features() -> None:
    environment = XorEnvironment(n_features=5)
    x, checkers = rows_of(environment), checkers_of(environment)
    assert len(set(checkers.pair.tolist())) == 2
    product = np.sign(x[:, checkers.pair[0]]) * np.sign(x[:, checkers.pair[1]])
    expected = (1 + product[:, np.newaxis] * checkers.heights) / 2
    np.testing.assert_allclose(environment.means(x), expected, rtol=0, atol=1e-15)
    assert np.array_equal(np.sign(checkers.heights), [1, -1, 1])


@pytest.mark.parametrize("n_features", [1, 5])
def test_a_bump_is_an_indicator(n_features: int) -> None:
    environment = BumpEnvironment(n_features=n_features)
    x, bumps = rows_of(environment), bumps_of(environment)
    assert np.all(np.abs(bumps.centres) + bumps.radius <= 1.0)
    for row, means in zip(x, environment.means(x), strict=True):
        for centre, mean in zip(bumps.centres, means, strict=True):
            inside = all(abs(row[j] - c) < 0.5 for j, c in zip(bumps.features, centre, strict=True))
            assert mean == float(inside)


# Refusals.


def test_quadrature_of_many_features_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"n_features is 4, and quadrature goes up to 3; use Population\.sampled"
    ):
        _ = SinusoidEnvironment(n_features=4).population


def test_xor_of_one_feature_is_refused() -> None:
    with pytest.raises(ValueError, match="n_features is 1; xor is of two features, so give at least 2"):
        XorEnvironment(n_features=1)


@pytest.mark.parametrize("radius", [0.0, -1.0, 1.0, float("nan")])
def test_a_bump_that_does_not_fit_is_refused(radius: float) -> None:
    with pytest.raises(ValueError, match=f"radius is {radius}"):
        BumpEnvironment(radius=radius)


def test_noise_of_another_name_is_refused() -> None:
    with pytest.raises(ValueError, match="noise is 'poisson'; give a standard deviation, or 'bernoulli'"):
        LinearEnvironment(noise="poisson")  # type: ignore[arg-type]

"""Worlds with a misspecification dial against closed forms and against their definitions, row by row."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyrfalcon.core.types import Floats
from gyrfalcon.environments.families import BentWorld, BumpWorld, LinearWorld, SinusoidWorld, XorWorld
from gyrfalcon.environments.misspecification import misspecification
from gyrfalcon.environments.population import Population
from gyrfalcon.environments.shapes import Bumps, Checkers, Waves
from gyrfalcon.oracles.linear import Linear
from tests.environments.waves import wave_error

examples = settings(deadline=None, max_examples=25)
seeds = st.integers(0, 2**32)
dials = st.floats(0.0, 1.0)
BENT: list[BentWorld] = [
    *(SinusoidWorld(n_features=p, world_seed=p) for p in (1, 2, 3)),
    *(XorWorld(n_features=p, world_seed=p) for p in (2, 3)),
    *(BumpWorld(n_features=p, n_actions=2, world_seed=p) for p in (1, 2, 3)),
]
bent_worlds = pytest.mark.parametrize("world", BENT, ids=repr)


def waves_of(world: SinusoidWorld) -> Waves:
    assert isinstance(world.shape, Waves)
    return world.shape


def checkers_of(world: XorWorld) -> Checkers:
    assert isinstance(world.shape, Checkers)
    return world.shape


def bumps_of(world: BumpWorld) -> Bumps:
    assert isinstance(world.shape, Bumps)
    return world.shape


# The dial.


@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_a_linear_world_is_in_the_class(n_features: int) -> None:
    found = misspecification(LinearWorld(n_features=n_features).population, Linear())
    assert found.b < 1e-25
    assert found.sup < 1e-12


@bent_worlds
def test_dial_0_is_the_linear_world_of_the_same_seed(world: BentWorld) -> None:
    straight = replace(world, misspecification=0.0)
    linear = LinearWorld(n_actions=world.n_actions, n_features=world.n_features, world_seed=world.world_seed)
    first, second = straight.draw(0, 100, 1), linear.draw(0, 100, 1)
    assert np.array_equal(first.means, second.means)
    assert np.array_equal(first.rewards, second.rewards)
    assert misspecification(straight.population, Linear()).b < 1e-12


@pytest.mark.parametrize("family", [SinusoidWorld, XorWorld, BumpWorld])
def test_dial_0_is_linear_with_many_features_too(family: type[BentWorld]) -> None:
    sample = Population.sampled(family(n_features=8, misspecification=0.0), 2_000, seed=0)
    assert misspecification(sample, Linear()).b < 1e-12


@bent_worlds
def test_errors_grow_as_the_square_of_the_dial(world: BentWorld) -> None:
    full = misspecification(world.population, Linear())
    assert full.b > 0.01
    for dial in (0.1, 0.3, 0.7):
        found = misspecification(replace(world, misspecification=dial).population, Linear())
        expected = dial**2 * full.b, dial**2 * full.B
        assert (found.b, found.B) == pytest.approx(expected, rel=1e-10)
        assert found.sup == pytest.approx(dial * full.sup, rel=1e-8)


@examples
@given(
    seeds, dials, st.integers(2, 6), st.integers(2, 9), st.sampled_from([SinusoidWorld, XorWorld, BumpWorld])
)
def test_means_stay_in_range_even_in_the_corners(
    world_seed: int, dial: float, n_actions: int, n_features: int, family: type[BentWorld]
) -> None:
    world = family(n_actions=n_actions, n_features=n_features, misspecification=dial, world_seed=world_seed)
    corners = np.array(list(itertools.product([-1.0, 1.0], repeat=n_features)))
    means = world.means(corners)
    assert means.min() >= 0.0
    assert means.max() <= 1.0
    # Every line touches an end of the range in a corner.
    values = world.lines.values(corners)
    np.testing.assert_allclose(np.abs(values).max(axis=0), 1.0, rtol=0, atol=1e-12)


# Closed forms.


@examples
@given(seeds, dials, st.integers(1, 3), st.floats(0.5, 12.0))
def test_b_of_a_sinusoid_has_its_closed_form(
    world_seed: int, dial: float, n_features: int, frequency: float
) -> None:
    world = SinusoidWorld(
        n_features=n_features, misspecification=dial, frequency=frequency, world_seed=world_seed
    )
    waves = waves_of(world)
    errors = [wave_error(w, phase) for w, phase in zip(waves.waves, waves.phases, strict=True)]
    found = misspecification(world.population, Linear())
    assert found.b == pytest.approx(dial**2 / 4 * np.mean(errors), abs=1e-10)


@examples
@given(seeds, dials, st.integers(2, 3), st.integers(2, 5))
def test_xor_has_its_closed_forms(world_seed: int, dial: float, n_features: int, n_actions: int) -> None:
    world = XorWorld(n_actions=n_actions, n_features=n_features, misspecification=dial, world_seed=world_seed)
    heights = np.abs(checkers_of(world).heights)
    found = misspecification(world.population, Linear())
    expected = dial**2 / 4 * np.mean(heights**2), dial**2 / 4 * heights.max() ** 2
    assert (found.b, found.B) == pytest.approx(expected, abs=1e-10)
    assert found.sup == pytest.approx(dial / 2 * heights.max(), abs=1e-10)


@examples
@given(seeds, dials, st.integers(1, 3), st.floats(0.05, 0.95))
def test_b_of_a_bump_has_its_closed_form(
    world_seed: int, dial: float, n_features: int, radius: float
) -> None:
    world = BumpWorld(
        n_actions=2, n_features=n_features, misspecification=dial, radius=radius, world_seed=world_seed
    )
    centres = bumps_of(world).centres
    share = radius ** centres.shape[1]
    # An indicator has variance share (1 - share) and covariance share c_j with each of its features.
    errors = share * (1 - share) - 3 * share**2 * np.square(centres).sum(axis=1)
    found = misspecification(world.population, Linear())
    assert found.b == pytest.approx(dial**2 * np.mean(errors), abs=1e-10)


def test_the_value_of_a_bump_on_a_line_is_the_length_of_all_bumps_together() -> None:
    world = BumpWorld(n_actions=2, n_features=1, radius=0.2, world_seed=3)
    first, second = np.sort(bumps_of(world).centres.ravel())
    length = 0.4 + min(0.4, second - first)
    assert world.population.optimal_value() == pytest.approx(length / 2, abs=1e-12)


def test_a_sample_agrees_with_the_quadrature() -> None:
    for world in BENT:
        drawn, population = world.draw(0, 100_000, seed=6), world.population
        means = [population.mean(population.means[:, action]) for action in range(world.n_actions)]
        errors = drawn.means.std(axis=0) / np.sqrt(100_000)
        # Five standard errors for 21 actions in all: wrong for one in 80,000 seeds.
        assert np.all(np.abs(drawn.means.mean(axis=0) - means) < 5 * errors + 1e-12)


# Shapes by their definitions, row by row.


def rows_of(world: BentWorld) -> Floats:
    return world.draw(0, 300, seed=8).contexts.shared


def test_a_sinusoid_is_one_of_a_projection() -> None:
    world = SinusoidWorld(n_features=5, frequency=3.0)
    x, waves = rows_of(world), waves_of(world)
    np.testing.assert_allclose(np.linalg.norm(waves.waves, axis=1), 3.0, rtol=1e-12)
    for action in range(world.n_actions):
        z = sum(waves.waves[action, j] * x[:, j] for j in range(5))
        expected = (1 + np.sin(z + waves.phases[action])) / 2
        np.testing.assert_allclose(world.means(x)[:, action], expected, rtol=0, atol=1e-13)


def test_xor_looks_at_the_signs_of_two_features() -> None:
    world = XorWorld(n_features=5)
    x, checkers = rows_of(world), checkers_of(world)
    assert len(set(checkers.pair.tolist())) == 2
    product = np.sign(x[:, checkers.pair[0]]) * np.sign(x[:, checkers.pair[1]])
    expected = (1 + product[:, np.newaxis] * checkers.heights) / 2
    np.testing.assert_allclose(world.means(x), expected, rtol=0, atol=1e-15)
    assert np.array_equal(np.sign(checkers.heights), [1, -1, 1])


@pytest.mark.parametrize("n_features", [1, 5])
def test_a_bump_is_an_indicator(n_features: int) -> None:
    world = BumpWorld(n_features=n_features)
    x, bumps = rows_of(world), bumps_of(world)
    assert np.all(np.abs(bumps.centres) + bumps.radius <= 1.0)
    for row, means in zip(x, world.means(x), strict=True):
        for centre, mean in zip(bumps.centres, means, strict=True):
            inside = all(abs(row[j] - c) < 0.5 for j, c in zip(bumps.features, centre, strict=True))
            assert mean == float(inside)


# Refusals.


def test_quadrature_of_many_features_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"n_features is 4, and quadrature goes up to 3; use Population\.sampled"
    ):
        _ = SinusoidWorld(n_features=4).population


def test_xor_of_one_feature_is_refused() -> None:
    with pytest.raises(ValueError, match="n_features is 1; xor is of two features, so give at least 2"):
        XorWorld(n_features=1)


@pytest.mark.parametrize("radius", [0.0, -1.0, 1.0, float("nan")])
def test_a_bump_that_does_not_fit_is_refused(radius: float) -> None:
    with pytest.raises(ValueError, match=f"radius is {radius}"):
        BumpWorld(radius=radius)


def test_noise_of_another_name_is_refused() -> None:
    with pytest.raises(ValueError, match="noise is 'poisson'; give a standard deviation, or 'bernoulli'"):
        LinearWorld(noise="poisson")  # type: ignore[arg-type]

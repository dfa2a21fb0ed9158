from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.arrays import Floats
from gyrfalcon_paper.exhibits.assumption import CLASSES, EXHIBIT, HULL, LINEAR, rate, sampled
from gyrfalcon_paper.exhibits.exhibit import Tables
from gyrfalcon_paper.exhibits.inclusions import (
    Excess,
    GridSample,
    farthest,
    hull_thresholds,
    linear_thresholds,
)
from gyrfalcon_paper.tables import matching, numbers
from tests.paper.showing import check_readable, tables_of


@pytest.fixture(scope="module")
def tables() -> Tables:
    return tables_of(EXHIBIT)


# Farthest points of ellipsoids.


@given(seed=st.integers(0, 10**6), d=st.integers(1, 5))
def test_no_point_of_an_ellipsoid_is_farther(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    curvature, centre, level = rng.uniform(0.05, 3.0, d), rng.normal(size=d), rng.uniform(0.01, 4.0)
    found = farthest(curvature[None], centre[None], np.array([level]))[0]
    # Directions that are spread evenly over the ellipsoid, long axes and all.
    rays = rng.normal(size=(2_000, d)) / np.sqrt(curvature)
    edge = centre + rays * np.sqrt(level / (curvature * rays**2).sum(axis=1))[:, None]
    assert (edge**2).sum(axis=1).max() <= found * (1 + 1e-9)
    # One of so many directions in up to five dimensions comes close.
    assert (edge**2).sum(axis=1).max() >= 0.6 * found


def test_a_centre_at_the_origin_goes_along_the_widest_axis() -> None:
    assert farthest(np.array([[0.5, 4.0]]), np.zeros((1, 2)), np.array([1.0])) == pytest.approx([2.0])


def test_a_centre_beside_the_widest_axis_moves_along_both() -> None:
    # u_1^2 + 4 (u_2 - 1)^2 = 10: mu = 1 gives u_2 = 4/3, and what is left of the level is u_1^2 = 86/9.
    found = farthest(np.array([[1.0, 4.0]]), np.array([[0.0, 1.0]]), np.array([10.0]))
    assert found == pytest.approx([16 / 9 + 86 / 9], rel=1e-9)


# Lines.


def risks(theta: Floats, best: Floats, gram: Floats) -> Floats:
    return np.asarray(np.einsum("ni,ij,nj->n", theta - best, gram, theta - best))


def test_thresholds_of_lines_are_those_of_a_fine_grid_of_models() -> None:
    rng = np.random.default_rng(3)
    x = rng.random(60)
    features = np.stack([np.ones(60), x], axis=1)
    rewards = (x > 0.5) + 0.1 * rng.standard_normal(60)
    gram, best = np.array([[1.0, 0.5], [0.5, 1 / 3]]), np.array([-0.25, 1.5])
    sample_gram = features.T @ features / 60
    fit: Floats = np.linalg.solve(sample_gram, features.T @ rewards / 60).astype(np.float64)
    found = linear_thresholds(gram, best, sample_gram[None], fit[None])
    models = np.stack(np.meshgrid(np.linspace(-4, 4, 2001), np.linspace(-6, 8, 2001)), axis=-1).reshape(-1, 2)
    population, empirical = risks(models, best, gram), risks(models, fit, sample_gram)
    # Steps of the grid change a risk of this size by about a hundredth.
    assert found.forward[0] == pytest.approx(population[empirical >= 1.5 * population].max(), rel=0.02)
    assert found.backward[0] == pytest.approx(empirical[population >= 2.0 * empirical].max(), rel=0.02)


def test_a_direction_that_no_row_sees_has_no_threshold() -> None:
    gram = np.eye(2)
    found = linear_thresholds(gram, np.zeros(2), np.diag([1.0, 0.0])[None], np.full((1, 2), 0.1))
    assert np.isinf(found.backward[0])


def test_thresholds_grow_with_the_square_of_the_noise() -> None:
    gram = np.array([[2.0, 0.3], [0.3, 1.0]])
    sample = gram[None] * 1.1
    one, two = (linear_thresholds(gram, np.zeros(2), sample, np.full((1, 2), size)) for size in (0.1, 0.2))
    assert two.forward == pytest.approx(4 * one.forward)
    assert two.backward == pytest.approx(4 * one.backward)


def test_samples_depend_on_their_number_alone() -> None:
    assert np.array_equal(sampled(LINEAR, 100, 3)[2][:2], sampled(LINEAR, 100, 2)[2])


# The hull of stumps.


def step_sample(n: int, budget: float, seed: int = 0, n_points: int = 32) -> GridSample:
    means = (np.arange(n_points) >= n_points // 2).astype(np.float64)
    return GridSample.drawn(means, n, 0.1, budget, np.random.default_rng(seed))


@pytest.mark.parametrize("seed", range(4))
def test_with_a_budget_that_does_not_bind_the_search_finds_nearly_what_is_exact(seed: int) -> None:
    sample = step_sample(4_000, budget=100.0, seed=seed)
    size = len(sample.means)
    exact = linear_thresholds(
        np.eye(size) / size, sample.means, np.diag(sample.shares)[None], sample.rewards[None]
    )
    forward, backward = hull_thresholds(sample)
    assert 0.9 * exact.forward[0] <= forward <= exact.forward[0] * (1 + 1e-6)
    assert 0.9 * exact.backward[0] <= backward <= exact.backward[0] * (1 + 1e-6)


def test_excess_is_none_at_the_best_models_and_positive_elsewhere() -> None:
    excess = Excess(step_sample(500, budget=0.5))
    assert excess.population(excess.best) == 0.0
    assert excess.empirical(excess.fit) == 0.0
    assert excess.population(excess.fit) > 0.0
    assert excess.empirical(excess.best) > 0.0


def test_the_best_model_of_half_the_budget_is_half_a_step() -> None:
    best = Excess(step_sample(500, budget=0.5)).best
    assert best[0] == pytest.approx(0.25, abs=1e-6)
    assert best[-1] == pytest.approx(0.75, abs=1e-6)


# The exhibit.


def test_rates_are_those_of_the_classes() -> None:
    assert rate(LINEAR, 1_000, 0.05) == pytest.approx(np.log(20) * 4 / 1_000)
    assert rate(HULL, 1_000, 0.05) == pytest.approx(np.log(20) * 2 ** (2 / 3) / 100)
    assert CLASSES[HULL].rho == pytest.approx(2 / 3)


def test_the_constants_cover_every_quantile(tables: Tables) -> None:
    for place, name in enumerate(tables["constants"]["model_class"]):
        inclusion = tables["constants"]["inclusion"][place]
        own = matching(tables["thresholds"], model_class=name, inclusion=inclusion)
        larger = numbers(own, "n") >= 200
        assert numbers(own, "C")[larger].max() == tables["constants"]["C"][place]


def test_thresholds_of_lines_fall_about_as_one_over_n(tables: Tables) -> None:
    own = matching(tables["constants"], model_class=LINEAR)
    # 200 samples a size leave the 90% quantile off by about 10%, a slope over 64 times the rows by 0.05.
    assert numbers(own, "exponent") == pytest.approx([1.0, 1.0], abs=0.2)
    assert (numbers(own, "C") < 10).all()


def test_it_can_be_read(tables: Tables) -> None:
    check_readable(EXHIBIT, tables)

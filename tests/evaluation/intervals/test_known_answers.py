"""Known answers: intervals and weights of four rows, by hand or from an independent computation."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats
from gyrfalcon.evaluation.intervals.adaptive_weights import (
    allocation_weights,
    constant_allocation,
    min_var_weights,
    past_means,
    stable_var_weights,
    two_point_allocation,
    variance_proxies,
    weighted_interval,
)
from gyrfalcon.evaluation.intervals.bootstrap import bootstrap_interval
from gyrfalcon.evaluation.intervals.empirical_bernstein import empirical_bernstein_interval
from gyrfalcon.evaluation.intervals.interval import Interval
from gyrfalcon.evaluation.intervals.normal import normal_interval
from gyrfalcon.evaluation.intervals.sequences.bernstein_sequence import bernstein_lower_bounds

ONE_ERROR = 1.0 - 2.0 * 0.15865525393145707
"""The level at which a normal interval reaches one standard error to either side."""

DR = np.array([0.75, -1.375, 0.34375, 1.25])
PROPENSITIES = np.array([[0.5, 0.5], [0.8, 0.2], [0.8, 0.2], [0.5, 0.5]])
TARGET = np.tile([0.25, 0.75], (4, 1))
ARMS = np.array([[1.5, 0.5], [0.5, -2.0], [-0.125, 0.5], [0.5, 1.5]])


def center_and_error(interval: Interval) -> tuple[float, float]:
    return (interval.low + interval.high) / 2.0, interval.width / 2.0


def test_a_normal_interval_is_the_mean_and_its_standard_error() -> None:
    assert center_and_error(normal_interval(DR, ONE_ERROR)) == pytest.approx((0.2421875, 0.49365790))


def test_an_empirical_bernstein_interval_is_the_formula_of_maurer_and_pontil() -> None:
    column = np.tile([1.0, 3.0, 3.0, 3.0], 250)  # in [0, 4]: mean 2.5
    log_term = math.log(4.0 / 0.1)
    variance = 0.75 * 1000 / 999
    radius = math.sqrt(2.0 * variance * log_term / 1000) + 4.0 * 7.0 * log_term / (3.0 * 999)
    interval = empirical_bernstein_interval(column, (0.0, 4.0), 0.9)
    assert (interval.low, interval.high) == pytest.approx((2.5 - radius, 2.5 + radius))


def test_a_bootstrap_interval_comes_from_its_seed_and_nears_the_normal_one() -> None:
    column = np.random.default_rng(0).normal(size=2_000)
    first, again = (bootstrap_interval(column, seed=3, n_resamples=4_000) for _ in range(2))
    normal = normal_interval(column)
    assert first == again != bootstrap_interval(column, seed=4, n_resamples=4_000)
    assert (first.low, first.high) == pytest.approx((normal.low, normal.high), abs=0.1 * normal.width)


@pytest.mark.parametrize(
    ("weights", "value", "variance"),
    [(min_var_weights, 0.54245283, 0.15091201), (stable_var_weights, 0.39872629, 0.20106869)],
)
def test_weights_of_variance_proxies(
    weights: Callable[[Floats], Floats], value: float, variance: float
) -> None:
    proxies = variance_proxies(TARGET, PROPENSITIES)
    assert proxies.tolist() == [1.25, 2.890625, 2.890625, 1.25]
    interval = weighted_interval(DR, weights(proxies), ONE_ERROR)
    assert center_and_error(interval) == pytest.approx((value, math.sqrt(variance)))


@pytest.mark.parametrize(
    ("arm", "value", "error"), [(0, 0.54623373, 0.28237471), (1, 0.32200470, 0.58022690)]
)
def test_constant_allocation(arm: int, value: float, error: float) -> None:
    propensity = PROPENSITIES[:, arm]
    weights = allocation_weights(propensity, constant_allocation(4))
    assert weights == pytest.approx(np.sqrt(propensity / 4.0))
    assert center_and_error(weighted_interval(ARMS[:, arm], weights, ONE_ERROR)) == pytest.approx(
        (value, error)
    )


@pytest.mark.parametrize(
    ("arm", "value", "error"), [(0, 0.57897615, 0.29694250), (1, 0.27979096, 0.57250288)]
)
def test_two_point_allocation(arm: int, value: float, error: float) -> None:
    propensity = PROPENSITIES[:, arm]
    weights = allocation_weights(propensity, two_point_allocation(propensity))
    assert (weights**2 / propensity).sum() == pytest.approx(1.0)
    assert center_and_error(weighted_interval(ARMS[:, arm], weights, ONE_ERROR)) == pytest.approx(
        (value, error)
    )


def test_the_two_point_allocation_of_the_first_arm() -> None:
    rates = two_point_allocation(PROPENSITIES[:, 0], 0.7)
    assert rates == pytest.approx([0.30888740, 0.34537699, 0.50518656, 1.0])


def test_equal_weights_give_the_normal_interval() -> None:
    normal, weighted = normal_interval(DR), weighted_interval(DR, np.full(4, 7.0))
    assert (weighted.low, weighted.high) == pytest.approx((normal.low, normal.high))


def test_past_means_average_the_epochs_own_proxies_over_earlier_rows() -> None:
    random = np.random.default_rng(0)
    proxies, epoch = random.random((3, 8)), np.array([0, 0, 1, 1, 1, 2, 2, 2])
    expected = [proxies[0, 0], *(proxies[epoch[row], :row].mean() for row in range(1, 8))]
    assert past_means(proxies, epoch) == pytest.approx(expected)


def test_past_means_do_not_depend_on_later_contexts() -> None:
    random = np.random.default_rng(0)
    proxies, epoch = random.random((2, 6)), np.array([0, 0, 0, 1, 1, 1])
    changed = proxies.copy()
    changed[:, 4:] = 100.0
    assert past_means(changed, epoch)[:5].tolist() == past_means(proxies, epoch)[:5].tolist()


def test_bernstein_lower_bounds_of_four_scores() -> None:
    bounds = bernstein_lower_bounds(np.array([0.2, 0.9, 0.4, 0.6]), np.zeros(4), 0.05)
    assert bounds == pytest.approx([-5.80691632, -2.54810028, -1.56829739, -1.02718878])


def test_an_interval_shows_its_level_and_method() -> None:
    interval = Interval(0.1, 0.25, level=0.9, method="normal")
    assert repr(interval) == "Interval(0.1, 0.25, level=0.9, method='normal')"
    assert 0.2 in interval
    assert 0.3 not in interval

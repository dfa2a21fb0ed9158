from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, minimize
from sklearn.linear_model import lars_path

from gyrfalcon.core.arrays import Floats
from gyrfalcon.oracles.stump_hull.conditional_gradient import Task
from gyrfalcon.oracles.stump_hull.regressor import StumpHull
from gyrfalcon.oracles.stump_hull.thresholds import Cuts
from tests.oracles.stump_samples import Sample, all_stumps, budgets, centred, sample, samples

# A second way: the regularisation path of the lasso on all stumps, followed to the budget.


def distinct(columns: Floats) -> Floats:
    """The columns without those that equal another up to the sign, at which a path would stumble."""
    signed = np.where(columns[0] < 0.0, -columns, columns).round(9)
    return columns[:, np.sort(np.unique(signed, axis=1, return_index=True)[1])]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("budget", [0.3, 1.0, 3.0, 7.0])
def test_the_fit_lies_on_the_path_of_the_lasso(budget: float, seed: int) -> None:
    data = sample(100, 2, seed)
    stumps = distinct(centred(data, all_stumps(data.x)))
    root = np.sqrt(data.w)[:, None]
    _, _, path = lars_path(root * stumps, root[:, 0] * centred(data, data.y), method="lasso", max_iter=40)
    spent = np.abs(path).sum(axis=0)
    assert (np.diff(spent) > 0.0).all()
    assert budget < spent[-1]
    weights = np.array([np.interp(budget, spent, coefficient) for coefficient in path])
    values = np.average(data.y, weights=data.w) + stumps @ weights

    hull = data.fit(budget)
    assert hull.converged_
    assert data.risk(hull.predict(data.x)) == pytest.approx(data.risk(values), rel=1e-9)
    np.testing.assert_allclose(hull.predict(data.x), values, atol=1e-7)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_a_general_solver_finds_the_same_fit_where_values_tie(seed: int, fit_intercept: bool) -> None:
    data = sample(60, 2, seed)
    data = Sample(np.round(data.x), data.y, data.w)
    stumps, budget = all_stumps(data.x), 1.5
    signed = np.hstack([stumps, -stumps, np.full((60, 1), float(fit_intercept))])
    shares = data.w / data.w.sum()
    of_stumps = np.append(np.ones(2 * stumps.shape[1]), 0.0)
    setup: dict[str, Any] = {
        "jac": lambda w: -2.0 * signed.T @ (shares * (data.y - signed @ w)),
        "bounds": Bounds(np.where(of_stumps, 0.0, -np.inf), np.inf),
        "constraints": LinearConstraint(of_stumps[None], -np.inf, budget),
        "options": {"ftol": 1e-15, "maxiter": 1000},
    }
    start, solve = np.zeros(of_stumps.size), cast("Any", minimize)
    solution = solve(lambda w: shares @ (data.y - signed @ w) ** 2, start, method="SLSQP", **setup)
    hull = data.fit(budget, fit_intercept=fit_intercept)
    assert data.risk(hull.predict(data.x)) == pytest.approx(solution.fun, rel=1e-7)
    np.testing.assert_allclose(hull.predict(data.x), signed @ solution.x, atol=1e-4)
    assert fit_intercept or hull.intercept_ == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_a_large_budget_gives_least_squares_on_all_stumps(seed: int) -> None:
    data = sample(50, 2, seed)
    data = Sample(np.round(data.x, 0 if seed else 5), data.y, data.w)
    root, design = np.sqrt(data.w)[:, None], np.hstack([np.ones((50, 1)), all_stumps(data.x)])
    weights = np.linalg.lstsq(root * design, root[:, 0] * data.y)[0]
    np.testing.assert_allclose(data.fit(1e3).predict(data.x), design @ weights, atol=1e-6)


# The certificate, from its definition: no point of the hull promises a lower risk by more than the gap.


def gap_of(data: Sample, hull: StumpHull) -> float:
    seen = data.w > 0.0
    values, shares = hull.predict(data.x[seen]), data.w[seen] / data.w.sum()
    slopes = -2.0 * shares * (data.y[seen] - values)
    lowest = -hull.budget * np.abs(all_stumps(data.x[seen]).T @ slopes).max(initial=0.0)
    return float(slopes @ (values - hull.intercept_) - lowest)


@given(data=samples(), budget=budgets, fit_intercept=st.booleans(), max_iter=st.sampled_from([0, 1, 2, 100]))
def test_the_gap_is_what_all_stumps_together_say(
    data: Sample, budget: float, fit_intercept: bool, max_iter: int
) -> None:
    hull = data.fit(budget, fit_intercept=fit_intercept, max_iter=max_iter)
    assert hull.gap_ == pytest.approx(gap_of(data, hull), abs=1e-13 * (1.0 + budget))
    size = data.variance() if fit_intercept else data.risk(np.zeros_like(data.y))
    assert hull.gap_ <= 1e-10 * size * (1.0 + 1e-9) if hull.converged_ else hull.gap_ > 0.99e-10 * size
    assert hull.converged_ or max_iter < 100
    assert hull.n_iter_ <= max_iter
    assert np.abs(hull.weights_).sum() <= budget * (1.0 + 1e-9)
    if fit_intercept:
        assert np.average(data.y - hull.predict(data.x), weights=data.w) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("budget", [1.0, 5.0, 25.0])
def test_the_gap_closes_on_a_larger_sample(budget: float) -> None:
    data = sample(400, 5)
    hull = data.fit(budget)
    assert hull.converged_
    assert gap_of(data, hull) <= 1.01e-10 * data.variance()


def test_a_gap_that_is_all_rounding_ends_the_fit() -> None:
    hull = sample(100, 3).fit(2.0, tolerance=0.0)
    assert hull.n_iter_ < 30
    assert hull.gap_ < 1e-13


# What the class and the weights mean.


def assert_same(data: Sample, a: StumpHull, b: StumpHull) -> None:
    """Risk rises with the square of the distance from its minimum, so the gaps say how far apart two are."""
    distance = float(np.average((a.predict(data.x) - b.predict(data.x)) ** 2, weights=data.w)) ** 0.5
    assert distance <= a.gap_**0.5 + b.gap_**0.5 + 1e-9


@given(data=samples(), budget=budgets, factor=st.floats(1e-150, 1e150))
def test_only_ratios_of_weights_matter(data: Sample, budget: float, factor: float) -> None:
    assert_same(data, Sample(data.x, data.y, data.w * factor).fit(budget), data.fit(budget))


@given(data=samples(), budget=budgets)
def test_a_row_given_twice_is_a_row_of_twice_the_weight_and_one_of_none_is_not_there(
    data: Sample, budget: float
) -> None:
    copies, seen, hull = data.w.astype(np.int64), data.w > 0.0, data.fit(budget)
    repeated = StumpHull(budget=budget).fit(np.repeat(data.x, copies, axis=0), np.repeat(data.y, copies))
    assert_same(data, repeated, hull)
    without = Sample(data.x[seen], data.y[seen], data.w[seen]).fit(budget)
    np.testing.assert_array_equal(without.predict(data.x), hull.predict(data.x))


@given(data=samples(), budget=budgets, more=st.floats(1.0, 3.0))
def test_risk_does_not_rise_with_the_budget(data: Sample, budget: float, more: float) -> None:
    less, greater = data.fit(budget), data.fit(budget * more)
    assert data.risk(greater.predict(data.x)) <= data.risk(less.predict(data.x)) + greater.gap_ + 1e-13


@given(data=samples(), budget=budgets, seed=st.integers(0, 99))
def test_the_mean_of_two_fits_is_in_the_class(data: Sample, budget: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    targets = [rng.normal(size=data.y.shape) for _ in range(2)]
    mean = np.mean([Sample(data.x, y, data.w).fit(budget).predict(data.x) for y in targets], axis=0)
    hull = Sample(data.x, mean, data.w).fit(budget)
    assert Sample(data.x, mean, data.w).risk(hull.predict(data.x)) <= hull.gap_ + 1e-13
    assert data.risk(mean) >= data.risk(data.fit(budget).predict(data.x)) - data.fit(budget).gap_ - 1e-13


@pytest.mark.parametrize(("shift", "scale"), [(0.0, 1e-180), (0.0, 1e150), (1e6, 1.0), (-3.0, 1e-3)])
def test_units_of_the_target_carry_over(shift: float, scale: float) -> None:
    data = sample(50, 3)
    moved = Sample(data.x, shift + scale * data.y, data.w).fit(scale)
    assert moved.converged_
    expected = shift + scale * data.fit(1.0).predict(data.x)
    np.testing.assert_allclose(moved.predict(data.x), expected, rtol=1e-9, atol=1e-5 * scale)


# Prediction.


@given(n=st.integers(1, 50), p=st.integers(1, 7), offset=st.integers(0, 9), seed=st.integers(0, 99))
def test_a_row_alone_has_the_bits_it_has_in_a_batch(n: int, p: int, offset: int, seed: int) -> None:
    hull = sample(30, p, seed).fit(5.0)
    rows = np.random.default_rng(seed).normal(size=n * p + offset)[offset:].reshape(n, p)
    together = hull.predict(rows)
    np.testing.assert_array_equal(np.concatenate([hull.predict(row[None]) for row in rows]), together)
    np.testing.assert_array_equal(hull.predict(np.asfortranarray(rows)), together)
    np.testing.assert_array_equal(hull.predict(rows[::-1])[::-1], together)


def test_prediction_is_the_sum_of_the_stumps() -> None:
    data = sample(200, 4)
    hull, rows = data.fit(4.0), sample(70, 4, seed=1).x
    stumps = rows[:, hull.features_] > hull.thresholds_
    np.testing.assert_allclose(hull.predict(rows), hull.intercept_ + stumps @ hull.weights_, atol=1e-13)
    assert (np.abs(hull.weights_) > 0.0).all()


def test_thresholds_stand_between_values_however_close() -> None:
    low = np.array([0.0, 1.0, -1.7e308, 5e-324])
    x = np.stack([low, np.nextafter(low, np.inf), np.array([1.0, 7.0, 1.7e308, 1.0])])
    for j in range(x.shape[1]):
        hull = StumpHull(budget=10.0).fit(x[:, [j]], [0.0, 1.0, 3.0])
        np.testing.assert_allclose(hull.predict(x[:, [j]]), [0.0, 1.0, 3.0], atol=1e-9)


# Small, empty and copied inputs.


@pytest.mark.parametrize(
    ("x", "budget"),
    [
        (np.zeros((3, 0)), 1.0),
        (np.full((3, 2), 0.1), 1.0),
        (np.eye(3), 0.0),
    ],
    ids=["no columns", "constant columns", "no budget"],
)
def test_without_a_stump_to_use_the_fit_is_the_mean(x: Floats, budget: float) -> None:
    hull = StumpHull(budget=budget).fit(x, [1.0, 2.0, 6.0], [1.0, 2.0, 1.0])
    np.testing.assert_allclose(hull.predict(x), 2.75)
    assert (hull.gap_, hull.n_iter_, hull.converged_, hull.weights_.size) == (0.0, 0, True, 0)
    assert not StumpHull(budget=budget, fit_intercept=False).fit(x[:1], [1.0]).predict(x).any()


@pytest.mark.parametrize("y", [[0.1], [0.1] * 7])
def test_equal_targets_are_met_exactly(y: list[float]) -> None:
    hull = StumpHull().fit(sample(len(y), 2).x, y)
    assert set(hull.predict(sample(5, 2).x)) == {0.1}
    assert hull.converged_


def test_columns_that_rank_rows_alike_count_once_and_mirrored_ones_do_no_harm() -> None:
    data = sample(80, 2)
    copies = Sample(np.hstack([data.x, np.exp(data.x), data.x]), data.y, data.w).fit(3.0)
    np.testing.assert_array_equal(copies.thresholds_, data.fit(3.0).thresholds_)
    mirrored = Sample(np.hstack([data.x, -data.x]), data.y, data.w)
    hull = mirrored.fit(3.0)
    assert hull.converged_
    np.testing.assert_allclose(hull.predict(mirrored.x), data.fit(3.0).predict(data.x), atol=1e-4)


def test_a_task_holds_targets_too_small_for_its_budget() -> None:
    cuts = Cuts.of(np.array([[0.0], [1.0]]))
    task = Task.of(cuts, np.array([0.0, 5e-324]), np.array([0.5, 0.5]), 1.0, centred=True)
    assert np.isfinite(task.budget)

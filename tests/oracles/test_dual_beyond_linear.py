"""The search over weighted regressions: a feasible answer where risks jump, and in other classes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import Lasso
from sklearn.tree import DecisionTreeRegressor

from gyrfalcon.core.arrays import Floats
from gyrfalcon.oracles.solvers.dual_search import dual_search
from tests.oracles.search_problems import Problem, Risks, made_up, problem, weighted

# Regressions that do not behave


@pytest.mark.parametrize("edge", [1e-7, 1e-3, 0.37, 5.0, 1e4, 1e9])
def test_a_jump_is_returned_from_its_feasible_side(edge: float) -> None:
    fit = dual_search(made_up(lambda m: 0.5 if m < edge else 0.001), 0.05)
    assert fit.multiplier == pytest.approx(edge, rel=1e-9)
    assert fit.multiplier >= edge
    assert fit.excess == pytest.approx(0.001)
    assert not fit.converged
    assert fit.n_regressions < 55


def test_a_jump_right_after_zero_is_followed_down() -> None:
    fit = dual_search(made_up(lambda m: 0.5 if m == 0.0 else 0.01 / (1 + m) ** 2), 0.05)
    assert fit.multiplier <= 1e-10
    assert fit.converged
    assert fit.n_regressions <= 12


@pytest.mark.parametrize("excess", [lambda m: 0.5 + 0 * m, lambda m: 0.1 + m / (1 + m)])
def test_a_constraint_that_only_the_passive_fit_keeps(excess: Callable[[float], float]) -> None:
    fit = dual_search(made_up(excess), 0.05)
    assert (fit.multiplier, fit.excess, fit.converged) == (math.inf, 0.0, False)
    assert fit.n_regressions <= 15


@pytest.mark.parametrize("size", [1e-1, 1e-3, 1e-6])
def test_noise_ends_close_to_the_slack(size: float) -> None:
    rng = np.random.default_rng(0)
    fit = dual_search(made_up(lambda m: (1 + size * rng.normal()) / (1 + m) ** 2), 0.05)
    assert 0.05 * (1 - 10 * size) <= fit.excess <= 0.05
    assert fit.n_regressions < 60


@pytest.mark.parametrize(
    "excess", [lambda m: (1 + 0.9 * math.sin(5 * m)) / (1 + m) ** 2, lambda m: 0.06 + 0.05 * math.sin(37 * m)]
)
def test_an_excess_that_rises_and_falls_ends_at_one_of_its_crossings(
    excess: Callable[[float], float],
) -> None:
    fit = dual_search(made_up(excess), 0.05)
    assert fit.converged
    assert 0.05 * (1 - 1e-8) <= fit.excess <= 0.05


@pytest.mark.parametrize("slack", [0.05, 1e-3, 1e-9])
def test_a_passive_fit_that_is_not_the_best_does_not_stop_the_search(slack: float) -> None:
    fit = dual_search(made_up(lambda m: 1 / (1 + m) ** 2 - 0.2), slack)
    assert fit.converged
    assert fit.multiplier == pytest.approx((0.2 + slack) ** -0.5 - 1, rel=1e-7)
    assert fit.n_regressions <= 12


@given(st.integers(0, 2**32), st.sampled_from([1, 2, 5, 50]), st.integers(2, 60))
def test_whatever_the_excess_does_the_fit_keeps_the_constraint(seed: int, n_levels: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    tried: dict[float, Risks] = {}

    def solve(multiplier: float) -> Risks:
        level = 1.0 if multiplier == math.inf else float(rng.integers(-1, n_levels + 1)) / n_levels
        tried[multiplier] = Risks(float(rng.random()), level)
        return tried[multiplier]

    fit = dual_search(solve, 0.3, max_regressions=most)
    assert fit.excess <= 0.3
    assert fit.solution is tried[fit.multiplier]
    assert fit.n_regressions == len(tried) <= most
    if not fit.converged:
        kept = [risks.active_risk for risks in tried.values() if risks.passive_risk - fit.alpha <= 0.3]
        assert fit.solution.active_risk == min(kept)


def test_regressions_that_run_out_leave_a_feasible_fit() -> None:
    each = problem("rarely seen", 1)
    for most in range(2, 6):
        fit = dual_search(each.solve(), 1e-4, max_regressions=most, tolerance=1e-12)
        assert fit.n_regressions == most
        assert fit.excess <= 1e-4
        assert not fit.converged


# Other classes


def _curve(seed: int) -> tuple[Floats, Floats, Floats, Floats]:
    """One feature; active rows see its upper half more often, and a step there that passive rows do not."""
    rng = np.random.default_rng(seed)
    x, x_passive = np.sqrt(rng.random(120)), rng.random(60)
    r = x**2 + 0.5 * (x > 0.7) + 0.2 * rng.normal(size=120)
    return x[:, None], r, x_passive[:, None], x_passive**2 + 0.2 * rng.normal(size=60)


def _isotonic(total_weight: float) -> Any:
    return IsotonicRegression(out_of_bounds="clip")


def _tree(total_weight: float) -> Any:
    return DecisionTreeRegressor(max_depth=3, random_state=0)


@pytest.mark.parametrize("slack", [0.02, 0.002])
@pytest.mark.parametrize("seed", range(3))
def test_increasing_functions_reach_the_bound_of_the_dual(seed: int, slack: float) -> None:
    solve = weighted(_isotonic, *_curve(seed))
    fit = dual_search(solve, slack)
    assert fit.converged
    assert fit.n_regressions <= 20

    def dual(multiplier: float) -> float:
        other = solve(multiplier)
        return other.active_risk + multiplier * (other.passive_risk - fit.alpha - slack)

    bounds = [dual(fit.multiplier * factor) for factor in (0.1, 0.5, 0.9, 1.0, 1.1, 2.0, 10.0)]
    assert fit.solution.active_risk == pytest.approx(max(bounds), abs=1e-8)


@pytest.mark.parametrize("slack", [0.05, 0.01, 0.002])
def test_trees_keep_the_constraint(slack: float) -> None:
    solve = weighted(_tree, *_curve(0))
    fit = dual_search(solve, slack)
    assert fit.excess <= slack
    assert fit.n_regressions < 60
    assert fit.solution.active_risk <= solve(math.inf).active_risk


def _lasso_problem() -> Problem:
    return problem("plain", 5)


def test_a_fixed_lasso_penalty_is_one_more_convex_class() -> None:
    each = _lasso_problem()

    def lasso(total_weight: float) -> Any:
        return Lasso(alpha=5.0 / total_weight, fit_intercept=False, tol=1e-12, max_iter=100_000)

    fit = dual_search(weighted(lasso, each.X, each.r, each.X_passive, each.r_passive), 0.01)
    assert fit.converged
    assert fit.n_regressions <= 20


def test_a_lasso_penalty_that_grows_with_the_weights_keeps_the_constraint() -> None:
    each = _lasso_problem()

    def lasso(total_weight: float) -> Any:
        return Lasso(alpha=0.05, fit_intercept=False, tol=1e-12, max_iter=100_000)

    for slack in [0.1, 0.01, 1e-3]:
        fit = dual_search(weighted(lasso, each.X, each.r, each.X_passive, each.r_passive), slack)
        assert fit.excess <= slack
        assert fit.n_regressions < 60

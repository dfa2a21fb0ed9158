"""The search over weighted regressions: the exact answer in linear classes, a feasible one in every other."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.tree import DecisionTreeRegressor

from gyrfalcon.core.types import Floats, Ints
from gyrfalcon.oracles.constrained import ConstrainedFit, constrained_least_squares
from gyrfalcon.oracles.dual import DualFit, dual_search

N_PER_KIND = 40
KINDS = ["plain", "badly scaled", "rarely seen", "few passive rows", "blocks", "ridge"]


@dataclass(frozen=True)
class Fitted:
    """A fitted regressor with its predictions on active and then passive rows."""

    predictions: Floats
    active_risk: float
    passive_risk: float


@dataclass(frozen=True)
class Risks:
    """A made-up solution."""

    active_risk: float
    passive_risk: float


@dataclass(frozen=True)
class Problem:
    """Active and passive rows; `blocks` and `blocks_passive` number the rows' own sets of columns."""

    X: Floats
    r: Floats
    X_passive: Floats
    r_passive: Floats
    slack: float
    ridge: float = 0.0
    blocks: Ints | None = None
    blocks_passive: Ints | None = None

    def exact(self) -> ConstrainedFit:
        return constrained_least_squares(
            self.X,
            self.r,
            self.X_passive,
            self.r_passive,
            self.slack,
            self.ridge,
            blocks=self.blocks,
            blocks_passive=self.blocks_passive,
        )

    def wide(self) -> tuple[Floats, Floats]:
        """Both designs with the columns of all blocks side by side."""
        if self.blocks is None or self.blocks_passive is None:
            return self.X, self.X_passive
        return _spread_out(self.X, self.blocks), _spread_out(self.X_passive, self.blocks_passive)

    def exact_predictions(self) -> Floats:
        return np.asarray(np.vstack(self.wide()) @ self.exact().coefficients.ravel())

    def solve(self) -> Callable[[float], Fitted]:
        def linear(total_weight: float) -> Any:
            if self.ridge:
                return Ridge(alpha=self.ridge, fit_intercept=False, solver="svd")
            return LinearRegression(fit_intercept=False)

        X, X_passive = self.wide()
        return weighted(linear, X, self.r, X_passive, self.r_passive)


def _spread_out(X: Floats, blocks: Ints) -> Floats:
    return np.concatenate([X * (blocks == block)[:, None] for block in range(3)], axis=1)


def weighted(
    make: Callable[[float], Any], X: Floats, r: Floats, X_passive: Floats, r_passive: Floats
) -> Callable[[float], Fitted]:
    """One weighted regression for each multiplier, by what `make` makes for a total weight."""
    rows, rewards = np.concatenate([X, X_passive]), np.concatenate([r, r_passive])
    n, n_passive = len(r), len(r_passive)

    def solve(multiplier: float) -> Fitted:
        weights = np.concatenate([np.ones(n), np.full(n_passive, multiplier * n / n_passive)])
        if multiplier == math.inf:
            weights = np.concatenate([np.zeros(n), np.ones(n_passive)])
        seen = weights > 0.0
        model = make(float(weights.sum()))
        model.fit(rows[seen], rewards[seen], sample_weight=weights[seen])
        predictions = model.predict(rows)
        squares = (predictions - rewards) ** 2
        return Fitted(predictions, float(squares[:n].mean()), float(squares[n:].mean()))

    return solve


def problem(kind: str, seed: int) -> Problem:
    """A generic problem: truths that differ between active and passive rows, noise, and some slack."""
    rng = np.random.default_rng([KINDS.index(kind), seed])
    d = int(rng.integers(1, 9))
    n = int(rng.integers(4 * d + 4, 200))
    n_passive = (
        int(rng.integers(1, d + 1)) if kind == "few passive rows" else int(rng.integers(2 * d + 2, 80))
    )
    X, X_passive = rng.normal(size=(n, d)), rng.normal(size=(n_passive, d))
    blocks = blocks_passive = None
    if kind == "badly scaled":
        scales = 10.0 ** rng.uniform(-3, 3, size=d)
        X, X_passive = X * scales, X_passive * scales
    if kind == "rarely seen":
        X = X * 10.0 ** rng.uniform(-2, 0, size=d)
    if kind == "blocks":
        blocks, blocks_passive = np.arange(n) % 3, np.arange(n_passive) % 3
    size = np.sqrt((X_passive**2).mean(axis=0))
    truth = rng.normal(size=d) / size
    drift = 10.0 ** rng.uniform(-2, 0) * rng.normal(size=d) / size
    r = X @ truth + 0.5 * rng.normal(size=n)
    r_passive = X_passive @ (truth + drift) + 0.5 * rng.normal(size=n_passive)
    slack = float(10.0 ** rng.uniform(-5, -0.5))
    ridge = float(10.0 ** rng.uniform(-2, 1)) if kind == "ridge" else 0.0
    return Problem(X, r, X_passive, r_passive, slack, ridge, blocks, blocks_passive)


@cache
def fits(kind: str) -> list[tuple[Problem, DualFit[Fitted]]]:
    problems = [problem(kind, seed) for seed in range(N_PER_KIND)]
    return [(each, dual_search(each.solve(), each.slack)) for each in problems]


def binding_fits() -> list[tuple[Problem, DualFit[Fitted]]]:
    return [(each, fit) for kind in KINDS for each, fit in fits(kind) if fit.binding]


def made_up(excess: Callable[[float], float], alpha: float = 0.25) -> Callable[[float], Risks]:
    """Regressions with a given passive excess and an active risk that grows with the multiplier."""

    def solve(multiplier: float) -> Risks:
        if multiplier == math.inf:
            return Risks(2.0, alpha)
        return Risks(1.0 + multiplier / (1.0 + multiplier), alpha + excess(multiplier))

    return solve


# The exact answer


@pytest.mark.parametrize(("slack", "theta", "multiplier"), [(0.04, 0.2, 4.0), (0.25, 0.5, 1.0)])
def test_constants_have_a_known_answer(slack: float, theta: float, multiplier: float) -> None:
    ones, zeros = np.ones((2, 1)), np.zeros(2)
    fit = dual_search(Problem(ones, ones[:, 0], ones, zeros, slack).solve(), slack)
    np.testing.assert_allclose(fit.solution.predictions, theta, rtol=1e-8)
    assert fit.multiplier == pytest.approx(multiplier, rel=1e-7)
    assert (fit.alpha, fit.slack, fit.binding, fit.converged) == (0.0, slack, True, True)
    assert fit.n_regressions == 3


@pytest.mark.parametrize("kind", KINDS)
def test_linear_classes_agree_with_the_exact_solver(kind: str) -> None:
    for each, fit in fits(kind):
        exact = each.exact()
        assert fit.converged
        assert fit.excess <= each.slack
        assert fit.alpha == pytest.approx(exact.alpha, rel=1e-9, abs=1e-12)
        assert fit.binding == exact.binding
        np.testing.assert_allclose(fit.solution.predictions, each.exact_predictions(), atol=1e-6)


def test_most_generic_problems_bind() -> None:
    assert len(binding_fits()) >= 200


def test_few_regressions_are_enough() -> None:
    counts = [fit.n_regressions for _, fit in binding_fits()]
    assert np.median(counts) <= 8
    assert np.quantile(counts, 0.95) <= 12
    assert max(counts) <= 20


def test_a_direction_that_only_passive_rows_see_costs_no_active_risk() -> None:
    rng = np.random.default_rng(3)
    X, X_passive = rng.normal(size=(60, 4)), rng.normal(size=(30, 4))
    X[:, 2:] = 0.0
    r, r_passive = X @ np.ones(4), X_passive @ np.full(4, 1.1) + 0.1 * rng.normal(size=30)
    each = Problem(X, r, X_passive, r_passive, slack=0.05)
    fit = dual_search(each.solve(), each.slack)
    assert each.exact().multiplier == 0.0
    assert fit.multiplier <= 1e-10
    assert fit.converged
    np.testing.assert_allclose(fit.solution.predictions, each.exact_predictions(), atol=1e-6)


@given(
    curvatures=st.lists(st.floats(-6, 6), min_size=1, max_size=6),
    weights=st.lists(st.floats(0.01, 1), min_size=6, max_size=6),
    share=st.floats(1e-8, 0.999),
)
@settings(deadline=None)
def test_any_spectrum_is_solved(curvatures: list[float], weights: list[float], share: float) -> None:
    s = 10.0 ** np.array(curvatures)
    u = np.array(weights[: len(s)])

    def solve(multiplier: float) -> Risks:
        pull = 0.0 * s if multiplier == math.inf else s / (s + multiplier)
        return Risks(float((s * u**2 * (1.0 - pull) ** 2).sum()), float((u**2 * pull**2).sum()))

    slack = share * float((u**2).sum())
    fit = dual_search(solve, slack)
    assert fit.converged
    assert slack * (1 - 1e-8) <= fit.excess <= slack
    assert fit.n_regressions <= 30


# The ends of the scale


def test_an_inactive_constraint_has_multiplier_zero_exactly() -> None:
    each = problem("plain", 0)
    fit = dual_search(each.solve(), 1e6)
    assert (fit.multiplier, fit.binding, fit.converged, fit.n_regressions) == (0.0, False, True, 2)
    np.testing.assert_array_equal(fit.solution.predictions, each.solve()(0.0).predictions)
    assert fit.excess == fit.solution.passive_risk - fit.alpha


def test_no_slack_is_the_passive_fit() -> None:
    each = problem("plain", 0)
    fit = dual_search(each.solve(), 0.0)
    assert (fit.multiplier, fit.binding, fit.converged, fit.n_regressions) == (math.inf, True, True, 2)
    assert (fit.excess, fit.alpha) == (0.0, fit.solution.passive_risk)


def test_slack_below_the_rounding_of_alpha_is_no_slack() -> None:
    fit = dual_search(made_up(lambda m: 1 / (1 + m) ** 2), 1e-18)
    assert (fit.multiplier, fit.n_regressions, fit.converged) == (math.inf, 2, True)


def test_infinite_slack_asks_for_the_active_fit_alone() -> None:
    asked = []

    def solve(multiplier: float) -> Risks:
        asked.append(multiplier)
        return Risks(0.5, 0.0)

    fit = dual_search(solve, math.inf)
    assert asked == [0.0]
    assert (fit.multiplier, fit.alpha, fit.excess, fit.n_regressions) == (0.0, 0.0, 0.0, 1)
    assert not fit.binding
    assert fit.converged


# A first guess


def test_the_multiplier_of_the_same_fit_is_found_at_once() -> None:
    for each, fit in binding_fits()[::10]:
        again = dual_search(each.solve(), each.slack, guess=fit.multiplier)
        assert again.n_regressions == 3
        assert again.multiplier == fit.multiplier


def test_a_near_guess_saves_regressions_where_they_are_many() -> None:
    hard = [(each, fit) for each, fit in binding_fits() if fit.n_regressions >= 8]
    near = [dual_search(each.solve(), each.slack, guess=1.01 * fit.multiplier) for each, fit in hard]
    saved = [fit.n_regressions - other.n_regressions for (_, fit), other in zip(hard, near, strict=True)]
    assert len(hard) >= 10
    assert np.mean(saved) >= 1


@pytest.mark.parametrize("guess", [0.0, 1e-300, 1e-6, 1e6, 1e300, math.inf])
def test_a_bad_guess_does_little_harm(guess: float) -> None:
    fit = dual_search(made_up(lambda m: 0.9 / (1 + m) ** 2 + 0.1 / (0.1 + m) ** 2), 0.05, guess=guess)
    assert fit.converged
    assert fit.n_regressions <= 12


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
@settings(deadline=None)
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


# What it refuses


@pytest.mark.parametrize("bad", [0.0, 4.0, math.inf])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_risk_that_is_no_number_names_its_multiplier(bad: float, value: float) -> None:
    def solve(multiplier: float) -> Risks:
        excess = 0.0 if multiplier == math.inf else 1 / (1 + multiplier) ** 2
        near = multiplier == bad or abs(multiplier - bad) < 1e-6
        return Risks(0.0 if multiplier == 0.0 else 1.0 - excess, value if near else excess)

    with pytest.raises(ValueError, match=rf"multiplier {bad:.3g}.* passive risk {value}"):
        dual_search(solve, 0.04, guess=4.0)


@pytest.mark.parametrize(
    ("chosen", "match"),
    [
        ({"slack": -0.1}, "slack is -0.1"),
        ({"slack": math.nan}, "slack is nan"),
        ({"slack": 0.1, "guess": -1.0}, "guess is -1.0"),
        ({"slack": 0.1, "guess": math.nan}, "guess is nan"),
        ({"slack": 0.1, "tolerance": 0.0}, "tolerance is 0.0"),
        ({"slack": 0.1, "max_regressions": 1}, "max_regressions is 1"),
    ],
)
def test_settings_that_make_no_sense(chosen: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        dual_search(made_up(lambda m: 1 / (1 + m) ** 2), **chosen)

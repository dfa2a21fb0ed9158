"""The search over weighted regressions: the exact answer in linear classes, its ends and its refusals."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.oracles.solvers.dual_search import DualFit, dual_search
from tests.oracles.search_problems import KINDS, Fitted, Problem, Risks, made_up, problem

N_PER_KIND = 40


@cache
def fits(kind: str) -> list[tuple[Problem, DualFit[Fitted]]]:
    problems = [problem(kind, seed) for seed in range(N_PER_KIND)]
    return [(each, dual_search(each.solve(), each.slack)) for each in problems]


def binding_fits() -> list[tuple[Problem, DualFit[Fitted]]]:
    return [(each, fit) for kind in KINDS for each, fit in fits(kind) if fit.binding]


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

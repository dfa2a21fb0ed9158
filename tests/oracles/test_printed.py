"""The paper's Algorithm 2 as printed: where it works, and what is wrong with it, in numbers."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest

from gyrfalcon.oracles.solvers.algorithm_2 import printed_search
from gyrfalcon.oracles.solvers.dual_search import DualFit, dual_search
from tests.oracles.search_problems import Fitted, Problem, Risks, problem


def constants(multiplier: float) -> Risks:
    """The constant for active rewards of 1 and passive rewards of 0: slack 1 / (1 + m)^2 has multiplier m."""
    constant = 0.0 if multiplier == math.inf else 1.0 / (1.0 + multiplier)
    return Risks((1.0 - constant) ** 2, constant**2)


@cache
def races() -> list[tuple[Problem, DualFit[Fitted], DualFit[Fitted]]]:
    """Generic problems with the fits of both searches."""
    problems = [problem(kind, seed) for kind in ("plain", "rarely seen") for seed in range(10)]
    return [
        (each, dual_search(each.solve(), each.slack), printed_search(each.solve(), each.slack))
        for each in problems
    ]


def test_constants_have_a_known_answer() -> None:
    fit = printed_search(constants, 0.04)
    assert fit.multiplier == pytest.approx(4.0, abs=1e-5)
    assert fit.excess == pytest.approx(0.04, rel=1e-5)
    assert (fit.alpha, fit.slack, fit.binding, fit.converged) == (0.0, 0.04, True, True)


def test_generic_problems_are_solved_to_a_few_digits() -> None:
    for _, ours, printed in races():
        if ours.binding:
            np.testing.assert_allclose(printed.solution.predictions, ours.solution.predictions, atol=1e-2)


def test_it_takes_several_times_the_regressions() -> None:
    counts = np.array(
        [(ours.n_regressions, printed.n_regressions) for _, ours, printed in races() if ours.binding]
    )
    assert len(counts) >= 15
    assert np.median(counts[:, 0]) <= 10
    assert 50 <= np.median(counts[:, 1]) <= 60
    assert counts[:, 1].min() > counts[:, 0].max()


def test_every_regression_is_counted() -> None:
    asked = []

    def solve(multiplier: float) -> Risks:
        asked.append(multiplier)
        return constants(multiplier)

    fit = printed_search(solve, 0.04)
    assert fit.n_regressions == len(asked)
    assert len(set(asked)) == len(asked)


def test_many_of_its_fits_break_the_constraint() -> None:
    broken = [printed.excess > each.slack for each, ours, printed in races() if ours.binding]
    assert np.mean(broken) > 0.25


@pytest.mark.parametrize("true_multiplier", [1023.0, 1e5])
def test_a_smaller_kappa_is_worse(true_multiplier: float) -> None:
    slack = (1.0 + true_multiplier) ** -2
    coarse, fine = (printed_search(constants, slack, kappa=kappa) for kappa in (1e-4, 1e-12))
    assert coarse.multiplier == pytest.approx(true_multiplier, rel=0.01)
    assert fine.multiplier < 0.6 * true_multiplier
    assert fine.excess > 3 * slack
    assert fine.converged
    assert fine.n_regressions > coarse.n_regressions
    assert dual_search(constants, slack).multiplier == pytest.approx(true_multiplier, rel=1e-6)


def test_an_inactive_constraint_costs_as_much_and_ends_beside_zero() -> None:
    fit = printed_search(constants, 1.5)
    assert 0.0 < fit.multiplier < 1e-6
    assert fit.binding
    assert fit.n_regressions == 45
    ours = dual_search(constants, 1.5)
    assert (ours.multiplier, ours.binding, ours.n_regressions) == (0.0, False, 2)


def test_without_slack_it_stops_by_rounding_alone() -> None:
    fit = printed_search(constants, 0.0)
    assert 1e6 < fit.multiplier < 1e10
    assert fit.excess > 0.0
    assert fit.n_regressions > 100


def test_regressions_that_run_out_are_no_convergence() -> None:
    fit = printed_search(constants, 0.04, max_regressions=20)
    assert fit.n_regressions <= 20
    assert not fit.converged


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"slack": -0.1}, "slack is -0.1"),
        ({"slack": math.inf}, "slack is inf"),
        ({"slack": 0.1, "kappa": 0.0}, "kappa is 0.0"),
        ({"slack": 0.1, "max_regressions": 3}, "max_regressions is 3"),
    ],
)
def test_settings_that_make_no_sense(settings: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        printed_search(constants, **settings)

"""Specification tests: their size and power, what they do not depend on, and what they refuse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from benchmarks.specification import TESTED, Case, rejections
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2
from sklearn.linear_model import LinearRegression

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.environments.synthetic.action_features import ActionFeatureEnvironment
from gyrfalcon.estimates.misspecification.added_terms import added_terms, independent_part
from gyrfalcon.estimates.misspecification.residual_tests import Residuals, added_terms_test, kernel_test
from gyrfalcon.estimates.misspecification.result import NotEstimableError
from gyrfalcon.estimates.misspecification.sign_flips import drawn_signs, exceedance, n_draws_of
from gyrfalcon.estimates.misspecification.specification_result import holm_adjusted
from gyrfalcon.estimates.misspecification.specification_tests import specification_test
from gyrfalcon.oracles.features.bases import Polynomial
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.regressors.regressor import Regressor
from tests.estimates.rows import line_log, step_log
from tests.estimates.test_misspecification import environment_log


@pytest.mark.parametrize(
    "case",
    [
        Case("linear", 200, 1, 2, "unequal", "uniform"),
        Case("linear", 300, 3, 2, "0 or 1", "uniform"),
        Case("linear", 300, 2, 3, "skewed", "greedy 0.3"),
        Case("linear", 300, 2, 2, "unequal", "EpsilonGreedy"),
        Case("linear", 5000, 2, 3, "clicks", "uniform"),
    ],
)
def test_few_of_two_hundred_linear_logs_are_rejected(case: Case) -> None:
    # At a size of 0.05 more than 20 come once in 900 runs; at one of 0.15 at most 20 come once in 50.
    assert rejections(case, 200).both <= 20 / 200


def test_all_logs_with_a_step_are_rejected() -> None:
    found = rejections(Case("step", 300, 1, 2, "normal", "uniform"), 20)
    assert (found.both, found.reset, found.kernel) == (1.0, 1.0, 1.0)


@pytest.mark.long
@pytest.mark.parametrize("case", TESTED, ids=repr)
def test_a_thousand_logs_of_each_case(case: Case) -> None:
    found = rejections(case, 1000)
    if case.means == "linear":
        assert 0.03 <= found.both <= 0.07
    else:
        assert found.both > 0.9


@given(st.floats(0.01, 1000.0), st.floats(-5.0, 5.0), st.floats(-5.0, 5.0), st.integers(0, 10**6))
def test_units_of_rewards_and_linear_parts_change_nothing(
    scale: float, level: float, slope: float, seed: int
) -> None:
    log = step_log(np.random.default_rng(seed), 120, height=0.3)
    lifted = replace(log, reward=scale * (log.reward + level + slope * log.contexts.shared[:, 0]))
    one, other = (
        added_terms_test(Residuals.of(Linear().oracle(log.contexts, 2), rows, None))
        for rows in (log, replace(log, reward=scale * log.reward))
    )
    assert other.statistic == pytest.approx(one.statistic, rel=1e-6)
    kernel, shifted = (
        kernel_test(Residuals.of(Linear().oracle(log.contexts, 2), rows, None)) for rows in (log, lifted)
    )
    assert shifted.statistic == pytest.approx(kernel.statistic, rel=1e-5, abs=1e-8)
    assert shifted.p_value == pytest.approx(kernel.p_value, abs=2 / 400)


def test_the_statistic_of_added_terms_is_about_chi_square() -> None:
    case = Case("linear", 1000, 1, 2, "unequal", "uniform")
    found = []
    for seed in range(200):
        log = case.log(seed)
        found.append(added_terms_test(Residuals.of(Linear().oracle(log.contexts, 2), log, None)))
    statistics = np.array([one.statistic for one in found])
    (degrees,) = {one.n_terms for one in found}
    # The mean of 200 has a standard error of sqrt(2 q / 200).
    assert statistics.mean() == pytest.approx(degrees, abs=4.0 * np.sqrt(2.0 * degrees / 200))
    by_chi_square = chi2.sf(statistics, degrees)
    by_signs = np.array([one.p_value for one in found])
    assert np.abs(by_chi_square - by_signs).max() < 0.1


def test_the_wrong_action_is_named() -> None:
    found = specification_test(step_log(np.random.default_rng(1), 600), 2)
    assert found.p_values_by_action[0] < 0.01 < found.p_values_by_action[1]
    assert found.rejects(0.01)


def test_an_interaction_is_found_and_its_feature_removes_it() -> None:
    rng = np.random.default_rng(2)
    log = line_log(rng, 800, d=3)
    x = log.contexts.shared
    product = (x[:, 0] - 0.5) * (x[:, 1] - 0.5)
    bent = replace(log, reward=log.reward + 0.8 * product)
    assert specification_test(bent, 2).rejects(0.01)
    known = replace(bent, contexts=Contexts(np.column_stack([x, product])))
    assert not specification_test(known, 2).rejects(0.01)
    assert not specification_test(bent, 2, Linear(basis=Polynomial(degree=2))).rejects(0.01)


def test_actions_with_features_share_coefficients() -> None:
    environment = ActionFeatureEnvironment(n_actions=4, n_features=2, n_action_features=2)
    log = environment_log(environment, 900)
    found = specification_test(log, environment.problem)
    assert not found.rejects(0.01)
    assert found.p_values_by_action == {}
    assert log.contexts.actions is not None
    own = log.contexts.actions[np.arange(900), log.action, 0]
    bent = replace(log, reward=log.reward + 0.3 * np.cos(4.0 * own))
    assert specification_test(bent, environment.problem).rejects(0.01)


def test_a_shift_of_one_action_is_found_where_coefficients_are_shared() -> None:
    environment = ActionFeatureEnvironment(n_actions=5, n_features=1, n_action_features=1)
    log = environment_log(environment, 900)
    shifted = replace(log, reward=log.reward + 0.2 * (log.action == 2))
    assert specification_test(shifted, environment.problem, method="reset").rejects(0.01)


def test_many_rows_are_thinned_for_the_kernel_test_only() -> None:
    found = specification_test(step_log(np.random.default_rng(3), 2500), 2)
    assert [one.n_rows for one in found.tests] == [2500, 2000]
    assert found.rejects(0.01)


@pytest.mark.parametrize("method", ["reset", "kernel"])
def test_a_single_test_is_not_adjusted(method: Any) -> None:
    found = specification_test(step_log(np.random.default_rng(4), 200), 2, method=method)
    (only,) = found.tests
    assert found.p_value == only.p_value == only.adjusted_p_value
    assert only.method == method


def test_the_same_seed_gives_the_same_p_values() -> None:
    log = line_log(np.random.default_rng(5), 200)
    assert specification_test(log, 2, seed=3) == specification_test(log, 2, seed=3)


def test_what_tests_refuse() -> None:
    log = step_log(np.random.default_rng(6), 100)
    with pytest.raises(NotEstimableError, match="specification tests are of linear classes"):
        specification_test(log, 2, Regressor(LinearRegression()))
    with pytest.raises(NotEstimableError, match="nearly"):
        specification_test(log.take(slice(0, 12)), 2)
    exact = replace(log, reward=0.1 + 0.2 * log.contexts.shared[:, 0])
    with pytest.raises(NotEstimableError, match="exactly"):
        specification_test(exact, 2)
    with pytest.raises(NotEstimableError, match=r"are 0\.25"):
        specification_test(replace(log, reward=np.full(100, 0.25)), 2)
    with pytest.raises(ValueError, match="method"):
        specification_test(log, 2, method="F")  # type: ignore[arg-type]


def test_without_features_that_vary_nothing_speaks_against_a_class() -> None:
    rng = np.random.default_rng(7)
    log = line_log(rng, 200)
    plain = replace(log, contexts=Contexts(np.zeros((200, 0))), reward=rng.random(200))
    assert specification_test(plain, 2, method="reset").p_value == 1.0
    assert not specification_test(plain, 2).rejects(0.001)


def test_the_paper_example_at_a_thousand_rows() -> None:
    outcomes, action = StepExample().draw(0, 1000, seed=3), np.arange(1000) % 2
    reward = outcomes.rewards[np.arange(1000), action]
    log = StepExample().problem.log(outcomes.contexts, action + 1, reward, propensities="uniform")
    assert specification_test(log, StepExample().problem).p_value == pytest.approx(0.002)


@given(st.lists(st.floats(0.0001, 1.0), min_size=1, max_size=6))
def test_holm_is_between_the_p_values_and_bonferroni(values: list[float]) -> None:
    adjusted = holm_adjusted(values)
    assert all(
        one <= other <= min(len(values) * one, 1.0) + 1e-12 or other == max(adjusted)
        for one, other in zip(values, adjusted, strict=True)
    )
    assert min(adjusted) == pytest.approx(min(min(values) * len(values), 1.0))
    assert np.argsort(values, kind="stable").tolist() == np.lexsort((values, adjusted)).tolist()


def test_terms_are_as_many_as_rows_bear_and_independent_of_the_class() -> None:
    rng = np.random.default_rng(8)
    points, fitted, actions = rng.standard_normal((400, 4)), rng.standard_normal(400), np.zeros(400, int)
    assert added_terms(points, fitted, actions, 400.0, shared=False).shape == (400, 4 + 4 + 6 + 2)
    assert added_terms(points, None, actions, 400.0, shared=False).shape == (400, 4 + 4 + 6)
    assert added_terms(points, fitted, actions, 50.0, shared=False).shape == (400, 2)
    own = np.linalg.qr(np.column_stack([np.ones(400), points]))[0]
    left = independent_part(np.column_stack([points**2, points[:, :1], points[:, :1] ** 2]), own)
    assert left.shape == (400, 4)
    assert np.abs(left.T @ own).max() < 1e-10
    assert left.T @ left == pytest.approx(np.eye(4), abs=1e-10)


def test_terms_are_fewer_where_few_rows_hold_the_noise() -> None:
    rng = np.random.default_rng(9)
    log = Case("linear", 10_000, 2, 3, "clicks", "uniform").log(0)
    n_terms = [
        specification_test(replace(log, reward=reward), 3, method="reset").tests[0].n_terms
        for reward in (log.reward, log.reward + rng.standard_normal(10_000))
    ]
    assert n_terms == [3 * 2, 3 * 6]


def test_signs_are_fair_and_p_values_never_0() -> None:
    signs = drawn_signs(500, 99, seed=1)
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert abs(signs.mean()) < 0.02
    assert exceedance(10.0, np.zeros(99)) == 0.01
    assert n_draws_of(100, 999) == 999
    assert n_draws_of(10**6, 999) == 99

"""Estimated propensities: known answers, recovery of known ones, and calibration that finds wrong ones."""

from __future__ import annotations

from string import ascii_lowercase
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.evaluation import estimated_propensities, propensity_calibration
from gyrfalcon.evaluation.propensities.multinomial_logistic import ChoiceRows, fitted_choices
from gyrfalcon.oracles import Polynomial


def drawn(probabilities: Floats, rng: np.random.Generator) -> Ints:
    """An action for each row of probabilities."""
    chosen = (probabilities.cumsum(axis=1) > rng.random((len(probabilities), 1))).argmax(axis=1)
    return np.asarray(chosen, dtype=np.int64)


def table_of(action: Ints, shared: Floats, n_actions: int, **contexts: Any) -> DecisionTable:
    n = len(action)
    return DecisionTable(
        actions=tuple(f"{letter}{place or ''}" for place in range(3) for letter in ascii_lowercase)[
            :n_actions
        ],
        contexts=Contexts(shared, **contexts),
        action=action,
        reward=np.zeros(n),
        propensity=np.full(n, np.nan),
        features=tuple(f"x{place}" for place in range(shared.shape[1])),
    )


def softmax(scores: Floats, eligible: Bools | None = None) -> Floats:
    weights = np.exp(scores) if eligible is None else np.exp(scores) * eligible
    shares: Floats = weights / weights.sum(axis=1, keepdims=True)
    return shares


def logistic_log(n: int, seed: int) -> tuple[DecisionTable, Floats]:
    """A log by a softmax of two features over four actions of which some are not eligible."""
    rng = np.random.default_rng(seed)
    shared = rng.standard_normal((n, 2)) * [1.0, 50.0]
    eligible = rng.random((n, 4)) < 0.8
    eligible[:, 0] = True
    coefficients = np.array([[0.8, -0.8, 0.2, 0.0], [0.01, 0.0, -0.02, 0.01]])
    probabilities = softmax(shared @ coefficients + [0.0, 0.5, -0.5, 0.2], eligible)
    return table_of(drawn(probabilities, rng), shared, 4, eligible=eligible), probabilities


def test_without_features_they_are_the_observed_shares() -> None:
    action = np.array([0, 1, 0, 0, 2, 0, 1, 0, 0, 1], dtype=np.int64)
    estimate = estimated_propensities(table_of(action, np.zeros((10, 0)), 3))
    np.testing.assert_allclose(estimate.probabilities, np.tile([0.6, 0.3, 0.1], (10, 1)), rtol=1e-12)
    np.testing.assert_allclose(estimate.propensity, np.array([0.6, 0.3, 0.1])[action], rtol=1e-12)
    assert estimate.calibration.is_calibrated


def test_uniform_play_of_many_actions_is_found_uniform() -> None:
    # Shares of 60 actions among 6,000 rows differ by a tenth by chance alone.
    rng = np.random.default_rng(10)
    table = table_of(rng.integers(60, size=6_000), rng.standard_normal((6_000, 2)), 60)
    estimate = estimated_propensities(table)
    np.testing.assert_allclose(estimate.probabilities * 60, 1.0, atol=0.15)
    assert estimate.calibration.is_calibrated


def test_one_feature_with_two_values_gives_the_shares_within_each_value() -> None:
    # With a free coefficient for each value and (almost) no penalty, the likelihood separates.
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=4_000)
    probabilities = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])[group]
    action = drawn(probabilities, rng)
    rows = ChoiceRows(np.where(group == 1, 1.0, -1.0)[:, None], None, np.ones((4_000, 3), dtype=bool), action)
    fitted = np.exp(rows.log_probabilities(fitted_choices(rows, 1e-9)))
    for value in (0, 1):
        shares = np.bincount(action[group == value], minlength=3) / (group == value).sum()
        np.testing.assert_allclose(
            fitted[group == value], np.tile(shares, ((group == value).sum(), 1)), atol=1e-6
        )


def test_known_propensities_are_recovered() -> None:
    # The error of a maximum likelihood estimate falls as one over the root of n.
    errors = []
    for n in (1_000, 16_000):
        table, truth = logistic_log(n, seed=1)
        estimate = estimated_propensities(table)
        errors.append(float(np.sqrt(np.mean((estimate.probabilities - truth) ** 2))))
        assert estimate.calibration.is_calibrated
    assert errors[0] < 0.04
    assert errors[1] < 0.012


def test_features_of_actions_are_used() -> None:
    rng = np.random.default_rng(2)
    cube = rng.standard_normal((5_000, 3, 1))
    truth = softmax(1.5 * cube[:, :, 0])
    table = table_of(drawn(truth, rng), np.zeros((5_000, 0)), 3, actions=cube)
    estimate = estimated_propensities(table)
    assert np.sqrt(np.mean((estimate.probabilities - truth) ** 2)) < 0.02


def test_values_by_estimated_propensities_are_right_where_those_by_shares_are_not() -> None:
    # The action depends on x, and so does the reward: shares of actions confound them.
    rng = np.random.default_rng(3)
    x = rng.standard_normal((20_000, 1))
    truth = softmax(np.column_stack([np.zeros(20_000), 1.5 * x[:, 0]]))
    action = drawn(truth, rng)
    reward = x[:, 0] + rng.standard_normal(20_000)  # either action is worth 0 on average
    table = table_of(action, x, 2)
    estimate = estimated_propensities(table)
    weights = (action == 1) / estimate.propensity
    naive = (action == 1) / (action == 1).mean()
    assert abs(np.sum(weights * reward) / np.sum(weights)) < 0.05
    assert abs(np.mean(naive * reward)) > 0.4


def test_calibration_finds_log_odds_that_are_not_linear_and_a_basis_corrects_them() -> None:
    rng = np.random.default_rng(4)
    x = rng.standard_normal((8_000, 1))
    truth = softmax(np.column_stack([np.zeros(8_000), 2.0 - 2.0 * x[:, 0] ** 2]))
    table = table_of(drawn(truth, rng), x, 2)
    wrong = np.column_stack([1.0 - x[:, 0] * 0 - 0.5, x[:, 0] * 0 + 0.5])
    report = propensity_calibration(wrong, table.action, table.eligible, table.actions)
    assert not report.is_calibrated
    estimate = estimated_propensities(table, basis=Polynomial(degree=2))
    assert estimate.calibration.is_calibrated
    assert np.sqrt(np.mean((estimate.probabilities - truth) ** 2)) < 0.02


def test_true_propensities_pass_calibration_about_as_often_as_stated() -> None:
    # 200 logs at a level of 0.01: more than 8 rejections have probability below 1e-3, were it exact.
    rng, rejected = np.random.default_rng(5), 0
    for _ in range(200):
        truth = softmax(rng.standard_normal((500, 1)) * [1.0, -1.0, 0.0])
        report = propensity_calibration(
            truth, drawn(truth, rng), np.ones((500, 3), dtype=bool), ("a", "b", "c")
        )
        rejected += not report.is_calibrated
    assert rejected <= 8


@pytest.mark.parametrize("factor", [0.5, 1.5])
def test_propensities_that_are_wrong_by_half_are_found(factor: float) -> None:
    rng = np.random.default_rng(6)
    truth = softmax(rng.standard_normal((5_000, 1)) * [0.5, -0.5, 0.0])
    claimed = truth.copy()
    claimed[:, 0] *= factor
    claimed[:, 1:] *= ((1.0 - claimed[:, 0]) / truth[:, 1:].sum(axis=1))[:, None]
    report = propensity_calibration(
        claimed, drawn(truth, rng), np.ones((5_000, 3), dtype=bool), ("a", "b", "c")
    )
    assert any(fault.startswith("action 'a'") for fault in report.faults())


def test_groups_of_a_small_log_are_those_computed_by_hand() -> None:
    probabilities = np.array([[0.5, 0.5], [0.2, 0.8], [0.2, 0.8], [1.0, 0.0]])
    eligible = probabilities > 0.0
    report = propensity_calibration(probabilities, np.array([0, 1, 0, 0]), eligible, ("a", "b"))
    first, second = report.by_action
    assert (first.n, second.n) == (4, 3)
    assert first.predicted == pytest.approx(1.9 / 4)
    assert first.observed == pytest.approx(0.75)
    assert first.z == pytest.approx((3 - 1.9) / np.sqrt(0.25 + 0.16 + 0.16))
    assert first.mean_weight == pytest.approx((2 + 5 + 1) / 4)
    assert first.z_weight == pytest.approx((8 - 4) / np.sqrt(1 + 4 + 4 + 0))
    assert second.mean_weight == pytest.approx(1.25 / 3)


def test_the_gradient_is_that_of_the_loss() -> None:
    rng = np.random.default_rng(7)
    eligible = rng.random((20, 3)) < 0.8
    eligible[:, 0] = True
    rows = ChoiceRows(
        rng.standard_normal((20, 2)), rng.standard_normal((20, 3, 2)), eligible, np.zeros(20, np.int64)
    )
    at = rng.standard_normal(rows.n_parameters)

    def loss(parameters: Any) -> float:
        return rows.loss(parameters, 0.7)[0]

    numeric = approx_fprime(at, loss, 1e-6)
    np.testing.assert_allclose(rows.loss(at, 0.7)[1], numeric, atol=1e-5)


@given(st.integers(0, 10_000), st.floats(0.0, 0.2))
def test_rows_sum_to_1_and_keep_the_floor(seed: int, floor: float) -> None:
    rng = np.random.default_rng(seed)
    eligible = rng.random((30, 4)) < 0.6
    eligible[np.arange(30), rng.integers(4, size=30)] = True
    action = np.array([rng.choice(np.flatnonzero(row)) for row in eligible], dtype=np.int64)
    action[0] = -1
    table = table_of(action, rng.standard_normal((30, 1)), 4, eligible=eligible)
    estimate = estimated_propensities(table, floor=floor, n_folds=3, ridges=(10.0,))
    np.testing.assert_allclose(estimate.probabilities.sum(axis=1), 1.0, rtol=1e-12)
    assert (estimate.probabilities[eligible] >= floor * (1.0 - 1e-12)).all()
    assert (estimate.probabilities[~eligible] == 0.0).all()
    assert np.isnan(estimate.propensity[0])
    assert estimate.table.propensity_source == "estimated"


def test_the_same_seed_gives_the_same_bits() -> None:
    table, _ = logistic_log(300, seed=8)
    first, second = (estimated_propensities(table, seed=3) for _ in range(2))
    np.testing.assert_array_equal(first.probabilities, second.probabilities)


def test_what_cannot_be_fitted_is_refused() -> None:
    table, _ = logistic_log(50, seed=9)
    table.contexts.shared[7, 0] = np.nan
    with pytest.raises(ValueError, match="row 7: a feature is missing or infinite"):
        estimated_propensities(table)
    with pytest.raises(ValueError, match="3 rows have an action; give at least one for each of 5 folds"):
        estimated_propensities(table.take(slice(0, 3)))
    with pytest.raises(ValueError, match="floor"):
        estimated_propensities(table, floor=0.5)
    eligible = np.array([[True, False]] * 5)
    table = table_of(np.array([1, 0, 0, 0, 0]), np.zeros((5, 0)), 2, eligible=eligible)
    with pytest.raises(ValueError, match="row 0: the action 'b' was not eligible"):
        estimated_propensities(table)

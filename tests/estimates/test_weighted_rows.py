"""Rows of known propensities in place of passive ones: weights, identities and coverage."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from benchmarks.specification import Case
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import PASSIVE, POLICY, Log
from gyrfalcon.estimates.misspecification.crossfit import best_risk, effective_number
from gyrfalcon.estimates.misspecification.estimate import misspecification_estimate
from gyrfalcon.estimates.misspecification.passive_rows import folds
from gyrfalcon.estimates.misspecification.result import NotEstimableError, mean_and_error
from gyrfalcon.estimates.misspecification.richer_class import dictionaries
from gyrfalcon.estimates.misspecification.row_choice import (
    evenly_spread,
    residual_rows,
    uniform_rows,
    uniform_weights,
)
from gyrfalcon.estimates.misspecification.smoother import Smoother
from gyrfalcon.estimates.misspecification.weighted_richer_class import WeightedPath, _path
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.regressors.regressor import Regressor
from tests.estimates.rows import passive_log, recurring_b, recurring_log, step_log

METHODS = ["pure_error", "residual_products", "one_step"]
GREEDY = Case("step", 600, 1, 2, "normal", "greedy 0.2")


def tilted(log: Log, seed: int = 0, least: float = 0.1) -> Log:
    """The rows of uniform play over two actions that another play keeps, with its propensities."""
    rng = np.random.default_rng(seed)
    first = least + (1.0 - 2.0 * least) * (log.contexts.shared[:, 0] > 0.5)
    p = np.where(log.action == 0, first, 1.0 - first)
    kept = rng.random(len(log)) < p
    return replace(log, propensity=p, component=np.full(len(log), POLICY)).where(kept)


def recurring_greedy(seed: int, n: int = 600) -> Log:
    return tilted(recurring_log(np.random.default_rng([1, seed]), n, 0.3, 0.2), seed)


def test_weights_count_eligible_actions() -> None:
    mask = np.array([[True, True, True], [True, False, True]])
    log = Log(
        Contexts(np.zeros((2, 1)), None, mask),
        np.array([0, 2]),
        np.array([0.0, 1.0]),
        np.array([0.5, 0.25]),
        *(np.zeros(2, dtype=np.int64) for _ in range(3)),
    )
    assert uniform_weights(log, 3).tolist() == [1 / 1.5, 2.0]


def test_mean_weights_are_one_and_their_mean_square_is_what_rows_are_worth() -> None:
    log = GREEDY.log(0)
    used = uniform_rows(log, 2)
    assert used.weights is not None
    assert used.weights.mean() == pytest.approx(1.0)
    # Half the mass has p = 0.9 and w = 0.556, the other 0.1 and 5: n / E w^2 is about 0.36 n.
    assert effective_number(used.weights) == pytest.approx(0.36 * len(log), rel=0.15)
    assert "as good as about" in used.description


@pytest.mark.parametrize("method", METHODS)
def test_a_uniform_log_has_the_same_bits_whichever_rows_are_chosen_automatically(method: Any) -> None:
    log = recurring_log(np.random.default_rng(0), 200, 0.3, 0.1)
    assert misspecification_estimate(log, 2, method=method) == misspecification_estimate(
        log, 2, method=method, rows="passive"
    )


@pytest.mark.parametrize("method", ["pure_error", "residual_products"])
def test_equal_weights_are_no_weights(method: Any) -> None:
    log = recurring_log(np.random.default_rng(1), 200, 0.3, 0.1)
    one = misspecification_estimate(log, 2, method=method, rows="passive")
    other = misspecification_estimate(log, 2, method=method, rows="all")
    assert other.untruncated == pytest.approx(one.untruncated, rel=1e-9)
    assert other.standard_error == pytest.approx(one.standard_error, rel=0.03)


def test_one_step_of_equal_weights_is_close_to_that_without() -> None:
    log = step_log(np.random.default_rng(2), 800)
    one = misspecification_estimate(log, 2, method="one_step", rows="passive")
    other = misspecification_estimate(log, 2, method="one_step", rows="all")
    assert other.untruncated == pytest.approx(one.untruncated, rel=0.1)
    assert other.is_lower_bound


def test_the_weighted_fit_is_numpys_and_its_noise_that_of_the_whole_matrix() -> None:
    rng = np.random.default_rng(3)
    log, weights = step_log(rng, 60), rng.uniform(0.2, 3.0, 60)
    oracle = Linear().oracle(log.contexts, 2)
    smoother = Smoother.of(oracle, log, weights=weights)
    roots = np.sqrt(weights)
    for action in (0, 1):
        rows = log.action == action
        x = np.column_stack([np.ones(rows.sum()), log.contexts.shared[rows, 0]])
        own = np.linalg.lstsq(x * roots[rows, None], roots[rows] * log.reward[rows])[0]
        left = smoother.residuals(roots * log.reward)[rows] / roots[rows]
        assert left == pytest.approx(log.reward[rows] - x @ own, abs=1e-10)
    H = np.zeros((60, 60))
    for rows in smoother.by_block():
        H[np.ix_(rows, rows)] = smoother.coordinates[rows] @ smoother.coordinates[rows].T
    variances = rng.random(60)
    assert smoother.fit_noise(variances) == pytest.approx(np.diag(H @ np.diag(variances) @ H).sum())


def test_left_out_errors_of_the_richer_class_are_those_of_fits_without_each_row() -> None:
    rng = np.random.default_rng(4)
    log, weights = step_log(rng, 50), rng.uniform(0.5, 2.0, 50)
    own, _ = Linear().oracle(log.contexts, 2).design.rows(log)
    roots, blocks = np.sqrt(weights), np.zeros(50, dtype=np.int64)
    # Two features of a dictionary: so few rows have leverages below the bound.
    added = dictionaries(log, 1, 2)[0][:, :2]
    left_out = np.zeros(50, dtype=np.bool_)
    x, z, target = own * roots[:, None], added * roots[:, None], roots * log.reward
    whole: WeightedPath = _path(x, z, target, blocks, left_out)
    errors = np.zeros(len(whole.left_out_error))
    for row in range(50):
        left_out[:] = False
        left_out[row] = True
        errors += (_path(x, z, target, blocks, left_out).predictions[:, 0] - target[row]) ** 2
    assert whole.left_out_error == pytest.approx(errors, rel=1e-6)


@pytest.mark.parametrize("method", METHODS)
@given(st.floats(0.01, 1000.0), st.floats(-5.0, 5.0), st.floats(-5.0, 5.0))
def test_b_scales_with_the_square_and_ignores_what_the_class_can_say(
    method: Any, scale: float, level: float, slope: float
) -> None:
    log = recurring_greedy(0)
    lifted = replace(log, reward=scale * (log.reward + level + slope * log.contexts.shared[:, 0]))
    one = misspecification_estimate(log, 2, method=method, rows="all")
    other = misspecification_estimate(lifted, 2, method=method, rows="all")
    assert other.untruncated == pytest.approx(scale**2 * one.untruncated, rel=1e-5, abs=1e-9 * scale**2)
    assert other.standard_error == pytest.approx(scale**2 * one.standard_error, rel=1e-5)


@pytest.mark.parametrize("method", ["residual_products", "one_step"])
def test_with_the_true_step_among_the_features_nothing_is_left(method: Any) -> None:
    log = GREEDY.log(1)
    x = log.contexts.shared[:, 0]
    known = replace(log, contexts=Contexts(np.column_stack([x, x > 0.5]).astype(np.float64)))
    before = misspecification_estimate(log, 2, method=method, rows="all")
    after = misspecification_estimate(known, 2, method=method, rows="all")
    assert before.lower > 0.015
    assert after.lower == 0.0
    assert after.b_hat < 0.002


@pytest.mark.parametrize("play", ["greedy 0.2", "EpsilonGreedy"])
@pytest.mark.parametrize("means", ["step", "linear"])
def test_intervals_of_weighted_rows_hold_b_in_most_of_sixty_logs(means: Any, play: str) -> None:
    # At a coverage of 95% fewer than 52 come once in 130 runs.
    case = Case(means, 600, 1, 2, "unequal", play)
    held = [misspecification_estimate(case.log(seed), 2, rows="all") for seed in range(60)]
    assert sum(one.lower <= case.b <= one.upper for one in held) >= 52


def test_intervals_of_weighted_replicates_hold_b_in_most_of_sixty_logs() -> None:
    b = recurring_b(0.3)
    found = [misspecification_estimate(recurring_greedy(seed, 1200), 2, rows="all") for seed in range(60)]
    assert all(one.method == "pure_error, unequal noise" for one in found)
    assert sum(one.lower <= b <= one.upper for one in found) >= 52
    # Without weights, b would be that of another play: the mean is far off.
    errors = np.array([one.untruncated for one in found])
    assert abs(errors.mean() - b) < 3.0 * errors.std() / np.sqrt(60)


@pytest.mark.long
@pytest.mark.parametrize(
    "case",
    [
        Case("step", 1000, 1, 2, "normal", "greedy 0.2"),
        Case("sine", 2000, 2, 2, "unequal", "greedy 0.2"),
        Case("linear", 1000, 1, 3, "unequal", "greedy 0.1"),
        Case("step", 2000, 1, 2, "normal", "EpsilonFalcon"),
    ],
)
def test_a_thousand_intervals_of_weighted_rows(case: Case) -> None:
    found = [misspecification_estimate(case.log(seed), case.n_actions, rows="all") for seed in range(1000)]
    assert np.mean([one.lower <= case.b <= one.upper for one in found]) >= 0.90


def test_automatic_choice_prefers_passive_rows_unless_few() -> None:
    log = GREEDY.log(2)
    passive = step_log(np.random.default_rng(5), 250)
    both = Log.concat([log, passive], 2)
    assert misspecification_estimate(both, 2).rows == "250 passive rows, which count alike"
    few = Log.concat([log, passive.take(slice(0, 20))], 2)
    assert misspecification_estimate(few, 2).rows.startswith("620 rows of 620 (20 passive), weighted")
    assert misspecification_estimate(few, 2, rows="passive").n_rows <= 20


def test_weights_whose_mean_is_off_are_not_chosen_and_have_a_note() -> None:
    log = GREEDY.log(3)
    wrong = replace(log, propensity=np.minimum(2.0 * log.propensity, 1.0))
    passive = step_log(np.random.default_rng(6), 30)
    both = Log.concat([wrong, passive], 2)
    assert misspecification_estimate(both, 2).rows == "30 passive rows, which count alike"
    found = misspecification_estimate(both, 2, rows="all")
    assert any("where 1 is expected" in note for note in found.notes)


def test_logs_of_a_deterministic_policy_stand_for_no_uniform_play() -> None:
    log = replace(GREEDY.log(9), propensity=np.ones(600))
    with pytest.raises(NotEstimableError, match=r"average 0\.5 where 1 is expected"):
        misspecification_estimate(log, 2)
    assert any("where 1 is expected" in note for note in misspecification_estimate(log, 2, rows="all").notes)
    assert residual_rows(log, 2).weights is None


def test_many_rows_are_thinned_evenly() -> None:
    used = uniform_rows(GREEDY.log(10), 2)
    assert evenly_spread(used, 600) is used
    thin = evenly_spread(used, 100)
    assert len(thin.log) == 100
    assert (thin.log.round[0], thin.log.round[-1]) == (0, 599)
    assert np.diff(thin.log.round).max() <= 7
    assert thin.weights is not None
    assert thin.weights.mean() == pytest.approx(1.0)
    assert thin.description.startswith("100 of 600 rows")


def test_rows_of_unknown_propensity_are_left_out_and_counted() -> None:
    log = GREEDY.log(4)
    some = replace(log, propensity=np.where(np.arange(600) < 50, np.nan, log.propensity))
    found = misspecification_estimate(some, 2)
    assert "50 rows of unknown propensity were left out." in found.notes
    assert found.untruncated == misspecification_estimate(some.where(some.has_propensity), 2).untruncated


def test_all_rows_of_unknown_propensity_serve_tests_but_not_b() -> None:
    log = replace(GREEDY.log(5), propensity=np.full(600, np.nan))
    assert residual_rows(log, 2).weights is None
    with pytest.raises(NotEstimableError, match="600 have unknown propensities"):
        misspecification_estimate(log, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"propensity": np.full(600, 1.7)}, "propensity of 1.7"),
        ({"reward": np.full(600, 0.5)}, "rewards of all 600 rows are 0.5"),
        ({"reward": np.full(600, np.inf)}, "the reward is inf"),
    ],
)
def test_weighted_rows_that_say_nothing_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        misspecification_estimate(replace(GREEDY.log(6), **change), 2, rows="all")


def test_equal_noise_and_unknown_choices_are_refused() -> None:
    log = recurring_greedy(1)
    with pytest.raises(ValueError, match="weighted by propensities"):
        misspecification_estimate(log, 2, method="pure_error", noise="equal")
    with pytest.raises(ValueError, match="rows"):
        misspecification_estimate(log, 2, rows="some")  # type: ignore[arg-type]


def test_other_classes_take_weights() -> None:
    log = GREEDY.log(7)
    oracle = Regressor(LinearRegression()).oracle(log.contexts, 2)
    weights = uniform_rows(log, 2).weights
    risk = best_risk(log, oracle, weights=weights)
    assert abs(risk.value - (1 / 32 + 0.01)) < 4.0 * risk.standard_error
    found = misspecification_estimate(log, 2, oracle=oracle, method="residual_products")
    assert found.lower < 1 / 32 < found.upper


@given(st.integers(0, 10**6))
def test_weighted_means_are_ratios_of_means(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, weights = rng.standard_normal(20), rng.random(20) + 0.1
    value, error = mean_and_error(values, weights)
    assert value == pytest.approx(np.average(values, weights=weights))
    assert mean_and_error(values, 7.0 * weights) == pytest.approx((value, error))
    assert mean_and_error(values, np.full(20, 2.0)) == pytest.approx(mean_and_error(values, None))


def test_folds_do_not_look_at_rewards() -> None:
    log = GREEDY.log(8)
    assert (folds(log, 5) == folds(replace(log, reward=-log.reward), 5)).all()
    assert log.component.max() < PASSIVE
    assert len(passive_log(np.zeros((2, 1)), [0, 1], [0.0, 1.0])) == 2

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from scipy.stats import f as f_distribution

from gyrfalcon.core.records import Log
from gyrfalcon.estimates.misspecification.pure_error import pure_error
from gyrfalcon.estimates.misspecification.result import MisspecificationEstimate, NotEstimableError
from gyrfalcon.oracles.linear.linear import Linear
from tests.estimates.rows import (
    LEVELS,
    coverage,
    mean_and_deviation,
    passive_log,
    recurring_b,
    recurring_log,
    repeated,
    step_log,
)

Noise = Literal["equal", "unequal"]


def estimate(log: Log, noise: Noise, model_class: Linear = Linear()) -> MisspecificationEstimate:
    return pure_error(log, model_class.oracle(log.contexts, 2), n_actions=2, noise=noise)


def lack_of_fit(log: Log) -> tuple[float, float, int, int]:
    """SSLF and SSPE, with their degrees of freedom, by the book."""
    rss = pure = 0.0
    n_groups = 0
    for action in range(2):
        rows = log.where(log.action == action)
        x = rows.contexts.shared[:, 0]
        rss += float(((rows.reward - np.polyval(np.polyfit(x, rows.reward, 1), x)) ** 2).sum())
        for level in np.unique(x):
            group = rows.reward[x == level]
            pure += float(((group - group.mean()) ** 2).sum())
            n_groups += 1
    return rss - pure, pure, n_groups - 4, len(log) - n_groups


def test_the_estimate_is_the_books_lack_of_fit() -> None:
    log = recurring_log(np.random.default_rng(0), 120, 0.3, 0.1)
    lack, pure, df1, df2 = lack_of_fit(log)
    found = estimate(log, "equal")
    assert found.untruncated == pytest.approx((lack - df1 * pure / df2) / 120, rel=1e-9)
    assert (found.n_rows, found.n_groups, found.method) == (120, 10, "pure_error, equal noise")


def test_the_interval_starts_above_zero_only_where_the_f_test_rejects() -> None:
    # The interval of the F test alone starts above 0 just there; doubt about contexts widens it.
    decisions = []
    for seed in range(60):
        log = recurring_log(np.random.default_rng([3, seed]), 80, 0.12, 0.1)
        lack, pure, df1, df2 = lack_of_fit(log)
        rejects = f_distribution.sf(lack / df1 / (pure / df2), df1, df2) < 0.025
        found = estimate(log, "equal")
        decisions.append(rejects)
        assert rejects or found.lower == 0.0
    assert 5 < sum(decisions) < 55


@pytest.mark.parametrize(
    ("noise", "deviation", "bend", "n"),
    [
        pytest.param("equal", 0.1, 0.1, 200, marks=pytest.mark.long),
        ("equal", 0.1, 0.3, 100),
        pytest.param("unequal", 0.1, 0.1, 200, marks=pytest.mark.long),
        pytest.param("unequal", 0.1, 0.3, 400, marks=pytest.mark.long),
        ("unequal", None, 0.3, 400),
        pytest.param("unequal", None, 0.4, 1500, marks=pytest.mark.long),
    ],
)
def test_intervals_hold_b_as_often_as_they_say(
    noise: Noise, deviation: float | None, bend: float, n: int
) -> None:
    # At a coverage of 95% a share outside 90 to 99% of 300 comes once in 1,000 runs.
    found = repeated(lambda rng: estimate(recurring_log(rng, n, bend, deviation), noise), 300)
    b = recurring_b(bend)
    assert 0.90 <= coverage(found, b) <= 0.99
    mean, spread = mean_and_deviation(found)
    assert abs(mean - b) < 0.04 * b + 4 * spread / np.sqrt(300)


@pytest.mark.parametrize(("noise", "deviation"), [("equal", 0.1), ("unequal", 0.1), ("unequal", None)])
def test_a_true_class_is_seldom_found_wrong(noise: Noise, deviation: float | None) -> None:
    # 2.5% of 300 are expected, less where the standard error is too large; more than 15 once in 200 runs.
    found = repeated(lambda rng: estimate(recurring_log(rng, 150, 0.0, deviation), noise), 300)
    assert sum(one.lower > 0.0 for one in found) <= 15
    mean, spread = mean_and_deviation(found)
    assert abs(mean) < 4 * spread / np.sqrt(300)


def test_unequal_noise_is_the_mean_product_of_pairs_within_groups() -> None:
    # With very many rows the fit's own part vanishes, and plain products of residuals remain.
    log = recurring_log(np.random.default_rng(5), 4000, 0.3, None)
    total = 0.0
    for action in range(2):
        rows = log.where(log.action == action)
        x = rows.contexts.shared[:, 0]
        residuals = rows.reward - np.polyval(np.polyfit(x, rows.reward, 1), x)
        for level in LEVELS:
            e = residuals[x == level]
            products = (e.sum() ** 2 - (e**2).sum()) / (len(e) - 1)
            total += products
    assert estimate(log, "unequal").untruncated == pytest.approx(total / 4000, abs=3e-4)


@pytest.mark.parametrize("noise", ["equal", "unequal"])
def test_it_scales_with_the_square_of_rewards(noise: Noise) -> None:
    log = recurring_log(np.random.default_rng(6), 100, 0.3, 0.1)
    larger = passive_log(log.contexts.shared, log.action, 3.0 * log.reward)
    one, nine = estimate(log, noise), estimate(larger, noise)
    for name in ("b_hat", "lower", "upper", "standard_error", "untruncated"):
        assert getattr(nine, name) == pytest.approx(9.0 * getattr(one, name), rel=1e-8)


def test_rows_cannot_show_the_error_of_a_class_with_a_coefficient_for_each_context() -> None:
    rng = np.random.default_rng(7)
    log = passive_log(np.zeros((60, 0)), rng.integers(0, 2, 60), rng.random(60))
    found = estimate(log, "unequal")
    assert (found.b_hat, found.lower, found.method) == (0.0, 0.0, "pure_error, saturated class")
    assert found.is_lower_bound
    assert log.reward.var() < found.upper < 2.0 * log.reward.var()
    assert "a coefficient for each context" in found.notes[-1]


def test_rewards_without_noise_leave_only_the_drawing_of_contexts_in_doubt() -> None:
    x = np.tile([[0.0], [0.5], [1.0]], (40, 1))
    log = passive_log(x, np.zeros(120, dtype=np.int64), np.tile([0.0, 1.0, 0.0], 40))
    found = pure_error(log, Linear().oracle(log.contexts, 1), n_actions=1, noise="equal")
    assert found.b_hat == pytest.approx(2.0 / 9.0, rel=1e-9)
    assert found.lower < 2.0 / 9.0 < found.upper < 0.3


def test_contexts_that_came_once_are_left_out_and_told() -> None:
    rng = np.random.default_rng(8)
    log = recurring_log(rng, 100, 0.3, 0.1)
    x = log.contexts.shared.copy()
    x[:3] = [[0.11], [0.12], [0.13]]
    found = estimate(passive_log(x, log.action, log.reward), "unequal")
    assert found.n_rows == 97
    assert found.notes == ("3 rows were left out, as their contexts came once.",)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"noise": "unequal"}, r"only 0 of 50 passive rows repeat .*wait for 10"),
        ({"noise": "loud"}, r"noise is 'loud'; choose 'equal' or 'unequal'"),
        ({"level": 1.0}, r"level is 1.0; give a number in"),
    ],
)
def test_refusals(arguments: dict[str, Any], message: str) -> None:
    log = step_log(np.random.default_rng(9), 50)
    with pytest.raises(ValueError, match=message):
        pure_error(log, Linear().oracle(log.contexts, 2), n_actions=2, **arguments)


def test_too_few_replicates_are_a_kind_of_their_own() -> None:
    log = step_log(np.random.default_rng(9), 50)
    with pytest.raises(NotEstimableError):
        estimate(log, "equal")

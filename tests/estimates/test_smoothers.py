from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import Log
from gyrfalcon.estimates.misspecification.crossfit import best_risk
from gyrfalcon.estimates.misspecification.nearest_pairs import left_out_products
from gyrfalcon.estimates.misspecification.smoother import Smoother
from gyrfalcon.oracles.linear.linear import Linear
from tests.estimates.rows import line_log, passive_log, step_log


def with_action_features(log: Log) -> Log:
    cube = np.random.default_rng(1).random((len(log), 2, 2))
    contexts = Contexts(log.contexts.shared, cube)
    return Log(contexts, log.action, log.reward, log.propensity, log.epoch, log.round, log.component)


@pytest.mark.parametrize("ridge", [0.0, 2.5])
@pytest.mark.parametrize("layout", ["per_action", "shared", "hybrid"])
def test_residuals_are_those_of_the_oracles_own_fit(layout: Any, ridge: float) -> None:
    log = with_action_features(line_log(np.random.default_rng(2), 60, d=2))
    oracle = Linear(layout=layout, ridge=ridge).oracle(log.contexts, 2)
    model, _ = oracle.fit(oracle.summarise(log), oracle.empty())
    expected = log.reward - model.scores(log.contexts)[np.arange(60), log.action]
    above = log.reward - log.reward.mean()  # towards which a ridge shrinks
    np.testing.assert_allclose(Smoother.of(oracle, log).residuals(above), expected, atol=1e-10)


def test_leverages_and_degrees_are_those_of_the_hat_matrix() -> None:
    log = line_log(np.random.default_rng(3), 40, d=3)
    smoother = Smoother.of(Linear().oracle(log.contexts, 2), log)
    hat = np.zeros((40, 40))
    for action in range(2):
        rows = np.flatnonzero(log.action == action)
        design = np.column_stack([np.ones(len(rows)), log.contexts.shared[rows]])
        hat[np.ix_(rows, rows)] = design @ np.linalg.pinv(design)
    np.testing.assert_allclose(smoother.leverages, np.diag(hat), atol=1e-12)
    assert smoother.degrees == pytest.approx(8.0, abs=1e-10)
    variances = np.random.default_rng(4).random(40)
    spread = smoother.spread_of(variances) @ smoother.coordinates.T
    same = log.action[:, None] == log.action
    np.testing.assert_allclose(spread * same, hat @ np.diag(variances) @ hat, atol=1e-12)


def test_a_column_that_is_given_twice_counts_once() -> None:
    x = np.random.default_rng(5).random((30, 1))
    log = passive_log(
        np.column_stack([x, 3 * x, np.full(30, 2.0)]), np.zeros(30, dtype=np.int64), x[:, 0] ** 2
    )
    assert Smoother.of(Linear().oracle(log.contexts, 1), log).degrees == pytest.approx(2.0, abs=1e-10)


@pytest.mark.parametrize("ridge", [0.0, 2.0])
def test_products_are_those_of_fits_without_the_pair_less_their_noise(ridge: float) -> None:
    log = step_log(np.random.default_rng(6), 24)
    oracle = Linear(ridge=ridge, standardise=False).oracle(log.contexts, 2)
    first = np.flatnonzero(log.action == 0)
    pairs = np.array([first[:2], first[2:4]])
    smoother = Smoother.of(oracle, log)
    products, usable = left_out_products(smoother, log.reward, pairs)
    assert usable.all()
    variances = smoother.residuals(log.reward) ** 2 / (1.0 - smoother.leverages)
    design = np.column_stack([np.ones(len(first)), log.contexts.shared[first] - log.contexts.shared.mean()])
    for pair, product in zip(pairs, products, strict=True):
        here, there = design[np.isin(first, pair)], design[~np.isin(first, pair)]
        others = first[~np.isin(first, pair)]
        slopes = np.linalg.solve(there.T @ there + ridge * np.eye(2), there.T)
        left = log.reward[pair] - here @ slopes @ log.reward[others]
        noise = here @ slopes @ np.diag(variances[others]) @ (here @ slopes).T
        assert product == pytest.approx(left[0] * left[1] - noise[0, 1], rel=1e-9)


def test_the_best_risk_is_noise_and_misspecification_together() -> None:
    # Mean of 200 with a deviation of .0021 each: off by more than 4 standard errors once in 16,000 runs.
    risks = [
        best_risk(log, Linear().oracle(log.contexts, 2))
        for log in (step_log(np.random.default_rng([1, seed]), 400) for seed in range(200))
    ]
    values = np.array([one.value for one in risks])
    assert abs(values.mean() - (1 / 32 + 0.01)) < 4 * values.std() / np.sqrt(200)
    assert np.mean([one.standard_error for one in risks]) == pytest.approx(values.std(), rel=0.2)


def test_few_rows_leave_the_best_risk_unbiased() -> None:
    # 12 rows for 4 coefficients: the mean of e^2 alone would be a third too small.
    values = []
    for seed in range(800):
        log = line_log(np.random.default_rng([2, seed]), 24)
        values.append(best_risk(log, Linear().oracle(log.contexts, 2)).value)
    assert abs(np.mean(values) - 0.01) < 4 * np.std(values) / np.sqrt(800)


def test_a_class_that_fits_all_rows_has_no_risk_to_show() -> None:
    log = line_log(np.random.default_rng(7), 4, d=3)
    with pytest.raises(ValueError, match=r"fits the 4 passive rows exactly.*wait for more rows"):
        best_risk(log, Linear().oracle(log.contexts, 2))

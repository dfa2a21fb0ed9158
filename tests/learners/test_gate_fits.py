"""The alternatives to a pooled fit, each against a computation from the rows themselves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from scipy import linalg, optimize

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import Log
from gyrfalcon.learners.adaptive.alternatives import alternative_fits, degrees_of_freedom, ridge_slack
from gyrfalcon.learners.adaptive.pooled_fit import GateStatistics
from gyrfalcon.learners.adaptive.value_gate import ALTERNATIVES
from gyrfalcon.oracles.linear.linear import Linear, LinearOracle
from gyrfalcon.oracles.linear.models import LinearModel
from gyrfalcon.oracles.linear.penalties import Penalties
from gyrfalcon.oracles.solvers.constrained import ConstrainedFit

K, TIGHTENING = 3, 0.1
RIDGE = np.array([1.0, 2.0, 2.0])
"""Penalties of the intercept and of two features, standardised and half whitened."""


@dataclass(frozen=True)
class Sample:
    """A log whose passive rows follow another truth than most of its active ones, and its weights."""

    log: Log
    weights: Floats

    @property
    def columns(self) -> Floats:
        """[1, z] with z standardised over all rows, whatever action was played, and half whitened."""
        x = self.log.contexts.shared
        z = (x - x.mean(axis=0)) / x.std(axis=0)
        return np.column_stack([np.ones(len(x)), half_whitened(z, np.ones(len(z)))])

    def gram(self, weights: Floats, action: int) -> tuple[Floats, Floats]:
        """Z'WZ and Z'Wr of the rows of an action."""
        own = self.log.action == action
        z, w = self.columns[own], weights[own]
        return (z.T * w) @ z, (z.T * w) @ (self.log.reward[own] - self.mean)

    def ridge_fit(self, weights: Floats) -> Floats:
        """(K, d): the minimiser of sum w (r - mean - z'theta)^2 + theta' ridge theta."""
        parts = [self.gram(weights, action) for action in range(K)]
        return np.array([np.linalg.solve(gram + np.diag(RIDGE), cross) for gram, cross in parts])

    def passive_risk(self, theta: Floats) -> float:
        """The mean squared error on passive rows."""
        told = np.einsum("nd,nd->n", self.columns, theta[self.log.action])
        errors = (self.log.reward - self.mean - told)[self.log.passive]
        return float(errors @ errors) / len(errors)

    def scores(self, theta: Floats) -> Floats:
        return self.mean + self.columns @ theta.T

    @property
    def mean(self) -> float:
        """The mean reward, towards which all fits shrink."""
        return float(self.log.reward.mean())


def half_whitened(z: Floats, weights: Floats) -> Floats:
    """Columns whose second moment is the square root of that of z."""
    second = (z.T * weights) @ z / weights.sum()
    return np.asarray(z @ linalg.fractional_matrix_power(second, -0.25))


def bent(seed: int, n: int = 400, passive_share: float = 0.25) -> Sample:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2)) * [0.3, 40.0] + [5.0, -7.0]
    action, passive = rng.integers(0, K, n), rng.random(n) < passive_share
    slopes = np.array([0.5, -0.5, 0.0])[action]
    bend = np.where(passive, 0.0, 0.3 * (action - 1))
    reward = 0.5 + slopes * (x[:, 0] - 5.0) + bend + 0.1 * rng.normal(size=n)
    zeros, propensity = np.zeros(n, dtype=np.int64), rng.uniform(0.05, 0.9, n)
    log = Log(Contexts(x), action, reward, propensity, zeros, np.arange(n), passive.astype(np.int64))
    return Sample(log, 1.0 / (K * propensity))


def oracle_of(sample: Sample) -> LinearOracle:
    # Early contexts fix the centre alone: the standardisation is that of all rows.
    return Linear().oracle(sample.log.contexts.take(slice(0, 5)), K)


def penalties_of(sample: Sample) -> Penalties:
    return Penalties(np.array([0, 1, 1]), RIDGE[:2], center=sample.mean)


def fits_of(sample: Sample, slack: float) -> tuple[list[LinearModel], ConstrainedFit]:
    oracle = oracle_of(sample)
    return alternative_fits(oracle, statistics_of(sample, oracle), penalties_of(sample), slack, TIGHTENING)


def statistics_of(sample: Sample, oracle: LinearOracle) -> GateStatistics:
    log = sample.log
    return GateStatistics(
        oracle.summed(log),
        oracle.summed(log.where(log.passive)),
        oracle.sums(log, sample.weights),
        float(log.passive.sum()),
    )


@cache
def sample_and_fits(seed: int, slack: float) -> tuple[Sample, list[LinearModel]]:
    sample = bent(seed)
    return sample, fits_of(sample, slack)[0]


def by_bisection(sample: Sample, slack: float) -> tuple[Floats, float]:
    """The constrained fit as a search over regressions in which passive rows weigh more, and its multiplier.

    Mean active error + ridge |theta|^2 / n + m (mean passive error) has the gradient of a ridge regression
    with weights 1 + m n / n' for passive rows.
    """
    passive = sample.log.passive
    n, n_passive = len(passive), passive.sum()
    limit = sample.passive_risk(sample.ridge_fit(passive.astype(float))) + slack

    def fit(multiplier: float) -> Floats:
        return sample.ridge_fit(1.0 + passive * (multiplier * n / n_passive))

    if sample.passive_risk(fit(0.0)) <= limit:
        return fit(0.0), 0.0
    low, high = 0.0, 1.0
    while sample.passive_risk(fit(high)) > limit:
        low, high = high, 2.0 * high
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if sample.passive_risk(fit(middle)) > limit else (low, middle)
    return fit(high), high


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("slack", [0.02, 0.005])
def test_constrained_fits_are_those_of_a_bisection_over_weighted_regressions(seed: int, slack: float) -> None:
    sample, models = sample_and_fits(seed, slack)
    for model, own in zip(models[:2], (slack, TIGHTENING * slack), strict=True):
        theta, multiplier = by_bisection(sample, own)
        assert multiplier > 0.0
        np.testing.assert_allclose(model.scores(sample.log.contexts), sample.scores(theta), atol=1e-8)


def test_the_constrained_fit_is_what_a_general_solver_finds() -> None:
    slack = 0.01
    sample, models = sample_and_fits(3, slack)
    z, r = sample.columns, sample.log.reward - sample.mean
    limit = sample.passive_risk(sample.ridge_fit(sample.log.passive.astype(float))) + slack

    def objective(flat: Floats) -> float:
        theta = flat.reshape(K, 3)
        errors = r - np.einsum("nd,nd->n", z, theta[sample.log.action])
        return float(errors @ errors + flat @ (np.tile(RIDGE, K) * flat)) / len(r)

    def spare(flat: Floats) -> float:
        return limit - sample.passive_risk(flat.reshape(K, 3))

    found = optimize.minimize(
        objective,
        np.zeros(3 * K),
        method="SLSQP",
        constraints={"type": "ineq", "fun": spare},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    np.testing.assert_allclose(
        models[0].scores(sample.log.contexts), sample.scores(found.x.reshape(K, 3)), atol=1e-5
    )


def test_the_report_is_of_the_looser_constraint() -> None:
    sample = bent(4)
    _, fit = fits_of(sample, 0.01)
    theta, multiplier = by_bisection(sample, 0.01)
    assert fit.slack == 0.01
    assert fit.binding
    assert fit.multiplier == pytest.approx(multiplier, rel=1e-6)
    assert fit.alpha + fit.excess == pytest.approx(sample.passive_risk(theta), rel=1e-8)
    assert fit.excess == pytest.approx(0.01, rel=1e-8)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_other_two_are_ridge_regressions_by_weight_and_of_passive_rows(seed: int) -> None:
    sample, models = sample_and_fits(seed, 0.02)
    assert ALTERNATIVES[2:] == ("importance-weighted", "passive")
    for model, weights in zip(models[2:], (sample.weights, sample.log.passive.astype(float)), strict=True):
        expected = sample.scores(sample.ridge_fit(weights))
        np.testing.assert_allclose(model.scores(sample.log.contexts), expected, atol=1e-10)


def test_a_slack_without_bound_leaves_the_pooled_fit_and_one_of_0_the_passive_one() -> None:
    sample, loose = sample_and_fits(5, math.inf)
    _, tight = sample_and_fits(5, 0.0)
    contexts = sample.log.contexts
    pooled = sample.scores(sample.ridge_fit(np.ones(len(sample.log))))
    for model in loose[:2]:
        np.testing.assert_allclose(model.scores(contexts), pooled, atol=1e-10)
    # At slack 0 the constrained fit may trade ridge for risk, no further than alpha.
    passive = sample.ridge_fit(sample.log.passive.astype(float))
    limit = sample.passive_risk(passive)
    theta, _ = by_bisection(sample, 0.0)
    np.testing.assert_allclose(tight[0].scores(contexts), sample.scores(theta), atol=1e-6)
    assert sample.passive_risk(theta) <= limit * (1.0 + 1e-9)


def test_without_passive_rows_there_is_no_constraint_and_nothing_to_fit_alone() -> None:
    sample = bent(6, passive_share=0.0)
    oracle = oracle_of(sample)
    given = statistics_of(sample, oracle)
    slack = ridge_slack(oracle, given, penalties_of(sample), 5.0)
    assert slack == math.inf
    models, fit = fits_of(sample, slack)
    pooled = sample.scores(sample.ridge_fit(np.ones(len(sample.log))))
    np.testing.assert_allclose(models[0].scores(sample.log.contexts), pooled, atol=1e-10)
    assert not fit.binding
    np.testing.assert_allclose(models[3].scores(sample.log.contexts), sample.mean, rtol=1e-12)


def test_an_action_that_passive_rows_miss_is_fitted_by_the_active_ones() -> None:
    sample = bent(7)
    log = sample.log
    kept = ~(log.passive & (log.action == 2))
    sample = Sample(log.where(kept), sample.weights[kept])
    models, _ = fits_of(sample, 0.01)
    theta, _ = by_bisection(sample, 0.01)
    pooled = sample.ridge_fit(np.ones(len(sample.log)))
    np.testing.assert_allclose(theta[2], pooled[2])  # the constraint has no say in it
    np.testing.assert_allclose(models[0].scores(sample.log.contexts), sample.scores(theta), atol=1e-8)


def test_an_action_without_any_rows_is_unknown_to_all_of_them() -> None:
    sample = bent(8)
    kept = sample.log.action != 1
    sample = Sample(sample.log.where(kept), sample.weights[kept])
    for model in fits_of(sample, 0.01)[0]:
        assert model.known is not None
        assert model.known.tolist() == [True, False, True]
        scores = model.scores(sample.log.contexts)
        assert np.array_equal(scores[:, 1], np.nextafter(scores[:, [0, 2]].max(axis=1), -np.inf))


def test_degrees_of_freedom_of_known_designs() -> None:
    # A diagonal Gram of 1, 3 and 0 with ridge 1: 1/2 + 3/4 + 0.
    ones = np.ones(3)
    assert degrees_of_freedom(np.diag([1.0, 3.0, 0.0]), ones) == pytest.approx(1.25)
    both = np.stack([np.diag([1.0, 3.0]), np.diag([0.0, 9.0])])
    assert degrees_of_freedom(both, ones[:2]) == pytest.approx(0.5 + 0.75 + 0.9)
    assert degrees_of_freedom(both, np.array([3.0, 1.0])) == pytest.approx(0.25 + 0.75 + 0.9)
    assert degrees_of_freedom(np.zeros((2, 3, 3)), ones) == 0.0


def test_degrees_of_freedom_are_the_trace_of_the_smoother() -> None:
    rng = np.random.default_rng(0)
    for ridge in (0.1, 1.0, 50.0):
        x, penalties = rng.normal(size=(30, 4)), ridge * rng.uniform(0.1, 1.0, 4)
        smoother = x @ np.linalg.solve(x.T @ x + np.diag(penalties), x.T)
        assert degrees_of_freedom(x.T @ x, penalties) == pytest.approx(np.trace(smoother))


def test_the_slack_of_counts_alone_is_known() -> None:
    # Without features each action has its count: 6 and 2 passive rows with ridge 2 are 3/4 + 1/2 degrees.
    action = np.array([0] * 6 + [1] * 2 + [0, 1])
    n = len(action)
    reward, zeros = np.tile([0.0, 1.0], n // 2), np.zeros(n, dtype=np.int64)
    passive = np.array([1] * 8 + [0] * 2)
    log = Log(Contexts(np.empty((n, 0))), action, reward, np.full(n, 0.5), zeros, zeros, passive)
    oracle = Linear().oracle(log.contexts, 2)
    given, penalties = statistics_of(Sample(log, np.ones(n)), oracle), Penalties.start((1,), 2.0)
    expected = 0.25 * (1.25 + 2.0 * math.sqrt(1.25 * 3.0) + 6.0) / 8
    assert ridge_slack(oracle, given, penalties, 3.0) == pytest.approx(expected)


def test_the_slack_is_a_function_of_rows_on_one_scale() -> None:
    sample = bent(9)
    log, oracle = sample.log, oracle_of(sample)
    given = statistics_of(sample, oracle)
    df = 0.0
    for action in range(K):
        gram, _ = sample.gram(log.passive.astype(float), action)
        df += np.trace(gram @ np.linalg.inv(gram + np.diag(RIDGE)))
    confidence = 4.0
    spread = df + 2.0 * math.sqrt(df * confidence) + 2.0 * confidence
    expected = log.reward.var() * spread / log.passive.sum()
    assert ridge_slack(oracle, given, penalties_of(sample), confidence) == pytest.approx(expected, rel=1e-9)


def test_the_best_model_is_within_the_slack() -> None:
    # Nearly all of the rewards' variance is noise, and L = ln 20: by the chi-square tail behind the formula a
    # miss has a chance of at most 1 in 20, so that more than 12 of 100 have one of about 2 in 1,000 at most.
    truth = 0.05 * np.array([[0.0, 1.0, -1.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    n, missed, close = 150, 0, 0
    for seed in range(100):
        rng = np.random.default_rng([seed, 1])
        x, action, noise = rng.normal(size=(n, 2)), rng.integers(0, K, n), rng.normal(size=n)
        reward = np.einsum("nd,nd->n", np.column_stack([np.ones(n), x]), truth[action]) + noise
        zeros, ones = np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64)
        sample = Sample(Log(Contexts(x), action, reward, np.full(n, 1 / K), zeros, zeros, ones), np.ones(n))
        oracle = oracle_of(sample)
        slack = ridge_slack(oracle, statistics_of(sample, oracle), penalties_of(sample), math.log(20.0))
        excess = float(noise @ noise) / n - sample.passive_risk(sample.ridge_fit(np.ones(n)))
        missed += excess > slack
        close += excess > 0.1 * slack
    assert missed <= 12
    assert close >= 80  # so that a slack of another order would be noticed


def test_forgotten_rows_count_less_in_all_fits_and_widen_the_slack() -> None:
    sample = bent(10)
    oracle = oracle_of(sample)
    given = statistics_of(sample, oracle)
    log, later = sample.log, sample.log.take(slice(300, None))
    early = Sample(log.take(slice(0, 300)), sample.weights[:300])
    faded = statistics_of(early, oracle).scaled(0.5)
    both = GateStatistics(
        oracle.summed(later, faded.pooled),
        oracle.summed(later.where(later.passive), faded.passive),
        faded.importance_weighted + oracle.sums(later, sample.weights[300:]),
        faded.passive_squares + float(later.passive.sum()),
    )
    factor = np.where(np.arange(400) < 300, 0.5, 1.0)
    own = factor[log.passive]
    assert both.n_passive == pytest.approx(own.sum() ** 2 / (own @ own))
    assert both.n_passive < given.n_passive == log.passive.sum()
    x = log.contexts.shared
    mean = factor @ x / factor.sum()
    scale = np.sqrt(factor @ (x - mean) ** 2 / factor.sum())
    z = np.column_stack([np.ones(400), half_whitened((x - mean) / scale, factor)])
    models, _ = alternative_fits(oracle, both, penalties_of(sample), math.inf, TIGHTENING)
    for model, weights in ((models[0], factor), (models[2], factor * sample.weights)):
        for action in range(K):
            mine = log.action == action
            gram = (z[mine].T * weights[mine]) @ z[mine] + np.diag(RIDGE)
            theta = np.linalg.solve(gram, (z[mine].T * weights[mine]) @ (log.reward[mine] - sample.mean))
            scores = model.scores(log.contexts)[:, action]
            np.testing.assert_allclose(scores, sample.mean + z @ theta, atol=1e-9)


def test_scaling_all_rows_leaves_the_number_of_passive_ones_that_they_are_worth() -> None:
    sample = bent(11)
    given = statistics_of(sample, oracle_of(sample))
    assert given.scaled(0.125).n_passive == given.n_passive
    assert given.scaled(0.125).passive.n == 0.125 * given.passive.n

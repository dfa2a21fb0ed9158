"""The columns that penalties of the linear class act on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import linalg

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import Log
from gyrfalcon.oracles.linear.half_whitening import penalised_columns
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.linear.marginal_fit import marginal_fit
from gyrfalcon.oracles.linear.penalties import Penalties


def log_of(x: Floats, reward: Floats | None = None, n_actions: int = 2) -> Log:
    zeros = np.zeros(len(x), dtype=np.int64)
    action = np.arange(len(x)) % n_actions
    given = np.zeros(len(x)) if reward is None else reward
    return Log(Contexts(x), action, given, np.full(len(x), 0.5), zeros, zeros, zeros)


def correlated(seed: int, n: int, p: int, least: float) -> Floats:
    """Standard features whose correlation matrix has no eigenvalue below a bound."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)) @ rng.normal(size=(p, p))
    mixed = x / x.std(axis=0) + 2.0 * np.sqrt(least * p) * rng.normal(size=(n, p))
    return np.asarray(mixed)


@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(-3, 3))
def test_features_are_standardised_and_their_correlation_matrix_is_halfway_to_the_identity(
    seed: int, p: int, power: int
) -> None:
    x = correlated(seed, 60, p, 0.1) * 10.0**power + 3.0
    log = log_of(x)
    oracle = Linear().oracle(log.contexts, 2)
    phi, _ = oracle.design.rows(log)
    columns = phi @ penalised_columns(oracle, oracle.sums(log)).T
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    correlations = z.T @ z / len(z)
    assume(linalg.eigvalsh(correlations).min() >= 0.05)  # below, directions are stretched to a bound
    np.testing.assert_allclose(columns[:, 0], 1.0)
    np.testing.assert_allclose(columns[:, 1:].mean(axis=0), 0.0, atol=1e-9)
    half = columns[:, 1:].T @ columns[:, 1:] / len(z)
    np.testing.assert_allclose(half @ half, correlations, atol=1e-8)


def test_directions_that_hardly_vary_are_stretched_to_a_bound() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(5_000, 1))
    twins = np.hstack([x, x + 1e-6 * rng.normal(size=x.shape)])
    log = log_of(twins)
    oracle = Linear().oracle(log.contexts, 2)
    second = penalised_columns(oracle, oracle.sums(log))[1:, 1:] * twins.std(axis=0)
    np.testing.assert_allclose(linalg.eigvalsh(second), [2.0**-0.25, 0.05**-0.25], rtol=1e-4)


@pytest.mark.parametrize(
    "settings", [Linear(standardise=False), Linear(layout="shared"), Linear(layout="hybrid")]
)
def test_joint_columns_and_those_as_they_are_stay(settings: Linear) -> None:
    x = correlated(1, 50, 3, 0.0)
    actions = np.random.default_rng(1).normal(size=(50, 2, 2)) if settings.layout else None
    log = replace(log_of(x), contexts=Contexts(x, actions))
    oracle = settings.oracle(log.contexts, 2)
    rows = oracle.sums(log)
    assert np.array_equal(penalised_columns(oracle, rows), oracle.standardisation(rows))


@pytest.mark.parametrize("p", [0, 1])
def test_fewer_than_two_features_have_no_correlation(p: int) -> None:
    log = log_of(np.random.default_rng(2).normal(size=(30, p)))
    oracle = Linear().oracle(log.contexts, 2)
    for rows in (oracle.sums(log), oracle.empty()):
        assert np.array_equal(penalised_columns(oracle, rows), oracle.standardisation(rows))


def test_estimates_are_better_where_a_direction_of_little_variance_matters() -> None:
    """Errors of the fit on columns that are half whitened, and of a ridge on standardised ones alone."""
    rng = np.random.default_rng(3)
    errors = []
    for _ in range(20):
        x = rng.normal(size=(120, 1)) + 0.2 * rng.normal(size=(120, 6))
        direction = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
        truth = x @ direction
        log = log_of(x, truth + 0.3 * rng.normal(size=120), n_actions=1)
        oracle = Linear().oracle(log.contexts, 1)
        rows = oracle.sums(log)
        model, _, _ = marginal_fit(oracle, rows, Penalties(np.array([0] + [1] * 6), np.array([1.0, 20.0])))
        z = (x - x.mean(axis=0)) / x.std(axis=0)
        theta = np.linalg.solve(z.T @ z + 20.0 * np.eye(6), z.T @ (log.reward - log.reward.mean()))
        ridge = log.reward.mean() + z @ theta
        ours = model.means(log.contexts)[:, 0]
        errors.append([np.mean((ours - truth) ** 2), np.mean((ridge - truth) ** 2)])
    half, plain = np.transpose(errors)
    assert (half < plain).all()

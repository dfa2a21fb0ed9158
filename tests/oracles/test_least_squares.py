"""Least squares from moments: against lstsq, rank deficient, with a ridge, and the widths of LinUCB."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats
from gyrfalcon.oracles.solvers.least_squares import least_squares, ridge_fit
from gyrfalcon.oracles.solvers.moments import Moments


def _rows(n: int, d: int, seed: int = 0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=d) + rng.normal(size=n)


@pytest.mark.parametrize("keep_root", [False, True])
@pytest.mark.parametrize(("n", "d"), [(50, 4), (3, 5), (0, 3), (4, 0), (1, 1)])
def test_minimum_norm_least_squares(n: int, d: int, keep_root: bool) -> None:
    X, r = _rows(n, d)
    fit = least_squares(Moments.of(X, r, keep_root=keep_root))
    expected, _, rank, _ = np.linalg.lstsq(X, r)
    np.testing.assert_allclose(fit.coefficients, expected[None], atol=1e-12)
    assert fit.rank == rank
    assert fit.accurate
    assert fit.condition < 100 if rank == d else fit.condition == math.inf
    np.testing.assert_allclose(fit.residual_squares, [np.sum((r - X @ expected) ** 2)], atol=1e-10)


@pytest.mark.parametrize("keep_root", [False, True])
def test_repeated_columns_share_their_coefficient_by_their_length(keep_root: bool) -> None:
    X, r = _rows(40, 2)
    repeated = np.column_stack([X, 3.0 * X[:, 0], np.zeros(40)])
    fit = least_squares(Moments.of(repeated, r, keep_root=keep_root))
    np.testing.assert_allclose(fit.coefficients[0], np.linalg.lstsq(repeated, r, rcond=1e-10)[0], atol=1e-12)
    assert fit.rank == 2
    assert fit.accurate


@pytest.mark.parametrize("ridge", [1e-3, 1.0, np.array([0.5, 0.0, 2.0])])
@pytest.mark.parametrize("keep_root", [False, True])
def test_ridge_is_least_squares_with_more_rows(ridge: float | Floats, keep_root: bool) -> None:
    X, r = _rows(20, 3)
    penalty = np.diag(np.sqrt(np.broadcast_to(ridge, 3)))
    expected = np.linalg.lstsq(np.vstack([X, penalty]), np.concatenate([r, np.zeros(3)]))[0]
    fit = least_squares(Moments.of(X, r, keep_root=keep_root), ridge)
    np.testing.assert_allclose(fit.coefficients[0], expected, atol=1e-13)
    np.testing.assert_allclose(fit.residual_squares, [np.sum((r - X @ expected) ** 2)], atol=1e-11)


def test_ill_conditioned_rows_need_their_root() -> None:
    X, r = _rows(60, 4)
    X[:, 3] = X[:, 0] + 1e-6 * X[:, 3]
    expected = np.linalg.lstsq(X, r)[0]
    plain, rooted = least_squares(Moments.of(X, r, keep_root=False)), least_squares(Moments.of(X, r))
    assert not plain.accurate
    assert rooted.accurate
    assert 1e6 < rooted.condition < 1e8
    np.testing.assert_allclose(X @ rooted.coefficients[0], X @ expected, atol=1e-9)


@pytest.mark.parametrize("ridge", [1e-2, 3.0, np.array([0.1, 5.0, 1.0])])
def test_factors_give_the_widths(ridge: float | Floats) -> None:
    X, r = _rows(40, 3)
    blocks = np.arange(40) % 2
    factors = ridge_fit(Moments.of(X, r, blocks=blocks, n_blocks=3), ridge)[1]
    x = np.array([0.3, -1.0, 2.0])
    for block in range(3):
        Z = X[blocks == block]
        inverse = np.linalg.inv(Z.T @ Z + np.diag(np.broadcast_to(ridge, 3)))
        assert np.sum((factors[block] @ x) ** 2) == pytest.approx(x @ inverse @ x, rel=1e-12)


def test_an_unseen_direction_is_never_narrower_than_the_ridge_allows() -> None:
    X = np.full((1000, 2), 1e9)
    factor = ridge_fit(Moments.of(X, np.zeros(1000), keep_root=False), 1.0)[1][0]
    unseen = np.array([1.0, -1.0])
    assert 1.0 < np.sum((factor @ unseen) ** 2) < 2.1


@pytest.mark.parametrize("ridge", [-1.0, math.nan, math.inf, np.array([1.0, 2.0])])
def test_wrong_ridges_are_named(ridge: float | Floats) -> None:
    with pytest.raises(ValueError, match="ridge"):
        least_squares(Moments.zeros(1, 3), ridge)


def test_widths_want_a_ridge() -> None:
    with pytest.raises(ValueError, match=r"ridge is 0\.0"):
        ridge_fit(Moments.zeros(1, 3), 0.0)

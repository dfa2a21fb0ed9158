"""Ridge and minimum-norm least squares from moments, in coordinates where the design is orthonormal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.oracles.linalg.conditioning import (
    GRAM_CONDITION,
    Triangles,
    blocks_suffice,
    equilibrated,
    triangles,
)
from gyrfalcon.oracles.linalg.whitening import Whitening, whitened_gram, whitened_rows
from gyrfalcon.oracles.solvers.moments import Moments

ROOT_CONDITION = 1e8
"""Beyond this condition a fit by orthogonal factors has lost half its digits."""


@dataclass(frozen=True, slots=True)
class LinearFit:
    """A least-squares fit of B blocks and how far it can be trusted."""

    coefficients: Floats
    """(B, d)."""
    condition: float
    """2-norm condition of the equilibrated design and its ridge, the worst block's; inf if rank deficient."""
    accurate: bool
    """Whether predictions keep about eight digits on the part that rows or ridge identify."""
    rank: int
    """Number of coefficients that rows or ridge identify."""
    residual_squares: Floats
    """(B,): sum of w (r - x'theta)^2."""


def penalty_of(ridge: float | Floats, d: int) -> Floats:
    """The (d,) penalty of each coefficient; ValueError unless finite and at least 0."""
    if isinstance(ridge, float) and ridge == 0.0:
        return np.zeros(d)
    given = np.asarray(ridge, dtype=np.float64)
    if given.shape not in {(), (d,)}:
        raise ValueError(
            f"ridge has shape {given.shape}; give one penalty, or one for each of {d} coefficients."
        )
    penalty = np.broadcast_to(given, (d,))
    if not (np.isfinite(penalty) & (penalty >= 0.0)).all():
        raise ValueError(f"ridge is {ridge}; a penalty is a finite number of at least 0.")
    return penalty


def penalty_rows(penalty: Floats, n_blocks: int) -> Floats:
    """(B, d, d + 1): for each block, rows with reward 0 whose squares are the penalty."""
    d = len(penalty)
    return np.broadcast_to(np.eye(d, d + 1) * np.sqrt(penalty)[:, None], (n_blocks, d, d + 1))


def least_squares(moments: Moments, ridge: float | Floats = 0.0, *, shortest: bool = True) -> LinearFit:
    """The fit of least sum w (r - x'theta)^2 + ridge |theta|^2 in each block.

    If there are several it is the shortest, which takes its time, or any of them without `shortest`.

    >>> fit = least_squares(Moments.of([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [1.0, 3.0, 5.0]))
    >>> fit.coefficients.round(12).tolist(), fit.rank, fit.accurate
    ([[1.0, 2.0]], 2, True)
    """
    penalty = penalty_of(ridge, moments.gram.shape[1])
    quick = _cholesky_fit(moments, penalty)
    if quick is not None:
        return quick[0]
    penalised = moments.gram + np.diag(penalty)
    if moments.root is None or blocks_suffice(penalised).all():
        whitening = whitened_gram(penalised)
        target = np.einsum("bij,bi->bj", whitening.basis, moments.cross)
        theta = np.einsum("bij,bj->bi", whitening.basis, target)
        theta = whitening.shortest(theta) if shortest else theta
        limit = GRAM_CONDITION
    else:
        rows = np.concatenate([moments.root, penalty_rows(penalty, len(penalised))], axis=1)
        theta, whitening = rows_fit(rows, shortest=shortest)
        limit = ROOT_CONDITION
    accurate = whitening.distinct and bool((whitening.conditions <= limit).all())
    rank = int(whitening.kept.sum())
    return LinearFit(theta, whitening.condition, accurate, rank, residual_squares(moments, theta))


def rows_fit(rows: Floats, *, shortest: bool = True) -> tuple[Floats, Whitening]:
    """The (B, d) minimum-norm fit of (B, m, d + 1) rows, target in the last column, and their whitening.

    Singular values decide the rank; a block of full rank is then solved by QR, which keeps a digit more.
    """
    d = rows.shape[2] - 1
    whitening = whitened_rows(rows[:, :, :-1])
    assert whitening.left is not None
    target = np.einsum("bmj,bm->bj", whitening.left[:, : rows.shape[1]], rows[:, :, -1])
    theta = np.einsum("bij,bj->bi", whitening.basis, target)
    theta = whitening.shortest(theta) if shortest else theta
    full = whitening.kept.all(axis=1)
    if full.any():
        triangle = triangles(rows[full])[:, :d]
        theta[full] = np.linalg.solve(triangle[:, :, :d], triangle[:, :, d:])[:, :, 0]
    return theta, whitening


def residual_squares(moments: Moments, coefficients: Floats) -> Floats:
    """(B,): sum of w (r - x'theta)^2 of given coefficients, (B, d)."""
    if moments.root is not None:
        residual = np.einsum("bmd,bd->bm", moments.root[:, :, :-1], coefficients) - moments.root[:, :, -1]
        return np.asarray(np.einsum("bm,bm->b", residual, residual))
    fitted = np.einsum("bij,bj->bi", moments.gram, coefficients) - 2.0 * moments.cross
    squares: Floats = np.maximum(moments.squares + np.einsum("bi,bi->b", fitted, coefficients), 0.0)
    return squares


def triangular_factors(triangles: Triangles, scale: Floats) -> Floats:
    """(B, d, d): lower triangles F with |F x|^2 = x'A^{-1} x, of the factors of A with scaled columns."""
    return np.tril(triangles.inverse.mT) * scale[:, None, :]


def ridge_fit(moments: Moments, ridge: float | Floats) -> tuple[LinearFit, Floats]:
    """The fit with a ridge above 0, and factors F (B, d, d) with |F x|^2 = x'(Gram + ridge)^{-1} x.

    Lower triangles where the condition is small, which it is unless features are nearly collinear.

    >>> factor = ridge_fit(Moments.of([[1.0, 0.0]], [1.0]), 1.0)[1][0]
    >>> (factor.T @ factor).round(12).tolist()
    [[0.5, 0.0], [0.0, 1.0]]
    """
    penalty = penalty_of(ridge, moments.gram.shape[1])
    if not (penalty > 0.0).all():
        raise ValueError(
            f"ridge is {ridge}; widths of unseen directions are finite only for a ridge above 0."
        )
    quick = _cholesky_fit(moments, penalty)
    if quick is not None:
        fit, basis = quick
        return fit, np.tril(basis.mT)
    scaled, scale = equilibrated(moments.gram + np.diag(penalty))
    values, vectors = np.linalg.eigh(scaled)
    # Rounding must not make an unseen direction look seen: no eigenvalue lies below that of the ridge alone.
    floor = (penalty * scale**2).min(axis=1, initial=np.inf)
    factors: Floats = vectors.mT * scale[:, None, :] / np.sqrt(np.maximum(values, floor[:, None]))[:, :, None]
    return least_squares(moments, ridge), factors


def _cholesky_fit(moments: Moments, penalty: Floats) -> tuple[LinearFit, Floats] | None:
    """The fit where every block's condition is surely small, as it nearly always is; else None.

    Also the (B, d, d) coordinates in which the design is orthonormal: theta = basis y.
    """
    scaled, scale = equilibrated(moments.gram + np.diag(penalty))
    triangles = Triangles.of(scaled)
    if triangles is None or not (triangles.conditions <= GRAM_CONDITION).all():
        return None
    basis = triangles.inverse
    basis *= scale[:, :, None]
    target = np.einsum("bij,bi->bj", basis, moments.cross)
    theta = np.einsum("bij,bj->bi", basis, target)
    condition = float(triangles.conditions.max(initial=1.0))
    return LinearFit(theta, condition, True, theta.size, residual_squares(moments, theta)), basis

"""Ridge and minimum-norm least squares from moments, in coordinates where the design is orthonormal."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.types import Bools, Floats
from gyrfalcon.oracles.moments import (
    GRAM_CONDITION,
    Moments,
    eigenvalue_tolerance,
    equilibrated,
    gram_suffices,
)

ROOT_CONDITION = 1e8
"""Beyond this condition a fit by orthogonal factors has lost half its digits."""

_SINGULAR_TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class LinearFit:
    """A least-squares fit of B blocks and how far it can be trusted."""

    coefficients: Floats
    """(B, d)."""
    condition: float
    """2-norm condition of the equilibrated design with its ridge, the worst block's; inf if rank deficient."""
    accurate: bool
    """Whether predictions keep about eight digits on the part that rows or ridge identify."""
    rank: int
    """Number of coefficients that rows or ridge identify."""
    residual_squares: Floats
    """(B,): sum of w (r - x'theta)^2."""


@dataclass(frozen=True, slots=True)
class Whitening:
    """Coordinates y of each block's columns in which the form is the identity: theta = basis y."""

    scale: Floats
    """(B, d): what the columns were multiplied with before anything else."""
    vectors: Floats
    """(B, d, d): right singular vectors of the scaled columns."""
    values: Floats
    """(B, d): their singular values."""
    kept: Bools
    """(B, d): which of them are not rounding."""
    distinct: bool = True
    """Whether a gap separates what was kept from what was taken for rounding."""
    left: Floats | None = None
    """(B, m, d): left singular vectors, when a stack of rows was whitened."""

    @property
    def basis(self) -> Floats:
        """(B, d, d): one column per coordinate, zero where nothing is identified."""
        inverse = np.where(self.kept, 1.0 / np.where(self.kept, self.values, 1.0), 0.0)
        basis: Floats = self.scale[:, :, None] * self.vectors * inverse[:, None, :]
        return basis

    @property
    def conditions(self) -> Floats:
        """(B,): condition of each block's identified part."""
        return spread(self.values, self.kept)

    @property
    def condition(self) -> float:
        """The worst block's condition, infinite when a coefficient is not identified."""
        return float(self.conditions.max(initial=1.0)) if self.kept.all() else math.inf

    def shortest(self, coefficients: Floats) -> Floats:
        """The coefficients with the same predictions and the least norm in the columns as given."""
        result = coefficients.copy()
        for block in np.flatnonzero(~self.kept.all(axis=1)):
            null = self.scale[block][:, None] * _reduced(self.vectors[block][:, ~self.kept[block]])
            axes, _ = np.linalg.qr(null / np.linalg.norm(null, axis=0))
            result[block] -= axes @ (axes.T @ result[block])
        return result


def spread(values: Floats, chosen: Bools) -> Floats:
    """(B,): largest over smallest of each block's chosen positive values; 1 where there are none."""
    largest = np.where(chosen, values, 0.0).max(axis=1, initial=0.0)
    smallest = np.where(chosen, values, np.inf).min(axis=1, initial=np.inf)
    return np.divide(largest, smallest, out=np.ones(len(values)), where=chosen.any(axis=1))


def _reduced(null: Floats) -> Floats:
    """The same null space by vectors that are one in one column of their own and zero in each other's.

    Singular vectors of a null space mix its parts and carry rounding in every column; undoing the scale of the
    columns would blow that rounding up, so parts are separated and rounding is removed before.
    """
    remaining, rows = null.copy(), []
    for _ in range(null.shape[1]):
        row = int(np.argmax((remaining**2).sum(axis=1)))
        axis = remaining[row] / np.linalg.norm(remaining[row])
        remaining -= np.outer(remaining @ axis, axis)
        rows.append(row)
    reduced: Floats = np.linalg.solve(null[rows].T, null.T).T
    return np.where(np.abs(reduced) > _SINGULAR_TOLERANCE, reduced, 0.0)


def whitened_gram(gram: Floats) -> Whitening:
    """The whitening of (B, d, d) Gram matrices, equilibrated first."""
    scaled, scale = equilibrated(gram)
    squares, vectors = np.linalg.eigh(scaled)
    tolerance = eigenvalue_tolerance(gram.shape[1]) * squares.max(axis=1, initial=0.0)[:, None]
    kept = squares > tolerance
    distinct = not (~kept & (squares > tolerance / 50.0)).any()
    return Whitening(scale, vectors, np.sqrt(np.where(kept, squares, 0.0)), kept, distinct)


def whitened_rows(rows: Floats) -> Whitening:
    """The whitening of (B, m, d) rows, equilibrated first; no Gram matrix is formed."""
    d = rows.shape[2]
    if rows.shape[1] < d:
        rows = np.concatenate([rows, np.zeros((len(rows), d - rows.shape[1], d))], axis=1)
    lengths = np.linalg.norm(rows, axis=1)
    scale = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
    left, values, right = np.linalg.svd(rows * scale[:, None, :], full_matrices=False)
    kept = values > _SINGULAR_TOLERANCE * values.max(axis=1, initial=0.0)[:, None]
    return Whitening(scale, right.mT, values, kept, left=left)


def penalty_of(ridge: float | Floats, d: int) -> Floats:
    """The (d,) penalty of each coefficient; ValueError unless finite and at least 0."""
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


def least_squares(moments: Moments, ridge: float | Floats = 0.0) -> LinearFit:
    """The fit that minimises sum w (r - x'theta)^2 + ridge |theta|^2 in each block, of least norm if several do.

    >>> fit = least_squares(Moments.of([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [1.0, 3.0, 5.0]))
    >>> fit.coefficients.round(12).tolist(), fit.rank, fit.accurate
    ([[1.0, 2.0]], 2, True)
    """
    penalty = penalty_of(ridge, moments.gram.shape[1])
    penalised = moments.gram + np.diag(penalty)
    if moments.root is None or gram_suffices(penalised):
        whitening = whitened_gram(penalised)
        target = np.einsum("bij,bi->bj", whitening.basis, moments.cross)
        theta = whitening.shortest(np.einsum("bij,bj->bi", whitening.basis, target))
        limit = GRAM_CONDITION
    else:
        rows = np.concatenate([moments.root, penalty_rows(penalty, len(penalised))], axis=1)
        theta, whitening = rows_fit(rows)
        limit = ROOT_CONDITION
    accurate = whitening.distinct and bool((whitening.conditions <= limit).all())
    rank = int(whitening.kept.sum())
    return LinearFit(theta, whitening.condition, accurate, rank, residual_squares(moments, theta))


def rows_fit(rows: Floats) -> tuple[Floats, Whitening]:
    """The (B, d) minimum-norm fit of (B, m, d + 1) rows, whose last column is the target, and their whitening.

    Singular values decide the rank; a block of full rank is then solved by QR, which keeps a digit more.
    """
    d = rows.shape[2] - 1
    whitening = whitened_rows(rows[:, :, :-1])
    assert whitening.left is not None
    target = np.einsum("bmj,bm->bj", whitening.left[:, : rows.shape[1]], rows[:, :, -1])
    theta = whitening.shortest(np.einsum("bij,bj->bi", whitening.basis, target))
    full = whitening.kept.all(axis=1)
    if full.any():
        triangle = np.linalg.qr(rows[full], mode="r")[:, :d]
        theta[full] = np.linalg.solve(triangle[:, :, :d], triangle[:, :, d:])[:, :, 0]
    return theta, whitening


def residual_squares(moments: Moments, coefficients: Floats) -> Floats:
    """(B,): sum of w (r - x'theta)^2 of given coefficients, (B, d)."""
    if moments.root is not None:
        residual = np.einsum("bmd,bd->bm", moments.root[:, :, :-1], coefficients) - moments.root[:, :, -1]
        return np.einsum("bm,bm->b", residual, residual)
    fitted = np.einsum("bij,bj->bi", moments.gram, coefficients) - 2.0 * moments.cross
    return np.maximum(moments.squares + np.einsum("bi,bi->b", fitted, coefficients), 0.0)


def ridge_factors(moments: Moments, ridge: float | Floats) -> Floats:
    """(B, d, d): factors F with |F x|^2 = x'(Gram + ridge)^{-1} x, for a ridge above 0.

    >>> factor = ridge_factors(Moments.of([[1.0, 0.0]], [1.0]), 1.0)[0]
    >>> (factor.T @ factor).round(12).tolist()
    [[0.5, 0.0], [0.0, 1.0]]
    """
    penalty = penalty_of(ridge, moments.gram.shape[1])
    if not (penalty > 0.0).all():
        raise ValueError(
            f"ridge is {ridge}; widths of unseen directions are finite only for a ridge above 0."
        )
    scaled, scale = equilibrated(moments.gram + np.diag(penalty))
    values, vectors = np.linalg.eigh(scaled)
    # Rounding must not make an unseen direction look seen: no eigenvalue lies below that of the ridge alone.
    floor = (penalty * scale**2).min(axis=1, initial=np.inf)
    factor: Floats = vectors.mT * scale[:, None, :] / np.sqrt(np.maximum(values, floor[:, None]))[:, :, None]
    return factor

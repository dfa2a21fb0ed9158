"""Coordinates in which a design is orthonormal, by Cholesky, eigenvectors or singular vectors as it needs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.oracles.linalg.conditioning import (
    GRAM_CONDITION,
    Triangles,
    eigenvalue_tolerance,
    equilibrated,
)
from gyrfalcon.oracles.linalg.lapack import eigh, pivots

_SINGULAR_TOLERANCE = 1e-12
_SCALES_ALIKE = 10.0
"""Scales of a block's columns that differ by at most this factor may be squared without a thought."""


@dataclass(frozen=True, slots=True)
class Whitening:
    """Coordinates y of each block's columns in which the form is the identity: theta = basis y."""

    scale: Floats
    """(B, d): what the columns were multiplied with before anything else."""
    basis: Floats
    """(B, d, d): a column per coordinate, zero where nothing is identified."""
    duals: Floats
    """(B, d, d): a column per coordinate whose product with scaled coefficients is the coordinate."""
    kept: Bools
    """(B, d): which coordinates are not rounding."""
    conditions: Floats
    """(B,): condition of each block's identified part, or a bound on it."""
    distinct: bool = True
    """Whether a gap separates what was kept from what was taken for rounding."""
    vectors: Floats | None = None
    """(B, d, d): right singular vectors of the scaled columns, when something may not be kept."""
    left: Floats | None = None
    """(B, m, d): left singular vectors, when a stack of rows was whitened."""

    @property
    def condition(self) -> float:
        """The worst block's condition, infinite when a coefficient is not identified."""
        return float(self.conditions.max(initial=1.0)) if self.kept.all() else math.inf

    def coordinates(self, coefficients: Floats) -> Floats:
        """(B, d): the coordinates of coefficients."""
        return np.asarray(np.einsum("bij,bi->bj", self.duals, coefficients / self.scale))

    def shortest(self, coefficients: Floats) -> Floats:
        """The coefficients with the same predictions and the least norm in the columns as given.

        The step along the null space is taken in scaled columns, where its rounding moves no prediction.
        """
        lacking = ~self.kept.all(axis=1)
        if self.vectors is None or not lacking.any():
            return coefficients.copy()
        alike = spread(self.scale, np.ones_like(self.kept)) <= _SCALES_ALIKE
        result = self._shortest_of_all(coefficients) if (alike & lacking).any() else coefficients.copy()
        for block in np.flatnonzero(lacking & ~alike).tolist():
            result[block] = self._shortest_of(block, coefficients[block])
        return result

    def _shortest_of_all(self, coefficients: Floats) -> Floats:
        """The shortest coefficients of all blocks at once, by a solve with the squared scales."""
        assert self.vectors is not None
        plain = self.kept[:, None, :] & (np.abs(self.vectors) > _SINGULAR_TOLERANCE)  # a zero column stays 0
        seen = np.where(plain, self.vectors, 0.0) / self.scale[:, :, None]
        form = seen.mT @ seen + np.where(self.kept, 0.0, 1.0)[:, None, :] * np.eye(self.kept.shape[1])
        y = seen.mT @ coefficients[:, :, None]
        shortest: Floats = (seen @ np.linalg.solve(form, y))[:, :, 0]
        return np.where(np.all(self.kept, axis=1, keepdims=True), coefficients, shortest)

    def _shortest_of(self, block: int, coefficients: Floats) -> Floats:
        assert self.vectors is not None
        scale, null = self.scale[block], _reduced(self.vectors[block][:, ~self.kept[block]])
        directions = scale[:, None] * null
        lengths = np.linalg.norm(directions, axis=0)
        axes, triangle = np.linalg.qr(directions / lengths)
        step = np.linalg.solve(triangle, axes.T @ coefficients) / lengths
        shortest: Floats = scale * (coefficients / scale - null @ step)
        return shortest


def whitened_gram(gram: Floats) -> Whitening:
    """The whitening of (B, d, d) Gram matrices, equilibrated first."""
    scaled, scale = equilibrated(gram)
    quick = _by_cholesky(scaled, scale)
    if quick is not None:
        return quick
    squares, vectors = eigh(scaled)
    tolerance = eigenvalue_tolerance(gram.shape[1]) * squares.max(axis=1, initial=0.0)[:, None]
    kept = squares > tolerance
    distinct = not (~kept & (squares > tolerance / 50.0)).any()
    return _by_vectors(scale, vectors, np.sqrt(np.where(kept, squares, 0.0)), kept, distinct)


def quick_whitening(gram: Floats) -> Whitening | None:
    """The whitening of (B, d, d) Gram matrices of which each surely has a small condition; else None."""
    return _by_cholesky(*equilibrated(gram))


def whitened_rows(rows: Floats) -> Whitening:
    """The whitening of (B, m, d) rows, equilibrated first; no Gram matrix is formed."""
    d = rows.shape[2]
    if rows.shape[1] < d:
        rows = np.concatenate([rows, np.zeros((len(rows), d - rows.shape[1], d))], axis=1)
    lengths = np.linalg.norm(rows, axis=1)
    scale = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
    left, values, right = np.linalg.svd(rows * scale[:, None, :], full_matrices=False)
    kept = values > _SINGULAR_TOLERANCE * values.max(axis=1, initial=0.0)[:, None]
    return _by_vectors(scale, right.mT, values, kept, left=left)


def _by_vectors(
    scale: Floats,
    vectors: Floats,
    values: Floats,
    kept: Bools,
    distinct: bool = True,
    left: Floats | None = None,
) -> Whitening:
    inverse = np.where(kept, 1.0 / np.where(kept, values, 1.0), 0.0)
    return Whitening(
        scale,
        basis=scale[:, :, None] * vectors * inverse[:, None, :],
        duals=vectors * values[:, None, :],
        kept=kept,
        conditions=spread(values, kept),
        distinct=distinct,
        vectors=vectors,
        left=left,
    )


def _by_cholesky(scaled: Floats, scale: Floats) -> Whitening | None:
    """The whitening by triangles, a third of the cost, where the condition is surely small; else None."""
    triangles = Triangles.of(scaled)
    if triangles is None or not (triangles.conditions <= GRAM_CONDITION).all():
        return None
    basis = triangles.inverse
    basis *= scale[:, :, None]
    kept = np.ones(scale.shape, dtype=np.bool_)
    return Whitening(scale, basis, triangles.factor, kept, triangles.conditions)


def spread(values: Floats, chosen: Bools) -> Floats:
    """(B,): largest over smallest of each block's chosen positive values; 1 where there are none."""
    largest = np.where(chosen, values, 0.0).max(axis=1, initial=0.0)
    smallest = np.where(chosen, values, np.inf).min(axis=1, initial=np.inf)
    ratio: Floats = np.divide(largest, smallest, out=np.ones(len(values)), where=chosen.any(axis=1))
    return ratio


def _reduced(null: Floats) -> Floats:
    """The null space by vectors that are one in one column of their own and zero in each other's.

    Singular vectors of a null space mix its parts and carry rounding in every column; undoing the scale of
    the columns would blow that rounding up, so parts are separated and rounding is removed before.
    """
    rows = pivots(null)
    reduced = np.asarray(np.linalg.solve(null[rows].T, null.T).T, dtype=np.float64)
    return np.where(np.abs(reduced) > _SINGULAR_TOLERANCE, reduced, 0.0)

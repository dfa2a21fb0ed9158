"""How many digits a Gram matrix has: equilibration, condition, tolerances, and QR where it has too few."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats

GRAM_CONDITION = 1e4
"""Above this condition of rows their Gram matrix, whose condition is the square, has lost half its digits."""
_TINY = 8
"""Columns from which a triangular inverse of its own call beats the general one of a whole stack."""


def equilibrated(gram: Floats) -> tuple[Floats, Floats]:
    """Gram matrices with a diagonal of ones, zero where a column is zero, and the (B, d) scale that does it.

    Scaling by the diagonal is within a factor of d of the best conditioning that scaling columns can reach.
    """
    diagonal = np.diagonal(gram, axis1=1, axis2=2)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    scaled = gram * scale[:, :, None]
    scaled *= scale[:, None, :]
    return scaled, scale


def blocks_suffice(gram: Floats) -> Bools:
    """(B,): whether a block's columns, leaving out zero columns, have a condition of at most 1e4."""
    scaled, _ = equilibrated(gram)
    empty = np.diagonal(gram, axis1=1, axis2=2) <= 0.0
    filled = scaled + empty[:, None, :] * np.eye(gram.shape[-1])
    if _surely_sufficient(filled):
        return np.ones(len(gram), dtype=np.bool_)
    triangles = Triangles.of(filled)
    if triangles is not None and (triangles.conditions <= GRAM_CONDITION).all():
        return np.ones(len(gram), dtype=np.bool_)
    values = np.linalg.eigvalsh(filled)
    smallest, largest = values.min(axis=1, initial=1.0), values.max(axis=1, initial=1.0)
    return np.asarray(smallest * GRAM_CONDITION**2 >= largest)


def _surely_sufficient(scaled: Floats) -> bool:
    """Whether determinants alone show that all is well, at a third of the cost of inverses.

    With a diagonal of ones the eigenvalues sum to d. Without the smallest their product is at most
    (d / (d - 1))^(d - 1) < e, so that the smallest is above det / e; and none is above d.
    """
    try:
        factor = np.linalg.cholesky(scaled)
    except np.linalg.LinAlgError:
        return False
    determinants = np.diagonal(factor, axis1=1, axis2=2).prod(axis=1) ** 2
    return bool((determinants * GRAM_CONDITION**2 >= math.e * scaled.shape[-1]).all())


@dataclass(frozen=True, slots=True)
class Triangles:
    """Cholesky factors of (B, d, d) matrices, their transposed inverses, and bounds on their conditions.

    Norms give the bounds at next to no cost: where they are small, no eigenvalue is needed.
    """

    factor: Floats
    inverse: Floats
    conditions: Floats

    @staticmethod
    def of(matrices: Floats) -> Triangles | None:
        """The factors; None unless all matrices are positive definite to working precision."""
        try:
            factor = np.asarray(np.linalg.cholesky(matrices), dtype=np.float64)
        except np.linalg.LinAlgError:
            return None
        inverse: Floats
        if factor.shape[1] < _TINY:
            inverse = np.asarray(np.linalg.inv(factor), dtype=np.float64).mT
        else:
            from scipy.linalg.lapack import dtrtri

            # A transposed C-ordered triangle is an upper one in Fortran's order, which LAPACK takes as it is.
            parts = [dtrtri(triangle.T)[0] for triangle in factor]
            inverse = parts[0][np.newaxis] if len(parts) == 1 else np.stack(parts)
        return Triangles(factor, inverse, np.maximum(_norm_bound(factor) * _norm_bound(inverse), 1.0))


def _norm_bound(matrices: Floats) -> Floats:
    """(B,): the geometric mean of largest column and row sums, which no 2-norm exceeds."""
    sizes = np.abs(matrices)
    bound: Floats = np.sqrt(
        sizes.sum(axis=1).max(axis=1, initial=0.0) * sizes.sum(axis=2).max(axis=1, initial=0.0)
    )
    return bound


def eigenvalue_tolerance(d: int) -> float:
    """The share of the largest eigenvalue of an equilibrated (d, d) Gram matrix below which all is rounding.

    Sums over rows leave each entry with an error of a few dozen units of rounding, sums over epochs likewise.
    """
    return max(1e-13, 16 * d * float(np.finfo(np.float64).eps))


def triangles(rows: Floats) -> Floats:
    """The triangular factor R of each (m, k) stack of rows, with R'R = rows'rows, by QR."""
    return np.asarray(np.linalg.qr(rows, mode="r"), dtype=np.float64)

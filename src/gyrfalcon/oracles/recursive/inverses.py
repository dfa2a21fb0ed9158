"""Inverses P = (A + ridge)^-1 of Gram matrices A: rank-k updates, and discounting of earlier rows."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Floats


def no_rows(n_actions: int, d: int, ridge: float) -> Floats:
    """The inverses (K, d, d) where there are no rows yet."""
    return np.tile(np.eye(d) / ridge, (n_actions, 1, 1))


class GrowingInverses:
    """Inverses (K, d, d) updated in place, with work space: allocation costs more than the sums.

    Rows F take P to P - V'V with V = L^-1 F P and LL' = I + F P F', which stays exactly symmetric, and with
    errors e = r - F theta they move the coefficients by V' L^-1 e.
    """

    def __init__(self, inverses: Floats) -> None:
        from scipy.linalg.lapack import dtrtrs

        self._inverses = inverses
        self._solve = dtrtrs
        self._room = np.empty(inverses.shape[1:])
        self.width = len(self._room)

    def updated(self, action: int, f: Floats, errors: Floats) -> tuple[Floats, Floats]:
        """The change (d,) of an action's coefficients by rows (m, d) with these errors, once P has them.

        Also the leverages (m,) that the rows had before.
        """
        inverse, n = self._inverses[action], len(f)
        if n >= self.width:
            leverages = np.einsum("nd,nd->n", f @ inverse, f)
            inverse[...] = inverse_of(inverse_of(inverse) + f.T @ f)
            return np.asarray(inverse @ (errors @ f)), np.maximum(leverages, 0.0)
        sides = np.empty((n, self.width + 1))
        towards, sides[:, -1] = sides[:, :-1], errors
        np.matmul(f, inverse, out=towards)
        spread = towards @ f.T
        leverages = np.maximum(spread.diagonal(), 0.0)
        spread.flat[:: n + 1] += 1.0
        solved = self._solve(_triangle(spread), sides, lower=0, trans=1)[0]
        v = np.ascontiguousarray(solved[:, :-1])
        inverse -= np.matmul(v.T, v, out=self._room)
        return np.asarray(solved[:, -1] @ v), leverages


def inverse_of(matrix: Floats) -> Floats:
    """The exactly symmetric inverse of a positive definite matrix.

    >>> inverse_of(np.array([[2.0, 1.0], [1.0, 1.0]])).round(12).tolist()
    [[1.0, -1.0], [-1.0, 2.0]]
    """
    from scipy.linalg.lapack import dpotri

    upper = np.triu(dpotri(_triangle(matrix))[0])
    return np.asarray(upper + np.triu(upper, 1).T)


def shrunken(inverses: Floats, factor: float, ridge: float) -> tuple[Floats, Floats]:
    """(K, d, d) each: the inverses where A is `factor` times what it was, and what they are multiplied by.

    >>> shrunken(np.array([[[0.2]]]), factor=0.5, ridge=1.0)[0].round(12).tolist()  # 1 / (4 + 1), 1 / (2 + 1)
    [[[0.333333333333]]]
    """
    eye = np.eye(inverses.shape[1])
    changes = np.stack([inverse_of(factor * eye + (1.0 - factor) * ridge * own) for own in inverses])
    products = inverses @ changes  # of matrices that commute: only rounding is not symmetric
    return (products + products.mT) / 2.0, changes


def _triangle(matrix: Floats) -> Floats:
    """The upper triangle R in Fortran's order with R'R = matrix; what is below it is undefined."""
    from scipy.linalg.lapack import dpotrf

    triangle, info = dpotrf(matrix, clean=0)
    if info != 0 or not np.isfinite(triangle[-1, -1]):
        raise ValueError(
            "Features or rewards are not finite, or too large for a recursive fit (products of up to "
            f"{np.abs(matrix).max():.1e}); drop such rows, or standardise the features first."
        )
    return np.asarray(triangle)

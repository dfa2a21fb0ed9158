"""Factorisations of stacks of matrices: NumPy's for many small ones, LAPACK's own calls for large ones.

NumPy copies on the way in and out; for a hundred columns that doubles the cost of a fit. For small matrices
its loop over the stack is what counts.
"""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints

_SMALL = 32


def eigh(symmetric: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues (B, d) in ascending order and eigenvectors (B, d, d) of matrices that it may overwrite.

    >>> eigh(np.array([[[2.0, 0.0], [0.0, 1.0]]]))[0].tolist()
    [[1.0, 2.0]]
    """
    if symmetric.shape[1] <= _SMALL:
        values, vectors = np.linalg.eigh(symmetric)
        return values, vectors
    from scipy.linalg.lapack import dsyevd

    factored = [dsyevd(matrix.T, overwrite_a=1) for matrix in symmetric]
    if any(info != 0 for _, _, info in factored):
        raise np.linalg.LinAlgError("Eigenvalues did not converge")
    return _stack([values for values, _, _ in factored]), _stack([vectors for _, vectors, _ in factored])


def pivots(columns: Floats) -> Ints:
    """Which rows of (d, k) columns span the others, the longest first, by QR with pivoting; k of them.

    >>> pivots(np.array([[0.1], [2.0], [1.0]])).tolist()
    [1]
    """
    from scipy.linalg.lapack import dgeqp3

    chosen: Ints = dgeqp3(columns.T)[1][: columns.shape[1]].astype(np.int64) - 1
    return chosen


def _stack(parts: list[Floats]) -> Floats:
    return parts[0][np.newaxis] if len(parts) == 1 else np.stack(parts)

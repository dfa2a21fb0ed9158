"""Sums of products that give a row the same bits alone and in any batch, and run at the speed of long rows.

Plain two-operand `np.einsum` on C-contiguous operands with rows last: its inner loop runs over the rows, and
each row sums over features in sequence. BLAS sums in an order that depends on the batch. A single row would
take another loop, so it is doubled.
"""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.types import Floats


def rows_last(x: Floats) -> Floats:
    """Rows (..., n, d) as columns (..., d, n), at least two of them."""
    if x.shape[-2] == 1:
        columns = np.empty((*x.shape[:-2], x.shape[-1], 2))
        columns[...] = x.mT
        return columns
    return np.ascontiguousarray(x.mT)


def lines(weights: Floats, columns: Floats, n: int) -> Floats:
    """(..., K, n): the products of weights (..., K, d) with columns (..., d, n) of `rows_last`."""
    form = "kp,pn->kn" if weights.ndim == 2 else "rkp,rpn->rkn"
    products: Floats = np.einsum(form, weights, columns)
    return products if n > 1 else products[..., :1]


def lengths(factors: Floats, columns: Floats, n: int) -> Floats:
    """(..., K, n): the lengths |F_k x| for factors (..., K, i, d) and columns (..., d, n) of `rows_last`."""
    form = "kij,jn->kin" if factors.ndim == 3 else "rkij,rjn->rkin"
    stretched = np.einsum(form, factors, columns)
    stretched *= stretched
    # A sum over a middle axis adds whole rows one after the other.
    squares: Floats = np.add.reduce(stretched, axis=-2)
    return np.sqrt(squares)[..., :n]

"""Sums of products whose bits depend on their own terms alone, not on the rows and actions beside them.

BLAS and `np.einsum` choose the order of a sum by the shapes of their operands, so that a row's score could
change in its last bit with the size of the batch or the number of actions. Here every sum starts from 0.0 and
takes its terms in ascending order, one rounded product and one rounded addition each, as a loop over Python
floats would: the result follows from IEEE arithmetic, whatever the shapes, the processor and the BLAS.

All sums go through `_sum_products`. Its operands have the features first, so that `np.multiply` and
`np.add.reduce` work on whole arrays elementwise: NumPy sums pairwise along the fastest axis only.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats

_TERMS = 1 << 16
"""Products that are held at a time, so that they are still in cache when they are added up."""
_RESULTS = 1 << 13
"""Sums that are worked on at a time."""
_LONG_AXIS = 1024
"""Length of the last axis above which it is cut rather than another one."""
_FEW_ROWS = 4
"""Rows up to which quadratic forms are computed one row at a time."""
_COLUMNS = 32
"""Columns of a triangle that are multiplied at a time for one row."""


def inner_products(a: Floats, b: Floats) -> Floats:
    """(..., m, n): the inner products of the rows of a (..., m, d) with those of b (..., n, d).

    >>> inner_products(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[10.0, 1.0]])).tolist()
    [[12.0], [34.0]]
    """
    if len(b) == 1 and b.ndim == 2 and 1 < len(a) <= _RESULTS and a.size <= _TERMS:
        return _products_with_row(a, b)
    if b.shape[-2] < a.shape[-2]:  # the longer axis last, so that inner loops are long
        return np.ascontiguousarray(inner_products(b, a).mT)
    sums = np.empty((*a.shape[:-1], b.shape[-2]))
    left, right = _features_first(a)[..., np.newaxis], _features_first(b)[..., np.newaxis, :]
    if a.shape[-2] > 1:
        right = np.ascontiguousarray(right)
    with _small_buffers(sums.size * len(left), sums.shape[-1]):
        _sum_products(left, right, sums)
    return sums


def weighted_norms(factors: Floats, x: Floats) -> Floats:
    """(..., K, n): the norms |F_k x| for factors (..., K, i, d) and rows (..., n, d).

    >>> weighted_norms(np.array([[[1.0, 0.0], [0.0, 2.0]]]), np.array([[3.0, 2.0]])).tolist()
    [[5.0]]
    """
    *stack, n_actions, height, width = factors.shape
    n, numbers = x.shape[-2], n_actions * height
    squares = np.empty((*stack, n_actions, n))
    if stack and squares.size * height > _TERMS:  # one replication at a time leaves room for more rows
        for own, rows, out in zip(factors, x, squares, strict=True):
            out[...] = weighted_norms(own, rows)
        return squares
    weights = factors.reshape(*stack, numbers, width)
    for part in _parts(n, _TERMS // max(numbers, 1)):
        out = squares[..., part]
        images = inner_products(weights, x[..., part, :]).reshape(*stack, n_actions, height, out.shape[-1])
        images = images.transpose(-2, *range(len(stack) + 1), -1)
        _sum_products(images, images, out)
    return np.sqrt(squares, out=squares)


def quadratic_forms(matrices: Floats, x: Floats) -> Floats:
    """(K, n): x' P_k x for symmetric matrices (K, d, d) and rows (n, d), at least 0.

    One triangle is enough: x'Px is twice the sum over i of x_i (P_1i x_1 + ... + P_ii x_i / 2).

    >>> quadratic_forms(np.array([[[2.0, 1.0], [1.0, 3.0]]]), np.array([[1.0, 10.0]])).tolist()
    [[322.0]]
    """
    values = np.empty((len(matrices), len(x)))
    if len(x) <= _FEW_ROWS:
        for row, out in zip(x, values.T, strict=True):
            _form_of_row(matrices, row, out)
    else:
        _forms_of_rows(matrices, x, values)
    values *= 2.0
    return np.maximum(values, 0.0, out=values)


def _products_with_row(a: Floats, row: Floats) -> Floats:
    """(m, 1): the inner products with a single row, the shortest way for a live decision."""
    terms = np.empty((a.shape[1], a.shape[0]))
    np.multiply(a.T, row.T, out=terms)
    sums: Floats = np.add.reduce(terms, axis=0, initial=0.0)
    return sums[:, np.newaxis]


def _forms_of_rows(matrices: Floats, x: Floats, out: Floats) -> None:
    """Write half the forms of many rows: rows are the last axis, and i is taken in ascending order."""
    halved = matrices.copy()
    np.einsum("kii->ki", halved)[...] *= 0.5
    for part in _parts(len(x), _RESULTS // max(len(matrices), 1)):
        columns, total = np.ascontiguousarray(x[part].T), out[:, part]
        total[...] = 0.0
        sums = np.empty(total.shape)
        with _small_buffers(matrices.size * len(x), columns.shape[1]):
            for i, column in enumerate(columns):
                _sum_products(halved[:, : i + 1, i].T[..., np.newaxis], columns[: i + 1, np.newaxis], sums)
                sums *= column
                total += sums


def _form_of_row(matrices: Floats, row: Floats, out: Floats) -> None:
    """Write half the forms of one row, (K,): the columns of the triangles are the last axis."""
    n_actions, d = matrices.shape[:2]
    diagonal = (np.einsum("kii->ik", matrices) * 0.5) * row[:, np.newaxis]
    sums = np.zeros((n_actions, d))
    for start in range(0, d, _COLUMNS):
        stop = min(start + _COLUMNS, d)
        terms = np.empty((1 + stop - start, n_actions, d - start))
        terms[0] = sums[:, start:]
        block = matrices[:, start:stop, start:].transpose(1, 0, 2)
        np.multiply(block, row[start:stop, np.newaxis, np.newaxis], out=terms[1:])
        corner = terms[1:, :, : stop - start]
        np.copyto(corner, 0.0, where=_below(stop - start))
        np.einsum("jkj->jk", corner)[...] = diagonal[start:stop]
        _add_in_order(terms, sums[:, start:])
    _sum_products(row[:, np.newaxis], sums.T, out)


def _below(width: int) -> Bools:
    """(j, 1, i): where i < j, which is outside the triangle."""
    return np.tri(width, k=-1, dtype=np.bool_)[:, np.newaxis]


def _sum_products(left: Floats, right: Floats, out: Floats) -> None:
    """Write the sum over p, in ascending order, of left[p] * right[p], where both are broadcast."""
    if out.size <= _RESULTS:
        _sum_in_cache(left, right, out)
        return
    axis = out.ndim - 1 if out.shape[-1] > _LONG_AXIS else int(np.argmax(np.array(out.shape) > 1))
    middle = out.shape[axis] // 2
    for half in (slice(None, middle), slice(middle, None)):
        where = (*(slice(None),) * axis, half)
        _sum_products(_cut(left, where), _cut(right, where), out[where])


def _cut(operand: Floats, where: tuple[slice, ...]) -> Floats:
    """The part of an operand at a place of the result, all of it along an axis of length 1."""
    return operand if operand.shape[len(where)] == 1 else operand[:, *where]


def _sum_in_cache(left: Floats, right: Floats, out: Floats) -> None:
    """Write the sums as `_sum_products` does, some features at a time on top of those before."""
    d, step = len(left), max(1, _TERMS // max(out.size, 1))
    if d <= step:
        terms = np.empty((d, *out.shape))
        np.multiply(left, right, out=terms)
        _add_in_order(terms, out)
        return
    terms = np.empty((1 + step, *out.shape))
    terms[0] = 0.0
    for start in range(0, d, step):
        some = terms[: 1 + min(step, d - start)]
        np.multiply(left[start : start + step], right[start : start + step], out=some[1:])
        _add_in_order(some, out)
        terms[0] = out


def _add_in_order(terms: Floats, out: Floats) -> None:
    """Write 0.0 + terms[0] + terms[1] + ..., from left to right."""
    if out.size == 1:  # a single sum runs along the fastest axis, where `reduce` adds in pairs
        out[...] = np.add.accumulate(np.append(0.0, terms))[-1]
    else:
        np.add.reduce(terms, axis=0, initial=0.0, out=out)


def _features_first(x: Floats) -> Floats:
    return x.T if x.ndim == 2 else x.transpose(2, 0, 1)


def _parts(n: int, size: int) -> Iterator[slice]:
    """Parts of n rows that have this size, or 64 rows: shorter inner loops would cost more than the cache."""
    size = max(64, size)
    return (slice(start, start + size) for start in range(0, n, size))


@contextmanager
def _small_buffers(n_products: int, length: int) -> Iterator[None]:
    """Keep NumPy from copying weights into buffers, as long as rows are, before it multiplies rows by them.

    It takes as long as multiplying. Rows must be long, and products many, for this to pay.
    """
    if n_products < _TERMS or length < 128:
        yield
        return
    with np.errstate():  # restores the size of buffers, too
        np.setbufsize(16)
        yield

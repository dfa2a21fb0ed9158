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
from functools import cache

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats

_TERMS = 1 << 16
"""Products that are held at a time, so that they are still in cache when they are added up."""
_SUMS = 1 << 11
"""Sums that are worked on at a time, at least, so that NumPy's loops over them are long."""
_FEW_ROWS = 4
"""Rows up to which quadratic forms are computed one row at a time."""
_COLUMNS = 32
"""Columns of a triangle that are multiplied at a time for one row."""
_BAND = 5
"""Rows of a triangle, at least, that are multiplied at a time by many rows."""


def inner_products(a: Floats, b: Floats) -> Floats:
    """(..., m, n): the inner products of the rows of a (..., m, d) with those of b (..., n, d).

    >>> inner_products(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[10.0, 1.0]])).tolist()
    [[12.0], [34.0]]
    """
    if len(b) == 1 and b.ndim == 2 and len(a) > 1 and a.size <= _TERMS:
        return _sums_at_once(a.T, b.T)[:, np.newaxis]
    if b.shape[-2] < a.shape[-2]:  # the longer axis last, so that loops over it are long
        return np.ascontiguousarray(inner_products(b, a).mT)
    sums = np.empty((*a.shape[:-1], b.shape[-2]))
    if a.ndim == 2:
        with _small_buffers(a.size * len(b), len(b)):
            _products_in_parts(a, b, sums)
    elif sums.size * a.shape[-1] > _TERMS:
        for left, right, out in zip(a, b, sums, strict=True):
            out[...] = inner_products(left, right)
    else:
        left, right = a.transpose(2, 0, 1), b.transpose(2, 0, 1)
        _sum_products(left[..., np.newaxis], right[:, :, np.newaxis], sums)
    return sums


def weighted_norms(factors: Floats, x: Floats) -> Floats:
    """(..., K, n): the norms |F_k x| for factors (..., K, i, d) and rows (..., n, d).

    >>> weighted_norms(np.array([[[1.0, 0.0], [0.0, 2.0]]]), np.array([[3.0, 2.0]])).tolist()
    [[5.0]]
    """
    *stack, n_actions, height, width = factors.shape
    if not stack and len(x) == 1 < n_actions:
        images = inner_products(factors.reshape(n_actions * height, width), x)
        columns = images.reshape(n_actions, height).T
        return np.sqrt(_sums_at_once(columns, columns))[:, np.newaxis]
    squares = np.empty((*stack, n_actions, x.shape[-2]))
    if stack and squares.size * height > _TERMS:
        for own, rows, out in zip(factors, x, squares, strict=True):
            out[...] = weighted_norms(own, rows)
        return squares
    _sum_squares(factors, x, squares)
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
            _sum_products(row[:, np.newaxis], _triangle_times_row(matrices, row).T, out)
    else:
        _forms_of_rows(matrices, x, values)
    values *= 2.0
    return np.maximum(values, 0.0, out=values)


def _sums_at_once(left: Floats, right: Floats) -> Floats:
    """(m,): the sums over p of left[p] * right[p], where m is at least 2: the way of a live decision."""
    terms = np.empty(left.shape)
    np.multiply(left, right, out=terms)
    sums: Floats = np.add.reduce(terms, axis=0, initial=0.0)
    return sums


def _products_in_parts(a: Floats, b: Floats, out: Floats) -> None:
    """Write the inner products of rows a (m, d) and b (n, d), of as many at a time as stay in cache."""
    at_once = max(_SUMS, _TERMS // max(a.shape[1], 1))
    for part in _parts(len(b), at_once):
        columns = b[part].T[:, np.newaxis]
        if len(a) > 1:
            columns = np.ascontiguousarray(columns)
        step = max(1, at_once // columns.shape[-1])
        for start in range(0, len(a), step):
            some = slice(start, start + step)
            _sum_products(a[some].T[..., np.newaxis], columns, out[some, part])


def _sum_squares(factors: Floats, x: Floats, out: Floats) -> None:
    """Write the squared norms |F_k x|^2 of many rows, (..., K, n), for factors (..., K, i, d)."""
    *stack, n_actions, height, _ = factors.shape
    bands = _bands(factors, x.shape[-2])
    for part in _parts(x.shape[-2], _TERMS // max(n_actions * height, 1)):
        squares, rows = out[..., part], x[..., part, :]
        images = np.empty((height, *stack, n_actions, squares.shape[-1]))
        for band, width in bands:
            weights = np.ascontiguousarray(factors[..., band, :width])
            flat = weights.reshape(*stack, n_actions * weights.shape[-2], width)
            products = inner_products(flat, np.ascontiguousarray(rows[..., :width]))
            products = products.reshape(*squares.shape[:-1], weights.shape[-2], squares.shape[-1])
            images[band] = np.moveaxis(products, -2, 0)
        _sum_products(images, images, squares)


def _bands(factors: Floats, n_rows: int) -> list[tuple[slice, int]]:
    """Bands of the factors' rows with the columns that they need: all in one, or fewer of a lower triangle.

    Terms that are 0 change no bit of a sum that starts from 0.0, so they may be left out.
    """
    height, width = factors.shape[-2:]
    step = max(_BAND, height // 8)
    if n_rows < 256 or height != width or height <= step or np.triu(factors, 1).any():
        return [(slice(0, height), width)]
    return [(slice(i, i + step), min(i + step, width)) for i in range(0, height, step)]


def _forms_of_rows(matrices: Floats, x: Floats, out: Floats) -> None:
    """Write half the forms of many rows: rows are the last axis, and i is taken in ascending order."""
    halved = matrices.copy()
    np.einsum("kii->ki", halved)[...] *= 0.5
    for part in _parts(len(x), 4 * _SUMS // max(len(matrices), 1)):
        columns, total = np.ascontiguousarray(x[part].T), out[:, part]
        total[...] = 0.0
        sums = np.empty(total.shape)
        with _small_buffers(matrices.size * len(x), columns.shape[1]):
            for i, column in enumerate(columns):
                weights = np.transpose(halved[:, : i + 1, i])
                _sum_products(weights[..., np.newaxis], columns[: i + 1, np.newaxis], sums)
                sums *= column
                total += sums


def _triangle_times_row(matrices: Floats, row: Floats) -> Floats:
    """(K, d): P_1i x_1 + ... + P_ii x_i / 2 for each i, which is the last axis here."""
    n_actions, d = matrices.shape[:2]
    diagonal = (matrices.diagonal(axis1=1, axis2=2).T * 0.5) * row[:, np.newaxis]
    sums = np.zeros((n_actions, d))
    for start in range(0, d, _COLUMNS):
        width = min(_COLUMNS, d - start)
        terms = np.empty((1 + width, n_actions, d - start))
        terms[0] = sums[:, start:]
        block = matrices[:, start : start + width, start:].transpose(1, 0, 2)
        np.multiply(block, row[start : start + width, np.newaxis, np.newaxis], out=terms[1:])
        corner = terms[1:, :, :width]
        np.copyto(corner, 0.0, where=_below(width))
        np.einsum("jkj->jk", corner)[...] = diagonal[start : start + width]
        _add_in_order(terms, sums[:, start:])
    return sums


@cache
def _below(width: int) -> Bools:
    """(j, 1, i): where i < j, which is outside the triangle."""
    return np.tri(width, k=-1, dtype=np.bool_)[:, np.newaxis]


def _sum_products(left: Floats, right: Floats, out: Floats) -> None:
    """Write the sum over p of left[p] * right[p], in ascending order, some p at a time."""
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


def _parts(n: int, size: int) -> Iterator[slice]:
    """Parts of n rows that have this size, or 256 rows if that is more: NumPy's loops over them are long."""
    size = max(256, size)
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

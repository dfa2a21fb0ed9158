"""Sums of products that give a row the same bits alone and in any batch, at close to the speed of BLAS.

BLAS sums in an order that depends on the shape of its operands, so it is asked for tiles of one shape: 16
rows, the last ones padded with zeros, and few enough weights at a time for it to use one thread. Whether
every place of a tile gives the same bits is looked at once for each shape. Where it does not, and where
products are so few that calls cost more than sums, it is plain two-operand `np.einsum` on C-contiguous
operands with rows last: its inner loop runs over the rows, and each row sums over features in sequence. A
single row would take another loop there, so it is doubled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

import numpy as np

from gyrfalcon.core.arrays import Floats

_TILE = 16
_FEW = 64
"""Products of a row for which a call of BLAS does not pay."""
_ONE_THREAD = 1 << 18
"""Products of a tile up to which OpenBLAS uses one thread."""
_IN_CACHE = 1 << 16
"""Numbers that are worked on while they are in cache."""
_FORMS = {2: "kp,pn->kn", 3: "rkp,rpn->rkn"}


def lines(weights: Floats, x: Floats) -> Floats:
    """(..., K, n): the products of weights (..., K, d) with rows (..., n, d)."""
    n, (height, width) = x.shape[-2], weights.shape[-2:]
    if n < _TILE and _weights_at_once(height, width) == height:
        return _tile_products(weights, x)
    products = np.empty((*x.shape[:-2], height, n))
    for part in _parts(x, x.shape[-1]):
        _multiply(weights, x[..., part, :], products[..., part])
    return products


def lengths(factors: Floats, x: Floats) -> Floats:
    """(..., K, n): the lengths |F_k x| for factors (..., K, i, d) and rows (..., n, d)."""
    squares = _sums_of_products(factors, x, _squares)
    return np.sqrt(squares, out=squares)


def forms(matrices: Floats, x: Floats) -> Floats:
    """(..., K, n): x' P_k x for symmetric matrices (..., K, d, d) and rows (..., n, d), at least 0."""
    n_actions, height, width = matrices.shape[-3:]
    # As many actions as BLAS takes at once, so that large matrices leave room in cache for many rows.
    step = max(1, (_weights_at_once(n_actions * height, width) or n_actions * height) // max(height, 1))
    values = np.empty((*x.shape[:-2], n_actions, x.shape[-2]))
    for at in range(0, n_actions, step):
        some = slice(at, at + step)
        values[..., some, :] = _sums_of_products(matrices[..., some, :, :], x, _times_rows)
    return np.maximum(values, 0.0, out=values)


def _sums_of_products(matrices: Floats, x: Floats, multiply: Callable[[Floats, Floats], None]) -> Floats:
    """(..., K, n): sums over i of (M_k x)_i multiplied by themselves, or by x_i."""
    n_actions, height = matrices.shape[-3:-1]
    sums = np.empty((*x.shape[:-2], n_actions, x.shape[-2]))
    if x.ndim == 3 and n_actions * height > _FEW:
        # One after the other: together they would leave too few rows at a time for the cache.
        for own, rows, out in zip(matrices, x, sums, strict=True):
            _sum_products(own, rows, multiply, out)
    else:
        _sum_products(matrices, x, multiply, sums)
    return sums


def _sum_products(
    matrices: Floats, x: Floats, multiply: Callable[[Floats, Floats], None], out: Floats
) -> None:
    *leading, n_actions, height, width = matrices.shape
    weights = matrices.reshape(*leading, n_actions * height, width)
    for part in _parts(x, n_actions * height):
        rows = x[..., part, :]
        n = rows.shape[-2]
        stretched = np.empty((*leading, n_actions * height, max(n, 2)))
        stretched[..., n:] = 0.0
        _multiply(weights, rows, stretched[..., :n])
        stretched = stretched.reshape(*leading, n_actions, height, max(n, 2))
        multiply(stretched, rows)
        # A sum over a middle axis adds whole rows one after the other, if these have two numbers at least.
        out[..., part] = np.add.reduce(stretched, axis=-2)[..., :n]


def _squares(stretched: Floats, x: Floats) -> None:  # noqa: ARG001 - a factor's other side is itself
    stretched *= stretched


def _times_rows(stretched: Floats, x: Floats) -> None:
    stretched[..., : x.shape[-2]] *= x.mT[..., np.newaxis, :, :]


def _parts(x: Floats, numbers_per_row: int) -> Iterable[slice]:
    """Stretches of rows, whole tiles of them, that stay in cache with so many numbers each."""
    n, at_once = x.shape[-2], numbers_per_row * (len(x) if x.ndim == 3 else 1)
    size = max(1, _IN_CACHE // (max(at_once, 1) * _TILE)) * _TILE
    return (slice(start, start + size) for start in range(0, n, size))


def _multiply(weights: Floats, x: Floats, out: Floats) -> None:
    """Write the products of weights (..., M, d) with rows (..., n, d), at (..., M, n)."""
    height = weights.shape[-2]
    step = _weights_at_once(height, weights.shape[-1])
    if step == 0:
        _multiply_rows_last(weights, x, out)
    elif step >= height:
        _multiply_tiles(weights, x, out)
    else:
        for at in range(0, height, step):
            _multiply_tiles(weights[..., at : at + step, :], x, out[..., at : at + step, :])


@cache
def _weights_at_once(height: int, width: int) -> int:
    """How many rows of weights BLAS is given at once; 0 where it is not asked."""
    if height * width < _FEW:
        return 0
    step = min(height, max(1, _ONE_THREAD // (_TILE * width)))
    return step if _steady(step, width) and _steady(height % step or step, width) else 0


def _steady(height: int, width: int) -> bool:
    """Whether a row gets the same bits at every place of a tile, for weights of this shape."""
    weights = np.sin(np.arange(1.0, height * width + 1.0)).reshape(height, width)
    products = weights @ np.tile(np.cos(np.arange(1.0, width + 1.0)), (_TILE, 1)).T
    return bool((products == products[:, :1]).all())


def _multiply_tiles(weights: Floats, x: Floats, out: Floats) -> None:
    """The same by one call of BLAS for each sixteen rows."""
    *leading, n, width = x.shape
    whole = n - n % _TILE
    if whole:
        tiles = x[..., :whole, :].reshape(*leading, whole // _TILE, _TILE, width)
        places = out[..., :whole].reshape(*leading, out.shape[-2], whole // _TILE, _TILE)
        np.matmul(weights[..., np.newaxis, :, :], tiles.mT, out=np.moveaxis(places, -3, -2))
    if whole < n:
        out[..., whole:] = _tile_products(weights, x[..., whole:, :])


def _tile_products(weights: Floats, x: Floats) -> Floats:
    """The products of weights with fewer rows than a tile has."""
    n = x.shape[-2]
    if x.ndim == 2:  # the single row of a live decision: `dot` calls the same routine with less ado
        tile = np.zeros((_TILE, x.shape[1]))
        tile[:n] = x
        products: Floats = weights.dot(tile.T)
    else:
        tiles = np.zeros((len(x), _TILE, x.shape[2]))
        tiles[:, :n] = x
        products = np.matmul(weights, tiles.mT)
    return products[..., :n]


def _multiply_rows_last(weights: Floats, x: Floats, out: Floats) -> None:
    """The same by sums over features in sequence."""
    if x.shape[-2] == 1:
        columns = np.empty((*x.shape[:-2], x.shape[-1], 2))
        columns[...] = x.mT
        out[...] = np.einsum(_FORMS[weights.ndim], weights, columns)[..., :1]
    else:
        np.einsum(_FORMS[weights.ndim], weights, np.ascontiguousarray(x.mT), out=out)

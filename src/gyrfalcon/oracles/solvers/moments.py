"""Sums over rows that a least-squares fit needs, block by block, and the QR factor that keeps more digits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.settings import shapes_repr
from gyrfalcon.oracles.linalg.conditioning import blocks_suffice, gram_root, triangles

_ROUNDING = 64 * float(np.finfo(np.float64).eps)
ROWS_PER_CHUNK = 1024
"""Rows whose root is made at a time, at least."""
_NUMBERS_PER_CHUNK, _LEAST_PER_CHUNK = 1 << 16, 256
"""Numbers, and rows at least, that are summed at a time, so that they stay in cache until they are."""
_FEW_BLOCKS = 4


@dataclass(frozen=True, slots=True)
class Moments:
    """Sufficient statistics of least squares for B blocks of rows with d features each; they add up.

    Attributes
    ----------
    gram : array of float
        (B, d, d): sum of w x x'.
    cross : array of float
        (B, d): sum of w x r.
    squares : array of float
        (B,): sum of w r^2.
    weight : array of float
        (B,): sum of w.
    root : array of float, optional
        (B, m, d + 1): a factor R with R'R = [X r]' W [X r], kept where the Gram matrix alone is too coarse.

    Examples
    --------
    >>> rows = Moments.of([[1.0, 2.0], [3.0, 4.0]], [1.0, 0.0])
    >>> (rows + rows).gram[0].tolist()
    [[20.0, 28.0], [28.0, 40.0]]
    >>> rows.n, rows.root is None
    (2.0, True)
    """

    gram: Floats
    cross: Floats
    squares: Floats
    weight: Floats
    root: Floats | None = None

    __repr__ = shapes_repr

    @staticmethod
    def of(
        features: ArrayLike,
        rewards: ArrayLike,
        *,
        blocks: ArrayLike | None = None,
        n_blocks: int = 1,
        weights: ArrayLike | None = None,
        keep_root: bool | None = None,
    ) -> Moments:
        """The moments of rows: (n, d) features, (n,) rewards, block numbers and weights.

        `keep_root` None keeps the QR factor of the rows when the condition of a block is above 1e4.
        """
        rows = Rows.of(features, rewards, blocks=blocks, n_blocks=n_blocks, weights=weights)
        moments = rows.moments()
        if keep_root or (keep_root is None and not blocks_suffice(moments.gram).all()):
            return rows.with_root(moments)
        return moments

    @staticmethod
    def zeros(n_blocks: int, d: int) -> Moments:
        """The moments of no rows."""
        B = n_blocks
        return Moments(np.zeros((B, d, d)), np.zeros((B, d)), np.zeros(B), np.zeros(B))

    @property
    def n(self) -> float:
        """The total weight of the rows."""
        return float(self.weight.sum())

    @property
    def reward_variance(self) -> float:
        """The variance of rewards, if the first column is the intercept; else their mean square, larger.

        >>> Moments.of(np.ones((4, 1)), np.array([0.0, 1.0, 0.0, 1.0])).reward_variance
        0.25
        """
        n = self.n
        if n == 0.0:
            return 0.0
        mean_square = float(self.squares.sum()) / n
        has_intercept = np.array_equal(self.gram[:, 0, 0], self.weight) if self.gram.shape[1] else False
        mean = float(self.cross[:, 0].sum()) / n if has_intercept else 0.0
        variance = mean_square - mean**2
        return variance if variance > _ROUNDING * mean_square else 0.0

    def __add__(self, other: Moments) -> Moments:
        root = None if self.root is None and other.root is None else _merged_root(self, other)
        gram, cross = self.gram + other.gram, self.cross + other.cross
        return Moments(gram, cross, self.squares + other.squares, self.weight + other.weight, root)

    def rootless(self) -> Moments:
        """The sums alone, which are enough for means and variances, and add up faster."""
        return Moments(self.gram, self.cross, self.squares, self.weight)

    def scaled(self, factor: float) -> Moments:
        """The moments with every row's weight times a factor of at least 0, as forgetting does."""
        if not factor >= 0.0:
            raise ValueError(f"factor is {factor}; weights stay weights only under a factor of at least 0.")
        root = None if self.root is None else math.sqrt(factor) * self.root
        gram, cross = factor * self.gram, factor * self.cross
        return Moments(gram, cross, factor * self.squares, factor * self.weight, root)

    def transformed(self, matrix: Floats) -> Moments:
        """The moments of the features z = matrix @ x, with a (d2, d) matrix, or R for R equal shares.

        A feature of which only the rounding of its terms remains, like a constant that was centred, is zero.
        """
        groups = matrix.reshape(-1, *matrix.shape[-2:])
        lengths = self._grouped(np.sqrt(np.diagonal(self.gram, axis1=1, axis2=2)), np.abs(groups))
        if self.root is None:
            own = self.gram.reshape(len(groups), -1, *self.gram.shape[1:])
            turned = groups[:, np.newaxis] @ own @ groups[:, np.newaxis].mT
            gram, root = turned.reshape(len(self.gram), *turned.shape[2:]), None
            cross = self._grouped(self.cross, groups)
            seen = np.diagonal(gram, axis1=1, axis2=2) > _ROUNDING * lengths**2
        else:
            features, target = self.root[:, :, :-1] @ matrix.T, self.root[:, :, -1:]
            seen = np.linalg.norm(features, axis=1) > _ROUNDING * lengths
            root = np.concatenate([features * seen[:, None, :], target], axis=2)
            gram, cross = features.mT @ features, (features.mT @ target)[:, :, 0]
        gram = gram * seen[:, :, None] * seen[:, None, :]
        return Moments(gram, cross * seen, self.squares, self.weight, root)

    @staticmethod
    def _grouped(rows: Floats, matrices: Floats) -> Floats:
        """(B, d) rows times the transposed matrix of their group, (B, d2)."""
        turned = rows.reshape(len(matrices), -1, rows.shape[1]) @ matrices.mT
        return turned.reshape(len(rows), -1)

    def take(self, blocks: Sequence[int] | Ints) -> Moments:
        """The moments of the named blocks in that order; -1 stands for a block without rows."""
        index = np.asarray(blocks, dtype=np.int64)
        kept = np.where(index < 0, 0.0, 1.0)
        matrices, rows = kept[:, None, None], kept[:, None]
        root = None if self.root is None else self.root[index] * matrices
        squares, weight = self.squares[index] * kept, self.weight[index] * kept
        return Moments(self.gram[index] * matrices, self.cross[index] * rows, squares, weight, root)


@dataclass(frozen=True, slots=True)
class Rows:
    """Checked rows, grouped by block; `groups` holds each block's row numbers, or None for all rows."""

    features: Floats
    rewards: Floats
    groups: Sequence[Ints | None]
    root_weights: Floats | None
    names: tuple[str, str, str]
    width: int
    expand: Callable[[Floats], Floats] | None
    """What makes the columns of a regression of features, a few rows at a time while they are in cache."""

    @staticmethod
    def of(
        features: ArrayLike,
        rewards: ArrayLike,
        *,
        blocks: ArrayLike | None = None,
        n_blocks: int = 1,
        weights: ArrayLike | None = None,
        names: tuple[str, str, str] = ("features", "rewards", "blocks"),
        width: int | None = None,
        expand: Callable[[Floats], Floats] | None = None,
    ) -> Rows:
        """The rows as float64, without a copy where they are that already; ValueError for wrong shapes.

        With `expand`, features are what it makes of them, `width` columns.
        """
        x = np.asarray(features, dtype=np.float64)
        r = np.asarray(rewards, dtype=np.float64)
        if x.ndim != 2:
            raise ValueError(f"{names[0]} has shape {x.shape}; give one row per reward, (n, d).")
        if r.shape != (len(x),):
            raise ValueError(f"{names[1]} has shape {r.shape}; give one value for each of {len(x)} rows.")
        groups: Sequence[Ints | None] = [None]
        if blocks is not None:
            groups = _row_numbers(np.asarray(blocks), len(x), n_blocks, names[2])
            x = np.ascontiguousarray(x)  # `take` would copy the whole of a strided array at every call
        elif n_blocks != 1:
            raise ValueError(f"n_blocks is {n_blocks} but {names[2]} is missing; give each row's block.")
        roots = None if weights is None else np.sqrt(checked_weights(weights, len(x)))
        return Rows(x, r, groups, roots, names, x.shape[1] if width is None else width, expand)

    def moments(self, onto: Moments | None = None) -> Moments:
        """The sums over the rows, and earlier ones, without a root; ValueError when they are not finite."""
        total = Moments.zeros(len(self.groups), self.width) if onto is None else onto.rootless().scaled(1.0)
        size = max(_LEAST_PER_CHUNK, _NUMBERS_PER_CHUNK // max(self.width, 1))
        with np.errstate(over="ignore", invalid="ignore"):
            for block, x, r, w in self._chunks(size):
                total.gram[block] += x.T @ x
                total.cross[block] += x.T @ r
                total.squares[block] += r @ r
                total.weight[block] += len(r) if w is None else w @ w
        # A NaN or infinity always reaches the sums: the rows are searched only once it is known to be there.
        if not all(np.isfinite(sums).all() for sums in (total.gram, total.cross, total.squares)):
            self._refuse_nonfinite()
        return total

    def with_root(self, moments: Moments) -> Moments:
        """The moments of these rows together with their root, by QR of the rows."""
        width = self.width + 1
        factors = [np.zeros((0, width)) for _ in self.groups]
        for block, x, r, _ in self._chunks(max(ROWS_PER_CHUNK, 8 * width)):
            stack = np.concatenate([factors[block], np.column_stack([x, r])])
            factors[block] = stack if len(stack) <= width else triangles(stack)
        root = np.zeros((len(factors), max(map(len, factors), default=0), width))
        for block, factor in enumerate(factors):
            root[block, : len(factor)] = factor
        return Moments(moments.gram, moments.cross, moments.squares, moments.weight, root)

    def _chunks(self, size: int) -> Iterator[tuple[int, Floats, Floats, Floats | None]]:
        """Each block's rows and rewards, times the root of their weights, a few at a time."""
        for block, index in enumerate(self.groups):
            for start in range(0, len(self.features) if index is None else len(index), size):
                part = slice(start, start + size)
                x = self.features[part] if index is None else self.features.take(index[part], axis=0)
                r = self.rewards[part] if index is None else self.rewards.take(index[part])
                if self.expand is not None:
                    x = self.expand(x)
                if self.root_weights is None:
                    yield block, x, r, None
                else:
                    w = self.root_weights[part] if index is None else self.root_weights[index[part]]
                    yield block, x * w[:, None], r * w, w

    def _refuse_nonfinite(self) -> NoReturn:
        """Raise ValueError for the first number that is not finite, or for sums that overflow."""
        features, rewards, _ = self.names
        for name, values in ((features, self.features), (rewards, self.rewards)):
            for bad in np.argwhere(~np.isfinite(values))[:1]:
                place = ", ".join(map(str, bad))
                raise ValueError(f"{name}[{place}] is {values[tuple(bad)]}; drop or fill such rows first.")
        raise ValueError(f"Sums of squares of {features} or {rewards} overflow; rescale them first.")


def _row_numbers(blocks: Ints, n: int, n_blocks: int, name: str) -> list[Ints]:
    """The row numbers of each block, in the order of the rows."""
    if blocks.shape != (n,):
        raise ValueError(f"{name} has shape {blocks.shape}; give one block number for each of {n} rows.")
    if n == 0:
        return [np.zeros(0, dtype=np.int64) for _ in range(n_blocks)]
    if blocks.dtype.kind not in "iub":
        raise ValueError(f"{name} has dtype {blocks.dtype}; give whole block numbers as integers.")
    if blocks.min() < 0 or blocks.max() >= n_blocks:
        bad = blocks.min() if blocks.min() < 0 else blocks.max()
        raise ValueError(f"{name} holds {bad}; block numbers run from 0 to n_blocks - 1 = {n_blocks - 1}.")
    if n_blocks <= _FEW_BLOCKS:
        return [np.flatnonzero(blocks == block) for block in range(n_blocks)]
    # A stable sort of 16-bit keys is a radix sort: six times as fast as sorting the int64 themselves.
    order = np.argsort(blocks.astype(np.int16 if n_blocks < 2**15 else np.int64), kind="stable")
    ends = np.cumsum(np.bincount(blocks, minlength=n_blocks)).tolist()
    return [order[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def checked_weights(weights: ArrayLike, n: int) -> Floats:
    """(n,) weights; ValueError unless each is a finite number of at least 0."""
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != (n,):
        raise ValueError(f"weights has shape {w.shape}; give one weight for each of {n} rows.")
    if (bad := w[~(np.isfinite(w) & (w >= 0.0))]).size:
        raise ValueError(f"weights holds {bad[0]}; a weight is a finite number of at least 0.")
    return w


def root_of(moments: Moments) -> Floats | None:
    """The root, derived from the Gram matrix where that has the digits for it; None where it has not."""
    if moments.root is not None or not blocks_suffice(moments.gram).all():
        return moments.root
    above = np.concatenate([moments.gram, moments.cross[:, :, None]], axis=2)
    below = np.concatenate([moments.cross, moments.squares[:, None]], axis=1)
    return gram_root(np.concatenate([above, below[:, None, :]], axis=1))


def _merged_root(one: Moments, other: Moments) -> Floats | None:
    """A root of the sum, of at most d + 1 rows; None where one of them cannot be derived."""
    first, second = root_of(one), root_of(other)
    if first is None or second is None:
        return None
    stack = np.concatenate([first, second], axis=1)
    return stack if stack.shape[1] <= stack.shape[2] else triangles(stack)

"""All decision stumps that some rows can tell apart, and sums over them in one pass of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement, pairwise
from typing import Self

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints


@dataclass(frozen=True, slots=True)
class Cuts:
    """The Q cuts between neighbouring values of the p columns, ordered by column and then by threshold.

    The stump of a cut is 1 on the rows above its threshold and 0 on the others. A constant column has no cut,
    nor has one that ranks the rows as a column before it does: its stumps would be the same.

    >>> cuts = Cuts.of(np.array([[0.0, 5.0], [2.0, 5.0], [1.0, 6.0]]))
    >>> cuts.thresholds, cuts.features
    (array([0.5, 1.5, 5.5]), array([0, 0, 1]))
    """

    rows: Floats  # (n, p)
    ranks: tuple[Ints, ...]  # p times (n,): the rank of a row's value among the distinct ones of its column
    starts: Ints  # (p + 1,): where each column's cuts start
    thresholds: Floats  # (Q,)

    @classmethod
    def of(cls, rows: Floats) -> Self:
        """The cuts of (n, p) rows, n >= 1, midway between values."""
        thresholds, ranks, seen = [np.empty(0)], list[Ints](), set[bytes]()
        for column in rows.T:
            levels, places = np.unique(column, return_inverse=True)
            if places.tobytes() in seen:
                levels, places = levels[:1], np.zeros_like(places)
            seen.add(places.tobytes())
            thresholds.append(_midpoints(levels))
            ranks.append(places)
        starts = np.cumsum([own.size for own in thresholds])
        return cls(rows, tuple(ranks), starts, np.concatenate(thresholds))

    @property
    def features(self) -> Ints:
        """(Q,): the column of each cut."""
        return np.repeat(np.arange(len(self.ranks)), np.diff(self.starts))

    def sums(self, terms: Floats) -> Floats:
        """(Q,): the sum of the (n,) terms of the rows above each cut."""
        sums = np.empty(self.thresholds.size)
        for ranks, (start, stop) in zip(self.ranks, pairwise(self.starts), strict=True):
            sums[start:stop] = np.cumsum(np.bincount(ranks, terms)[:0:-1])[::-1]
        return sums

    def values(self, weights: Floats) -> Floats:
        """(n,): the sum of all stumps with (Q,) weights."""
        values = np.zeros(len(self.rows))
        for ranks, (start, stop) in zip(self.ranks, pairwise(self.starts), strict=True):
            own = weights[start:stop]
            if own.any():
                values += np.concatenate([[0.0], np.cumsum(own)])[ranks]
        return values

    def gram(self, places: Ints, shares: Floats) -> Floats:
        """(k, k): the sum of the (n,) shares of the rows above both cuts, for k places in rising order.

        Two columns need one histogram of the cells that their cuts make, however many the cuts are.
        """
        gram = np.empty((places.size, places.size))
        for (a, bins_a), (b, bins_b) in combinations_with_replacement(self._binned(places), 2):
            shape = (a.stop - a.start + 1, b.stop - b.start + 1)
            cells = np.bincount(bins_a * shape[1] + bins_b, shares, shape[0] * shape[1]).reshape(shape)
            above = np.cumsum(np.cumsum(cells[:0:-1, :0:-1], axis=0), axis=1)[::-1, ::-1]
            gram[a, b], gram[b, a] = above, above.T
        return gram

    def _binned(self, places: Ints) -> list[tuple[slice, Ints]]:
        """For each column with some of the cuts: where they stand, and how many of them each row exceeds."""
        bounds = np.searchsorted(places, self.starts)
        binned = []
        for j in np.flatnonzero(np.diff(bounds)):
            own = slice(int(bounds[j]), int(bounds[j + 1]))
            passed = np.zeros(self.starts[j + 1] - self.starts[j] + 1, dtype=np.int64)
            passed[places[own] - self.starts[j] + 1] = 1
            binned.append((own, np.cumsum(passed)[self.ranks[j]]))
        return binned

    def nearest(self, features: Ints, thresholds: Floats, weights: Floats) -> Floats:
        """(Q,): the weights of some stumps, moved to cuts beside them; those of a column without cuts go."""
        moved = np.zeros(self.thresholds.size)
        for j, (start, stop) in enumerate(pairwise(self.starts)):
            own = features == j
            if start < stop and own.any():
                place = np.searchsorted(self.thresholds[start:stop], thresholds[own])
                np.add.at(moved, start + np.minimum(place, stop - start - 1), weights[own])
        return moved


def _midpoints(levels: Floats) -> Floats:
    """Numbers t with low <= t < high for each pair of neighbours, so that x > t tells them apart."""
    low, high = levels[:-1], levels[1:]
    middle = low / 2.0 + high / 2.0
    # Between floats next to each other there is none, and their mean may be rounded to the upper one.
    return np.where((low <= middle) & (middle < high), middle, low)

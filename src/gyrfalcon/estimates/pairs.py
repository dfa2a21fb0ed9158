"""Disjoint pairs of rows that are near each other: the closest first, each row in one pair at most."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from gyrfalcon.core.records import Log
from gyrfalcon.core.types import Bools, Floats, Ints
from gyrfalcon.estimates.passive import arranged, spread_points

NEIGHBOURS = 8
"""Of so many a row gets one, or none: those that are taken last would be far away."""


def action_pairs(log: Log) -> Ints:
    """(m, 2) rows of the same action, paired by distance in units of each feature's spread.

    Equal contexts come first, in the order of their rounds; rewards have no say. In one dimension at most one
    of an action's rows is left over, in several about one of twenty, whose neighbours are all taken.
    """
    columns = spread_points(log)
    order, same = arranged(log, columns)
    ends = np.cumsum(np.bincount(log.action, minlength=1))
    pairs = [
        rows[nearest_pairs(columns[rows], same[end - len(rows) : end])]
        for end, rows in zip(ends, np.split(order, ends[:-1]), strict=True)
    ]
    return np.concatenate([np.empty((0, 2), dtype=np.int64), *pairs])


def nearest_pairs(points: Floats, same: Bools) -> Ints:
    """(m, 2) disjoint pairs of points (n, d) that are sorted; `same` says which equal the one before.

    >>> nearest_pairs(np.array([[0.0, 0.0], [1.0, 0.0], [1.1, 0.0], [3.0, 0.0]]), np.zeros(4, bool)).tolist()
    [[1, 2], [0, 3]]
    """
    equal = _alternate(same)
    left = np.setdiff1d(np.arange(len(points)), equal)
    if points.shape[1] > 1 and len(left) > 1:
        near = _greedy(len(left), *_edges(points[left]))
    else:
        near = _alternate(np.arange(len(left)) > 0)
    return np.concatenate([equal, left[near]])


def _alternate(same: Bools) -> Ints:
    """(m, 2) the first with the second of each run of the same, the third with the fourth, and so on."""
    place = np.arange(len(same))
    run_start = np.maximum.accumulate(np.where(same, 0, place))
    second = np.flatnonzero((place - run_start) % 2 == 1)
    return np.stack([second - 1, second], axis=1)


def _edges(points: Floats) -> tuple[Ints, Ints]:
    """Both ends of the ways to nearest neighbours, the shortest first."""
    n_nearest = min(len(points), NEIGHBOURS + 1)
    distances, indices = cKDTree(points).query(points, k=n_nearest)
    own = np.repeat(np.arange(len(points)), n_nearest)
    other, lengths = np.ravel(indices).astype(np.int64), np.ravel(distances)
    low, high = np.minimum(own, other), np.maximum(own, other)
    order = np.lexsort((high, low, lengths))
    order = order[low[order] != high[order]]
    return low[order], high[order]


def _greedy(n: int, low: Ints, high: Ints) -> Ints:
    """(m, 2) ways taken in order, unless an end is in a pair already."""
    paired, taken = [False] * n, []
    for one, other in zip(low.tolist(), high.tolist(), strict=True):
        if not (paired[one] or paired[other]):
            paired[one] = paired[other] = True
            taken.append((one, other))
    return np.array(taken, dtype=np.int64).reshape(-1, 2)

"""Gauss-Legendre nodes on pieces of an interval and on boxes, and where functions switch or peak.

Every piece also has a node just inside each of its ends, of weight 0: means do not feel it, and a function
that jumps at a break point shows both of its one-sided limits there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints

_HALVINGS = 64
_ZOOMS = 12
_PARTS = 16
_PASSES = 8
_MAX_NODES = 10_000_000


def pieces(breaks: Sequence[float], order: int) -> tuple[Floats, Floats]:
    """Nodes and weights on the pieces between break points, (pieces, order + 2); the weights sum to 1.

    Polynomials of degree below 2 order on each piece have exact means.

    >>> x, w = pieces((0.0, 1.0, 4.0), order=3)
    >>> round(float(np.sum(w * x**5)), 9)  # the mean of x^5 over (0, 4)
    170.666666667
    """
    _check_order(order)
    ends = _checked_breaks(breaks)
    low, high = ends[:-1, np.newaxis], ends[1:, np.newaxis]
    share, weight = _gauss_legendre(order)
    inside = np.clip(low + (high - low) * share, low, high)
    x = np.concatenate([np.nextafter(low, high), inside, np.nextafter(high, low)], axis=1)
    return x, (high - low) * weight / (ends[-1] - ends[0])


def grid(breaks: Sequence[Sequence[float]], order: int) -> tuple[Floats, Floats]:
    """Nodes (n, p) and weights (n,) of a box, the product of p intervals, each with its break points.

    >>> x, w = grid([(0.0, 1.0), (0.0, 2.0)], order=2)
    >>> round(float(w @ (x[:, 0] ** 2 * x[:, 1] ** 2)), 9)  # 1/3 times 4/3
    0.444444444
    """
    if not breaks:
        raise ValueError("breaks has no feature; give the break points of at least one.")
    size = math.prod((order + 2) * (len(feature) - 1) for feature in breaks)
    if size > _MAX_NODES:
        raise ValueError(
            f"{len(breaks)} features at order {order} make {size:,} nodes, above {_MAX_NODES:,}; "
            "lower the order, or draw a sample of contexts instead."
        )
    intervals = [pieces(feature, order) for feature in breaks]
    axes = np.meshgrid(*(x.ravel() for x, _ in intervals), indexing="ij")
    shares = np.meshgrid(*(weight.ravel() for _, weight in intervals), indexing="ij")
    x = np.stack([axis.ravel() for axis in axes], axis=1)
    return x, np.prod([share.ravel() for share in shares], axis=0)


def switches(labels: Callable[[Floats], Ints], nodes: Floats) -> Floats:
    """The points at which a label changes between neighbouring nodes, (n,) in order, by bisection.

    A label that changes and changes back between two neighbours goes unseen; see `closest`.

    >>> nodes = np.linspace(0.0, 1.0, 5)
    >>> switches(lambda x: (x > 0.3).astype(np.int64) + (x > 0.31), nodes).round(9).tolist()
    [0.3, 0.31]
    """
    left, right = nodes[:-1], nodes[1:]
    found = [np.zeros(0)]
    # One pass per change within a gap; labels that rounding decides may never settle.
    for _ in range(_PASSES):
        differ = labels(left) != labels(right)
        left, right = left[differ], right[differ]
        if not len(left):
            break
        left = _first_change(labels, left, right)
        found.append(left)
    return np.unique(np.concatenate(found))


def closest(lead: Callable[[Floats, Ints], Floats], left: Floats, right: Floats) -> Floats:
    """Where between each left and right end the lead is largest, (n,): `lead(x, i)` at points x of gap i.

    >>> centre = np.array([0.3, 0.9])
    >>> closest(lambda x, i: -((x - centre[i]) ** 2), np.zeros(2), np.ones(2)).round(6).tolist()
    [0.3, 0.9]
    """
    gaps = np.arange(len(left))
    best = left
    for _ in range(_ZOOMS):
        points = np.linspace(left, right, _PARTS + 1, axis=1)
        leads = lead(points.ravel(), np.repeat(gaps, _PARTS + 1)).reshape(points.shape)
        place = leads.argmax(axis=1)
        best = points[gaps, place]
        left, right = points[gaps, np.maximum(place - 1, 0)], points[gaps, np.minimum(place + 1, _PARTS)]
    return best


def peak(height: Callable[[Floats], Floats], nodes: Floats) -> float:
    """The largest height over pieces with nodes (pieces, m): each piece is searched around its highest node.

    >>> nodes, _ = pieces((0.0, 1.0), order=8)
    >>> round(peak(lambda x: x * (0.7 - x), nodes), 12)
    0.1225
    """
    heights = height(nodes.ravel()).reshape(nodes.shape)
    highest = float(heights.max())
    for _ in range(_ZOOMS):
        best, last = heights.argmax(axis=1), nodes.shape[1] - 1
        rows = np.arange(len(nodes))
        low, high = nodes[rows, np.maximum(best - 1, 0)], nodes[rows, np.minimum(best + 1, last)]
        nodes = np.linspace(low, high, _PARTS + 1, axis=1)
        heights = height(nodes.ravel()).reshape(nodes.shape)
        highest = max(highest, float(heights.max()))
    return highest


def _first_change(labels: Callable[[Floats], Ints], left: Floats, right: Floats) -> Floats:
    """A point right of each left end where the label has changed, and just before which it has not."""
    start = labels(left)
    for _ in range(_HALVINGS):
        middle = left + (right - left) / 2.0
        same = labels(middle) == start
        left, right = np.where(same, middle, left), np.where(same, right, middle)
    return right


@lru_cache(maxsize=32)
def _gauss_legendre(order: int) -> tuple[Floats, Floats]:
    """Nodes on (0, 1) and their weights, which sum to 1, with a weight of 0 before and after."""
    x, w = np.polynomial.legendre.leggauss(order)
    return (x + 1.0) / 2.0, np.concatenate([[0.0], w / w.sum(), [0.0]])


def _check_order(order: int) -> None:
    if order < 1:
        raise ValueError(f"order is {order}; give at least 1 node per piece.")


def _checked_breaks(breaks: Sequence[float]) -> Floats:
    ends = np.array(breaks, dtype=np.float64)
    if len(ends) < 2 or not (np.isfinite(ends).all() and (np.diff(ends) > 0.0).all()):
        raise ValueError(f"breaks are {list(breaks)}; give at least two finite numbers that increase.")
    return ends

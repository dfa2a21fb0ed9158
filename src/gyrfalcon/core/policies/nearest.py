"""The nearest distributions with lower and upper bounds on every probability."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.policies.action_columns import sequential_sum

_STEPS = 2
"""Newton's steps from the root of the sorted ends, which sums of many maxima leave with a rounding error."""


def nearest_within(probabilities: ArrayLike, low: ArrayLike, high: ArrayLike) -> Floats:
    """The distributions with low <= p <= high that are nearest by Euclidean distance, (n, K).

    All probabilities that are free fall or rise by the same amount, so that the order of actions with equal
    bounds stays. A row within its bounds is returned as it is, to the last bit, and no row depends on others.

    Parameters
    ----------
    probabilities : array_like
        (n, K) distributions.
    low, high : array_like
        Bounds, (n, K) or (K,): the sum of each row's `low` is at most 1, and that of `high` at least 1.

    Examples
    --------
    >>> nearest_within([[0.875, 0.125, 0.0]], low=[0.0, 0.0, 0.25], high=[0.5, 1.0, 1.0]).tolist()
    [[0.5, 0.25, 0.25]]
    """
    given = np.asarray(probabilities, dtype=np.float64)
    lows, highs = (np.broadcast_to(np.asarray(end, dtype=np.float64), given.shape) for end in (low, high))
    outside = ~((lows <= given) & (given <= highs)).all(axis=1)
    if not outside.any():
        return given
    nearest = given.copy()
    columns = (np.ascontiguousarray(part[outside].T) for part in (given, lows, highs))
    nearest[outside] = _moved(*columns).T
    return nearest


def nearest_row(probabilities: list[float], low: Sequence[float], high: Sequence[float]) -> list[float]:
    """`nearest_within` for one row of plain floats, to the same bits: NumPy's calls cost several times more.

    >>> nearest_row([0.875, 0.125, 0.0], [0.0, 0.0, 0.25], [0.5, 1.0, 1.0])
    [0.5, 0.25, 0.25]
    """
    rows = list(zip(probabilities, low, high, strict=True))
    if all(least <= p <= most for p, least, most in rows):
        return probabilities
    shift = _row_shift(rows)
    for _ in range(_STEPS):
        n_free, total = 0, 0.0
        for p, least, most in rows:
            moved = p - shift
            n_free += least < moved < most
            total += min(max(moved, least), most)
        shift = shift + (total - 1.0) / max(n_free, 1)
    return [min(max(p - shift, least), most) for p, least, most in rows]


def attainable(low: Floats, high: Floats, eligible: Bools) -> tuple[Floats, Floats]:
    """Bounds that some distribution over the eligible actions meets, (n, K) each.

    Minima that sum to more than 1 shrink in proportion, and maxima that sum to less than 1 grow; where the
    maxima of all eligible actions are 0, these share the row alike.

    >>> only_first = np.array([[True, False]])
    >>> [end.tolist() for end in attainable(np.array([0.1, 0.2]), np.array([0.5, 0.6]), only_first)]
    [[[0.1, 0.0]], [[1.0, 0.0]]]
    """
    lows, highs = np.where(eligible, low, 0.0), np.where(eligible, high, 0.0)
    n_low, n_high = (sequential_sum(np.ascontiguousarray(end.T))[:, np.newaxis] for end in (lows, highs))
    highs = np.where(n_high == 0.0, eligible, highs)
    n_high = np.where(n_high == 0.0, eligible.sum(axis=1, keepdims=True), n_high)
    return lows / np.maximum(n_low, 1.0), highs / np.minimum(n_high, 1.0)


def _moved(p: Floats, low: Floats, high: Floats) -> Floats:
    """clip(p - shift, low, high) with the shift of each row by which its sum is 1; actions first, (K, n)."""
    shift = _shift(p, low, high)
    for _ in range(_STEPS):
        moved = p - shift
        n_free = ((low < moved) & (moved < high)).sum(axis=0)
        shift = shift + (sequential_sum(np.clip(moved, low, high)) - 1.0) / np.maximum(n_free, 1)
    return np.clip(p - shift, low, high)


def _shift(p: Floats, low: Floats, high: Floats) -> Floats:
    """The shift up to rounding, (n,): the sum falls from that of `high` to that of `low`, in straight lines.

    An action is free between the shifts that take it to its two bounds, and each free one falls at rate 1.
    """
    ends = np.concatenate([p - high, p - low])
    order = np.argsort(ends, axis=0, kind="stable")
    ends = np.take_along_axis(ends, order, axis=0)
    n_free = np.cumsum(np.where(order < len(p), 1, -1), axis=0)
    fallen = np.cumsum(n_free[:-1] * np.diff(ends, axis=0), axis=0)
    sums = sequential_sum(high) - np.concatenate([np.zeros((1, p.shape[1])), fallen])
    last = np.maximum((sums >= 1.0).sum(axis=0) - 1, 0)[np.newaxis]
    end, rest, rate = (np.take_along_axis(part, last, axis=0)[0] for part in (ends, sums - 1.0, n_free))
    shift: Floats = end + rest / np.maximum(rate, 1)
    return shift


def _row_shift(rows: list[tuple[float, float, float]]) -> float:
    """As `_shift` for one row."""
    ends = [p - most for p, _, most in rows] + [p - least for p, least, _ in rows]
    order = sorted(range(len(ends)), key=ends.__getitem__)
    highest = 0.0
    for _, _, most in rows:
        highest += most
    n_free, fallen, previous = 1, 0.0, ends[order[0]]
    shift = previous + (highest - 1.0)
    for place in order[1:]:
        end = ends[place]
        fallen += n_free * (end - previous)
        n_free, previous = n_free + (1 if place < len(rows) else -1), end
        rest = highest - fallen - 1.0
        if rest < 0.0:
            break
        shift = end + rest / max(n_free, 1)
    return shift

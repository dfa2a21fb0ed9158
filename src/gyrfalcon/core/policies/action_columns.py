"""Computations on scores with actions as the leading axis, (K, n).

Reductions over actions then run over long contiguous rows, and sums over actions are sequential, so that a
row gets the same bits alone and in any batch. Ties at the best score go to the lowest index.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from gyrfalcon.core.arrays import Bools, Floats, Ints

_LONG, _MANY = 256, 64  # rows for which passes over the actions pay, actions for which they do not


def check_finite(columns: Floats) -> None:
    """Refuse scores that are not finite."""
    if not np.isfinite(columns).all():
        bad = columns[~np.isfinite(columns)].flat[0]
        raise ValueError(f"a score is {bad}; check the reward model and the features that it was given.")


def by_action(scores: ArrayLike, eligible: ArrayLike | None) -> tuple[Floats, Bools | None]:
    """Checked scores and mask, actions first, (K, n): sums over actions then run alike in any batch."""
    rows = np.asarray(scores, dtype=np.float64)
    columns = np.ascontiguousarray(np.moveaxis(rows, -1, 0))
    if eligible is None:
        check_finite(columns)
        return columns, None
    mask = np.ascontiguousarray(
        np.moveaxis(np.broadcast_to(np.asarray(eligible, dtype=np.bool_), rows.shape), -1, 0)
    )
    if not mask.any(axis=0).all():
        raise ValueError("a row has no eligible action; give at least one action that may be chosen.")
    check_finite(columns[mask])
    return columns, mask


def rows_of(columns: Floats) -> Floats:
    """Columns of actions back as rows, (n, K)."""
    return np.moveaxis(columns, 0, -1)


def n_eligible(columns: Floats, mask: Bools | None) -> Floats | float:
    """Number of eligible actions of each row."""
    return float(columns.shape[0]) if mask is None else mask.sum(axis=0, dtype=np.float64)


def uniform_columns(columns: Floats, mask: Bools | None) -> Floats:
    """Uniform probabilities over the eligible actions, (K, n)."""
    if mask is None:
        return np.full_like(columns, 1.0 / columns.shape[0])
    shares: Floats = mask / mask.sum(axis=0, dtype=np.float64)
    return shares


def best_and_gaps(columns: Floats, mask: Bools | None) -> tuple[Ints, Floats]:
    """Index of the best action of each row, and the gaps of all actions to it, (K, n)."""
    playable = columns if mask is None else np.where(mask, columns, -np.inf)
    best, top = _best_and_top(playable)
    # Ineligible actions get gap 0: a negative one could make a level + gap of 0, and its inverse a warning.
    with np.errstate(over="ignore"):
        return best, top - (columns if mask is None else np.where(mask, columns, top))


def _best_and_top(columns: Floats) -> tuple[Ints, Floats]:
    """The lowest index of the largest score of each row, and that score."""
    if columns[0].size < _LONG or len(columns) > _MANY:
        return np.asarray(columns.argmax(axis=0)), np.asarray(columns.max(axis=0))
    # Over long rows a few passes of comparisons take a third of the time of NumPy's argmax.
    top = columns[0].copy()
    best = np.zeros(top.shape, dtype=np.int8)
    for action, column in enumerate(columns[1:], start=1):
        higher = (column > top).view(np.int8)
        np.maximum(best, higher * np.int8(action), out=best)
        np.maximum(top, column, out=top)
    return best.astype(np.int64), top


def blank(weights: Floats, mask: Bools | None) -> None:
    """Set the weights of ineligible actions to 0, in place."""
    if mask is not None:
        weights[~mask] = 0.0


def sequential_sum(columns: Floats) -> Floats:
    """Sum over actions in their order, with the same bits in any batch."""
    # Sequential: np.sum pairs terms differently for one row than for many.
    total: Floats = columns[0].copy()
    for column in columns[1:]:
        total += column
    return total


def rest_to_best(weights: Floats, best: Ints, mask: Bools | None) -> Floats:
    """Probabilities (K, n): the weights of the others, and what is left of 1 for the best action."""
    weights = np.ascontiguousarray(weights)
    blank(weights, mask)
    flat = weights.reshape(-1)
    where_best = best.reshape(-1) * best.size
    where_best += np.arange(best.size)
    flat[where_best] = 0.0
    flat[where_best] = (1.0 - sequential_sum(weights)).reshape(-1)
    return weights


def barrier_level(gaps: Floats, mask: Bools | None) -> Floats:
    """The root lam of sum 1 / (lam + gap) = 1: the sum is convex, so from below Newton never overshoots."""
    level = np.ones(gaps.shape[1:])
    while True:
        weights = 1.0 / (gaps + level)
        blank(weights, mask)
        step = (sequential_sum(weights) - 1.0) / sequential_sum(weights * weights)
        raised = np.maximum(level, level + step)
        # A row that no longer rises keeps its level, whatever other rows of the batch still do.
        if np.array_equal(raised, level):
            return level
        level = raised


def best_of_row(scores: list[float]) -> tuple[int, float]:
    """The first best action of one row in plain floats, and its score."""
    # A sum is finite only if no score is NaN or infinite; a finite row may still overflow it.
    if not math.isfinite(sum(scores)):
        check_finite(np.array(scores))
    top = max(scores)
    return scores.index(top), top

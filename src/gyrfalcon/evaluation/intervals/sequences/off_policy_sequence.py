"""Confidence sequence of an off-policy value, from scores that are bounded below only."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.core.validation import check_choice, check_level, check_whole
from gyrfalcon.evaluation.intervals.sequences.bernstein_sequence import bernstein_lower_bounds
from gyrfalcon.evaluation.intervals.sequences.capital import lower_bounds
from gyrfalcon.evaluation.intervals.sequences.confidence_sequence import ConfidenceSequence
from gyrfalcon.evaluation.intervals.validation import (
    Bounds,
    above_floor,
    check_bounds,
    check_largest_loss,
)


def off_policy_sequence(
    scores: Floats,
    flipped_scores: Floats,
    truncation: Floats | float = 0.0,
    level: float = 0.95,
    *,
    bounds: Bounds = (0.0, 1.0),
    method: str = "betting",
    resolution: int = 500,
    largest_loss: float = 0.25,
) -> ConfidenceSequence:
    """Bounds of a policy's value that hold after all rows at once, however small propensities are.

    Importance weights have no useful upper bound, but scores have a lower one: the lower bound of the value
    comes from scores of rewards in [0, 1], the upper one from scores of 1 - reward.

    Parameters
    ----------
    scores, flipped_scores : array (n,)
        `one_sided_scores` of rewards in [0, 1], and of 1 - reward, in order of time.
    truncation : float or array (n,)
        What the scores were made with: they are at least -truncation.
    level : float
        The probability of covering after all rows at once.
    bounds : pair of floats
        The rewards that 0 and 1 stand for, in the units of the result.
    method : {"betting", "bernstein"}
        Betting is far tighter with large importance weights; empirical Bernstein is in closed form.
    resolution : int
        Candidates on either side among which betting bounds before the last row are rounded outward.
    largest_loss : float
        The share of the capital that one row may take, in (0, 1). The default suits few rows of rare
        rewards as well as many of large weights, where 0.1 gives narrower bounds still.

    Examples
    --------
    >>> scores = np.tile([2.0, 0.0, 0.0, 0.0], 250)
    >>> off_policy_sequence(scores, np.tile([0.0, 2.0, 0.0, 0.0], 250)).last
    Interval(0.409139, 0.593999, level=0.95, method='one-sided betting')
    """
    check_level(level)
    check_bounds(bounds)
    check_choice("method", method, ("betting", "bernstein"))
    check_whole("resolution", resolution)
    check_largest_loss(largest_loss)
    if len(scores) != len(flipped_scores):
        raise ValueError(
            f"there are {len(scores)} scores and {len(flipped_scores)} flipped_scores; give both per row."
        )
    floor = _floor(truncation, len(scores))
    low, flipped = above_floor(scores, -floor), above_floor(flipped_scores, -floor, "flipped_scores")
    error = (1.0 - level) / 2.0

    def bound(column: Floats) -> Floats:
        if method == "betting":
            return lower_bounds(column, floor, error, resolution, largest_loss)
        return bernstein_lower_bounds(column, floor, error)

    return ConfidenceSequence.intersected(
        bound(low), 1.0 - bound(flipped), bounds, level, f"one-sided {method}"
    )


def _floor(truncation: Floats | float, n: int) -> Floats:
    """Truncations, (n,), refused where they are negative or not finite."""
    column = np.asarray(truncation, dtype=float)
    if column.shape not in {(), (n,)} or not (np.isfinite(column) & (column >= 0.0)).all():
        raise ValueError(
            f"truncation is {short_repr(truncation)}; give a finite number of at least 0, or {n} of them."
        )
    return np.asarray(np.broadcast_to(column, n))

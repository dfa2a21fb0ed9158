"""Betting confidence sequence of a bounded mean, with hedged capital and predictable plug-in bets.

Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting", section 4.
"""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.validation import check_level, check_whole
from gyrfalcon.evaluation.intervals.interval import Interval
from gyrfalcon.evaluation.intervals.sequences.capital import lower_bounds
from gyrfalcon.evaluation.intervals.sequences.confidence_sequence import ConfidenceSequence
from gyrfalcon.evaluation.intervals.validation import Bounds, check_largest_loss, in_unit_range


def betting_sequence(
    contributions: Floats,
    bounds: Bounds,
    level: float = 0.95,
    *,
    resolution: int = 500,
    largest_loss: float = 0.25,
) -> ConfidenceSequence:
    """Bounds of a mean of contributions (n,) in [low, high] that hold after all rows at once.

    Half of the capital bets that the mean is above a candidate, half that it is below; a candidate is refused
    for good once the larger half exceeds 1 / (1 - level). Rows may depend on earlier ones, as in adaptively
    collected logs, as long as each has the same mean given the past.

    Parameters
    ----------
    contributions : array (n,)
        One unbiased estimate of the mean per row, in order of time.
    bounds : pair of floats
        Bounds of every possible contribution, not only of those observed.
    level : float
        The probability of covering after all rows at once.
    resolution : int
        Candidates on either side among which bounds before the last row are rounded outward; the bounds after
        all rows are exact.
    largest_loss : float
        The share of the capital that one row may take, in (0, 1). With 0.5 bounds are narrower after few
        rows of rare rewards (0.019 instead of 0.023 after 1,000 with a mean of 0.01), and elsewhere up to a
        quarter wider; `python -m benchmarks.bets` has the table.

    Examples
    --------
    >>> betting_sequence(np.tile([0.0, 1.0], 500), (0.0, 1.0))
    ConfidenceSequence(1000 rows, last Interval(0.444917, 0.553101, level=0.95, method='betting'))
    """
    check_level(level)
    check_whole("resolution", resolution)
    check_largest_loss(largest_loss)
    unit = in_unit_range(contributions, bounds)
    error, no_truncation = (1.0 - level) / 2.0, np.zeros(len(unit))
    low = lower_bounds(unit, no_truncation, error, resolution, largest_loss)
    high = 1.0 - lower_bounds(1.0 - unit, no_truncation, error, resolution, largest_loss)
    return ConfidenceSequence.intersected(low, high, bounds, level, "betting")


def betting_interval(
    contributions: Floats, bounds: Bounds, level: float = 0.95, *, largest_loss: float = 0.25
) -> Interval:
    """The last interval of the betting sequence of contributions (n,) in [low, high].

    >>> betting_interval(np.tile([0.0, 1.0], 500), (0.0, 1.0), 0.9)
    Interval(0.449247, 0.548592, level=0.9, method='betting')
    """
    return betting_sequence(contributions, bounds, level, resolution=1, largest_loss=largest_loss).last

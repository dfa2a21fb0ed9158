"""Empirical Bernstein interval of a bounded mean (Maurer and Pontil 2009, Theorem 4)."""

from __future__ import annotations

import math

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.validation import check_level
from gyrfalcon.evaluation.intervals.interval import Interval
from gyrfalcon.evaluation.intervals.validation import Bounds, in_unit_range


def empirical_bernstein_interval(contributions: Floats, bounds: Bounds, level: float = 0.95) -> Interval:
    """Interval of a mean of independent contributions (n,) in [low, high], for any number of rows.

    The radius is sqrt(2 V ln(4 / alpha) / n) + 7 range ln(4 / alpha) / (3 (n - 1)), where V is the sample
    variance and alpha = 1 - level. The interval is cut at the bounds.

    >>> empirical_bernstein_interval(np.tile([0.0, 1.0], 500), (0.0, 1.0))
    Interval(0.442933, 0.557067, level=0.95, method='empirical Bernstein')
    """
    check_level(level)
    column = in_unit_range(contributions, bounds, least=2)
    n, log_term = len(column), math.log(4.0 / (1.0 - level))
    radius = math.sqrt(2.0 * float(np.var(column, ddof=1)) * log_term / n) + 7.0 * log_term / (3.0 * (n - 1))
    mean, (low, high) = float(column.mean()), bounds
    return Interval(
        low + (high - low) * max(mean - radius, 0.0),
        low + (high - low) * min(mean + radius, 1.0),
        float(level),
        "empirical Bernstein",
    )

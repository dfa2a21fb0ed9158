"""Normal interval of a mean, which needs many rows and light tails."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtri

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.validation import check_level
from gyrfalcon.evaluation.intervals.interval import Interval
from gyrfalcon.evaluation.intervals.validation import checked_column


def normal_quantile(level: float) -> float:
    """The number of standard errors on either side of an estimate."""
    return -float(ndtri((1.0 - level) / 2.0))


def standard_error(contributions: Floats) -> float:
    """Standard deviation of contributions (n,), divided by n and not n - 1, over the root of n."""
    return float(np.std(contributions)) / math.sqrt(len(contributions))


def normal_interval(contributions: Floats, level: float = 0.95) -> Interval:
    """Mean of contributions (n,) plus and minus normal quantiles times the standard error.

    On adaptively collected rows the mean need not be normal: prefer `weighted_interval` there.

    >>> normal_interval(np.array([0.75, -1.375, 0.34375, 1.25]))
    Interval(-0.725364, 1.20974, level=0.95, method='normal')
    """
    check_level(level)
    column = checked_column(contributions)
    radius = normal_quantile(level) * standard_error(column)
    return Interval.around(float(column.mean()), radius, level, "normal")

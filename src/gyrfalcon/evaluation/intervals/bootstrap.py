"""Percentile bootstrap of a mean, which needs independent rows."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.validation import check_level, check_whole
from gyrfalcon.evaluation.intervals.interval import Interval
from gyrfalcon.evaluation.intervals.validation import checked_column

_BLOCK = 1 << 20
"""Rows drawn at once, so that memory does not grow with the number of resamples."""


def bootstrap_interval(
    contributions: Floats, level: float = 0.95, *, n_resamples: int = 2_000, seed: int = 0
) -> Interval:
    """Quantiles of the means of resampled contributions (n,).

    Rows are resampled as if they were independent, which adaptively collected ones are not.

    >>> bootstrap_interval(np.array([0.0, 1.0, 1.0, 0.0]), 0.9, seed=1)
    Interval(0, 1, level=0.9, method='bootstrap')
    """
    check_level(level)
    check_whole("n_resamples", n_resamples, 2)
    check_whole("seed", seed, 0)
    means = _resampled_means(checked_column(contributions), n_resamples, seed)
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail])
    return Interval(float(low), float(high), float(level), "bootstrap")


def _resampled_means(column: Floats, n_resamples: int, seed: int) -> Floats:
    """Means of samples drawn with replacement, (n_resamples,)."""
    generator = np.random.default_rng(seed)
    n_together = max(1, _BLOCK // len(column))
    means = np.empty(n_resamples)
    for start in range(0, n_resamples, n_together):
        stop = min(start + n_together, n_resamples)
        rows = generator.integers(len(column), size=(stop - start, len(column)))
        means[start:stop] = column[rows].mean(axis=1)
    return means

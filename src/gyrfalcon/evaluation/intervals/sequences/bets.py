"""Predictable plug-in bets: their size before each row follows from the rows before it.

Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting", equation (26).
"""

from __future__ import annotations

import math

import numpy as np

from gyrfalcon.core.arrays import Floats


def plug_in_bets(scores: Floats, error: float) -> Floats:
    """Bets sqrt(2 ln(1 / error) / (s^2 i ln(1 + i))), (n,), with s^2 the variance of scores before row i.

    `scores` (n,) have a range of about 1: the variance starts as if from one more row, with 1 / 4. `error`
    is the probability of a false bound on one side.

    >>> plug_in_bets(np.array([0.2, 0.9, 0.4, 0.6]), 0.05).round(3).tolist()
    [5.88, 4.474, 3.259, 2.988]
    """
    row = np.arange(1, len(scores) + 1)
    spread = np.square(scores - regularised_means(scores))
    variances = (0.25 + np.cumsum(spread)) / (row + 1)
    before = np.concatenate([[0.25], variances[:-1]])
    return np.asarray(np.sqrt(2.0 * math.log(1.0 / error) / (before * row * np.log1p(row))))


def regularised_means(scores: Floats) -> Floats:
    """Means of the scores up to each row and one more of 1 / 2, (n,)."""
    return np.asarray((0.5 + np.cumsum(scores)) / np.arange(2, len(scores) + 2))

"""Wealth of gamblers who bet that a mean is above a number: large wealth refutes that it is not.

Each of six gamblers bets a fixed share on every row, so that its wealth prod_i (1 + bet (score_i - v)) is a
nonnegative supermartingale while the mean of the scores, given the past, is at most v; so is their mean.
It exceeds 1 / error at any time with probability `error` at most (Ville). No share is right for all effects:
the mean is at most a factor of six below the best of them.
"""

from __future__ import annotations

import math

import numpy as np

from gyrfalcon.core.arrays import Floats

_N_BETS = 6
_LARGEST_LOSS = 0.9
"""The share of its wealth that the boldest gambler can lose in one row."""
_HALVINGS = 30
"""Steps of the search for a bound: below 1e-8 of its range."""


def bets(truncation: float) -> Floats:
    """Bets on scores that are at least -1 - truncation against means in [-1, 1], (6,).

    >>> bets(1.6).tolist()
    [0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125]
    """
    return np.asarray(_LARGEST_LOSS / (truncation + 2.0) * 0.5 ** np.arange(_N_BETS))


class Wealth:
    """The wealth of all gamblers against one number, and the first row at which it refutes that number.

    Parameters
    ----------
    null
        The number: what the mean is not above, by the hypothesis.
    error
        Probability of refuting it at any time though it is true.
    truncation
        Scores are at least -1 - truncation.
    """

    def __init__(self, null: float, error: float, truncation: float) -> None:
        self.null, self.threshold = null, math.log(1.0 / error)
        self._bets = bets(truncation)
        self._logs = np.zeros(_N_BETS)
        self.largest = 0.0
        """The largest logarithm of the mean wealth so far."""

    def add(self, scores: Floats) -> int | None:
        """Take in further rows; the number among them of the first one at which the null is refuted."""
        if len(scores) == 0:
            return None
        paths = _paths(self._bets, scores - self.null, self._logs)
        self._logs = paths[:, -1].copy()
        means = _log_means(paths)
        before, self.largest = self.largest, max(self.largest, float(means.max()))
        if before >= self.threshold or self.largest < self.threshold:
            return None
        return int((means >= self.threshold).argmax())

    @property
    def refuted(self) -> bool:
        """Whether the null was refuted at some row so far."""
        return self.largest >= self.threshold


def lower_bound(scores: Floats, error: float, truncation: float) -> float:
    """A bound that the mean of scores is above, over all numbers of rows at once but for an `error`.

    The number below which all means were refuted at some row; -1 if there is none.

    Parameters
    ----------
    scores
        Scores of a mean in [-1, 1], in order of time, each at least -1 - truncation.
    error
        Probability that the bound is ever above the mean.
    truncation
        As for the scores.

    Examples
    --------
    >>> lower_bound(np.tile([1.0, 1.0, -0.5], 100), 0.05, 0.0) > 0.25
    True
    """
    shares, threshold, start = bets(truncation), math.log(1.0 / error), np.zeros(_N_BETS)

    def refuted(null: float) -> bool:
        means = _log_means(_paths(shares, scores - null, start))
        return bool((means >= threshold).any())

    low, high = -1.0, 1.0
    if len(scores) == 0 or not refuted(low):
        return low
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


def _paths(shares: Floats, gains: Floats, start: Floats) -> Floats:
    """Logarithms of each gambler's wealth after each row, (6, n)."""
    steps = np.log1p(np.multiply.outer(shares, gains))
    steps[:, 0] += start
    return np.asarray(np.cumsum(steps, axis=1))


def _log_means(paths: Floats) -> Floats:
    top = paths.max(axis=0)
    return np.asarray(top + np.log(np.exp(paths - top).mean(axis=0)))

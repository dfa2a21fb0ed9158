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
_HALVINGS = 22
"""Steps of the search for a bound: below 1e-6 of its range."""
_BLOCK = 16
"""Rows whose factors are multiplied before a logarithm is taken; many could overflow."""


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


def lower_bound(scores: Floats, error: float, truncation: float, known: float = -1.0) -> float:
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
    known
        A number in [-1, 1] that was refuted before.

    Examples
    --------
    >>> lower_bound(np.tile([1.0, 1.0, -0.5], 100), 0.05, 0.0) > 0.25
    True
    """
    shares, threshold = bets(truncation), math.log(1.0 / error)

    def refuted(null: float) -> bool:
        return _largest(shares, scores - null) >= threshold

    low, high = known, 1.0
    if len(scores) == 0 or (low == -1.0 and not refuted(low)):
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


def _largest(shares: Floats, gains: Floats) -> float:
    """The largest logarithm of the mean wealth after any row.

    Within a block wealth is a product of factors, times what it was before: a logarithm for each row and
    each block, not for each row of each gambler.
    """
    padded = np.zeros(-(-len(gains) // _BLOCK) * _BLOCK)
    padded[: len(gains)] = gains
    factors = 1.0 + np.multiply.outer(shares, padded.reshape(-1, _BLOCK))
    np.multiply.accumulate(factors, axis=2, out=factors)
    logs = np.cumsum(np.log(factors[:, :, -1]), axis=1)
    before = np.concatenate([np.zeros((len(shares), 1)), logs[:, :-1]], axis=1)
    top = before.max(axis=0)
    best = np.einsum("kb,kbi->bi", np.exp(before - top), factors).max(axis=1)
    return float((top + np.log(best / len(shares))).max())


def _log_means(paths: Floats) -> Floats:
    top = paths.max(axis=0)
    return np.asarray(top + np.log(np.exp(paths - top).mean(axis=0)))

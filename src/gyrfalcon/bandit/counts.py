"""Counts of a bandit's events and rounds, and moments of the rewards that are final."""

from __future__ import annotations

import math
from typing import NamedTuple


class Moments(NamedTuple):
    """Number, mean and sum of squared deviations of rewards.

    >>> moments = Moments().added(1.0).added(2.0).added(6.0).replaced(6.0, 3.0)
    >>> moments.n, moments.mean, round(moments.interval()[1], 3)
    (3, 2.0, 3.132)
    """

    n: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def added(self, value: float) -> Moments:
        """Moments with one more value."""
        step = value - self.mean
        mean = self.mean + step / (self.n + 1)
        return Moments(self.n + 1, mean, self.squares + step * (value - mean))

    def replaced(self, before: float, value: float) -> Moments:
        """Moments with a value in the place of one that was added before."""
        mean = self.mean + (value - before) / self.n
        squares = self.squares + (value - before) * (value - mean + before - self.mean)
        return Moments(self.n, mean, max(squares, 0.0))

    def removed(self, value: float) -> Moments:
        """Moments without a value that was added before."""
        if self.n <= 1:
            return Moments()
        mean = self.mean - (value - self.mean) / (self.n - 1)
        return Moments(self.n - 1, mean, max(self.squares - (value - self.mean) * (value - mean), 0.0))

    def merged(self, other: Moments) -> Moments:
        """Moments of the values of both."""
        n, gap = self.n + other.n, other.mean - self.mean
        if not n:
            return self
        squares = self.squares + other.squares + gap * gap * self.n * other.n / n
        return Moments(n, self.mean + gap * other.n / n, squares)

    def interval(self, z: float = 1.96) -> tuple[float, float]:
        """The mean plus and minus z standard errors; infinite for fewer than two values."""
        if self.n < 2:
            return -math.inf, math.inf
        width = z * math.sqrt(self.squares / (self.n - 1) / self.n)
        return self.mean - width, self.mean + width


class Counts(NamedTuple):
    """Numbers of events and rounds; `n_waiting`, `n_open` and `n_final` may fall, the others only grow."""

    sequence: int = 0
    """Number of records."""
    round: int = 0
    """Number of rounds played: decisions, and rows of logs from elsewhere."""
    n_decided: int = 0
    n_waiting: int = 0
    n_open: int = 0
    """Decisions among the planned rounds of the epoch in play whose outcome is not final."""
    n_rewarded: int = 0
    n_final: int = 0
    n_expired: int = 0
    n_dropped: int = 0
    n_crowded: int = 0
    n_withdrawn: int = 0
    n_late: int = 0
    n_learned: int = 0
    n_set_aside: int = 0
    longest_delay: int = 0
    """Decisions that the latest reward has taken."""
    policy: Moments = Moments()
    """Final rewards of rounds that the policy played, in the problem's units."""
    passive: Moments = Moments()
    """Final rewards of passive rounds."""

"""Schedules of epochs: from the index m = 1, 2, ... to the last round tau_m, counted from 1."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, isfinite, log, pow
from numbers import Integral
from typing import Protocol


class Schedule(Protocol):
    """Strictly increasing sequence of the last rounds of epochs."""

    def end(self, index: int) -> int:
        """tau_m, the last round of epoch `index` >= 1."""
        ...


@dataclass(frozen=True, slots=True)
class Doubling:
    """Epochs that double: tau_{m+1} = 2 tau_m from tau_1 >= 4, as in Algorithm 1.

    Parameters
    ----------
    first
        Rounds of the first epoch, tau_1, at least 4.

    Examples
    --------
    >>> [Doubling(4).end(m) for m in (1, 2, 3, 4)]
    [4, 8, 16, 32]
    """

    first: int = 100

    def __post_init__(self) -> None:
        if not _is_whole(self.first) or self.first < 4:
            raise ValueError(f"tau_1 is {self.first}; Algorithm 1 needs a first epoch of at least 4 rounds.")

    def end(self, index: int) -> int:
        """tau_m = tau_1 2^(m-1)."""
        return int(self.first) << (index - 1)


@dataclass(frozen=True, slots=True)
class Geometric:
    """Epochs that grow geometrically: each ends `ratio` times as late as the one before, or a round later.

    Parameters
    ----------
    first
        Rounds of the first epoch, at least 1.
    ratio
        Growth of the last round from epoch to epoch, above 1.
    longest
        Length of an epoch at which they stop growing; None lets them grow without limit.

    Examples
    --------
    >>> [Geometric(10, 1.5).end(m) for m in (1, 2, 3, 4)]
    [10, 15, 23, 34]
    >>> [Geometric(10, 1.5, longest=8).end(m) for m in (1, 2, 3, 4)]
    [10, 15, 23, 31]
    """

    first: int = 100
    ratio: float = 2.0
    longest: int | None = None

    def __post_init__(self) -> None:
        if not _is_whole(self.first) or self.first < 1:
            raise ValueError(f"first is {self.first}; give a whole number of at least 1 round.")
        if not (isfinite(self.ratio) and self.ratio > 1.0):
            raise ValueError(f"ratio is {self.ratio}; epochs must grow, so give a number above 1.")
        if self.longest is not None and (not _is_whole(self.longest) or self.longest < 1):
            raise ValueError(f"longest is {self.longest}; give a whole number of at least 1 round, or None.")

    def end(self, index: int) -> int:
        """The rounded-up geometric progression; where it grows by less than a round, one round a step."""
        growing, n_longest = index - 1, 0
        if self.longest is not None:
            # So many epochs after the first are surely not longer than the longest, with rounding up.
            growth, most = self.first * (self.ratio - 1.0), self.longest - 1
            n_growing = 0 if growth > most else int(log(most / growth) / log(self.ratio)) + 1
            growing = min(growing, n_growing)
            n_longest = index - 1 - growing
        # first ratio^j - j is convex in j: its largest value so far is the first one or the last.
        end = max(int(self.first) + growing, ceil(self.first * self.ratio**growing - 1e-9))
        return end + n_longest * int(self.longest or 0)


@dataclass(frozen=True, slots=True)
class FixedBatch:
    """Epochs that all have the same number of rounds.

    Parameters
    ----------
    size
        Rounds of each epoch, at least 1.

    Examples
    --------
    >>> [FixedBatch(100).end(m) for m in (1, 2, 3)]
    [100, 200, 300]
    """

    size: int = 100

    def __post_init__(self) -> None:
        if not _is_whole(self.size) or self.size < 1:
            raise ValueError(f"size is {self.size}; give a whole number of at least 1 round.")

    def end(self, index: int) -> int:
        """The last round of the m-th batch."""
        return int(self.size) * index


@dataclass(frozen=True, slots=True)
class KnownHorizon:
    """About log log T epochs for a known horizon T: tau_m = ceil(2 T^(1 - 2^-m)) (FALCON, section 2).

    Epochs go on by single horizons after T, so that an experiment that is prolonged still has epochs.

    Parameters
    ----------
    horizon
        Rounds of the experiment, T, at least 4.

    Examples
    --------
    >>> [KnownHorizon(10_000).end(m) for m in (1, 2, 3, 4)]
    [200, 2000, 6325, 10000]
    """

    horizon: int

    def __post_init__(self) -> None:
        if not _is_whole(self.horizon) or self.horizon < 4:
            raise ValueError(f"horizon is {self.horizon}; give a whole number of at least 4 rounds.")

    def end(self, index: int) -> int:
        """The printed sequence, cut at the horizon."""
        step, horizon = 1, int(self.horizon)
        while True:
            last = min(ceil(2.0 * pow(horizon, 1.0 - 0.5**step) - 1e-9), horizon)
            if step == index:
                return last
            if last == horizon:
                return horizon * (1 + index - step)
            step += 1


def _is_whole(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, Integral)


def passive_count(share: float, n_rounds: int) -> int:
    """ceil(share n), at least 1 for a positive share, untouched by noise such as 0.07 * 100 > 7.

    >>> passive_count(0.07, 100), passive_count(0.3, 4), passive_count(0.0, 10), passive_count(1e-6, 10)
    (7, 2, 0, 1)
    """
    # Rounding of the share and of the product moves this by less than 1e-15 of itself.
    return min(n_rounds, ceil(share * n_rounds * (1.0 - 1e-12)))

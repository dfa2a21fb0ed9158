"""Intervals for every time of a sequence, all of which cover the mean at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.evaluation.intervals.interval import Interval
from gyrfalcon.evaluation.intervals.validation import Bounds


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConfidenceSequence:
    """Bounds after each row, which cover the mean after all rows at once with probability `level`.

    One may look after every row and stop when the bounds say enough. All rows must have the same mean, given
    those before them.

    Parameters
    ----------
    low, high : array (n,)
        The bounds after each row; they never widen.
    level : float
        The probability of covering at all times, such as 0.95.
    method : str
        The name of the method.
    empty_from : int, optional
        The row after which no mean was left and bounds stay where they were before. It shows, at this level,
        that the mean changed over time or that contributions are not unbiased.
    """

    low: Floats
    high: Floats
    level: float
    method: str
    empty_from: int | None = None

    @classmethod
    def intersected(
        cls, low: Floats, high: Floats, bounds: Bounds, level: float, method: str
    ) -> ConfidenceSequence:
        """The running intersection of bounds (n,) on the unit interval, in the units of `bounds`."""
        low = np.maximum.accumulate(np.clip(low, 0.0, 1.0))
        high = np.minimum.accumulate(np.clip(high, 0.0, 1.0))
        empty = np.flatnonzero(low > high)
        first = int(empty[0]) if len(empty) else None
        if first is not None:
            low[first:] = low[first - 1] if first else 0.0
            high[first:] = high[first - 1] if first else 1.0
        start, width = bounds[0], bounds[1] - bounds[0]
        return cls(start + width * low, start + width * high, float(level), method, first)

    def __len__(self) -> int:
        return len(self.low)

    def __repr__(self) -> str:
        empty = "" if self.empty_from is None else f", empty_from={self.empty_from}"
        return f"ConfidenceSequence({len(self)} rows, last {self.last}{empty})"

    @property
    def last(self) -> Interval:
        """The interval after all rows."""
        return self.after(len(self))

    def after(self, n_rows: int) -> Interval:
        """The interval after the first `n_rows` rows."""
        if not 1 <= n_rows <= len(self):
            raise ValueError(f"n_rows is {n_rows}; give a whole number from 1 to {len(self)}.")
        return Interval(float(self.low[n_rows - 1]), float(self.high[n_rows - 1]), self.level, self.method)

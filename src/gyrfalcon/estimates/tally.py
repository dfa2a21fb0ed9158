"""Running tallies of scores: what blocks of rows add to, and what means and standard errors come from."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.validation import check_not_negative


@dataclass(frozen=True, slots=True)
class Tally:
    """Count, sum and sum of squares of a column of numbers, or of several at once.

    Tallies of blocks add up to that of all rows; `scaled` forgets a part of them.

    >>> tally = Tally.of(np.array([[1.0, 3.0], [0.0, 0.0]])) + Tally.of(np.array([[2.0], [0.0]]))
    >>> tally.mean.tolist(), tally.standard_error.round(6).tolist(), tally.z.round(6).tolist()
    ([2.0, 0.0], [0.57735, 0.0], [3.464102, 0.0])
    """

    count: float
    """Rows, each by its weight."""
    count_squares: float
    """The sum of squared weights, from which it follows how many rows a tally is worth."""
    total: Floats
    """(...)."""
    squares: Floats
    """(...)."""

    @staticmethod
    def of(rows: Floats) -> Tally:
        """The tally of numbers (..., n) over their last axis."""
        n = float(rows.shape[-1])
        return Tally(n, n, np.asarray(rows.sum(axis=-1)), np.asarray(np.einsum("...n,...n->...", rows, rows)))

    @staticmethod
    def empty(*shape: int) -> Tally:
        """The tally of no rows, of as many columns."""
        return Tally(0.0, 0.0, np.zeros(shape), np.zeros(shape))

    def __add__(self, other: Tally) -> Tally:
        if self.total.shape != other.total.shape:
            raise ValueError(
                f"tallies have shapes {self.total.shape} and {other.total.shape}; "
                "add those of the same columns."
            )
        return Tally(
            self.count + other.count,
            self.count_squares + other.count_squares,
            self.total + other.total,
            self.squares + other.squares,
        )

    def scaled(self, factor: float) -> Tally:
        """The tally with each row's weight times a factor of at least 0."""
        check_not_negative("factor", factor)
        return Tally(
            factor * self.count, factor**2 * self.count_squares, factor * self.total, factor * self.squares
        )

    @property
    def n_effective(self) -> float:
        """How many rows of equal weight it is worth."""
        return self.count**2 / self.count_squares if self.count_squares > 0.0 else 0.0

    @property
    def mean(self) -> Floats:
        """(...): 0 without rows."""
        return np.asarray(self.total / self.count) if self.count > 0.0 else np.zeros(self.total.shape)

    @property
    def standard_error(self) -> Floats:
        """(...): of the mean, from the sample variance; infinite below two rows."""
        n = self.n_effective
        if not n > 1.0:
            return np.full(self.total.shape, math.inf)
        variance = self.squares / self.count - self.mean**2
        # Differences of sums below this are rounding, not scatter.
        rounding = 4.0 * np.finfo(np.float64).eps * self.squares / self.count
        return np.asarray(np.sqrt(np.where(variance > rounding, variance, 0.0) / (n - 1.0)))

    @property
    def z(self) -> Floats:
        """(...): means in standard errors; infinite for a mean without scatter, 0 for a mean of 0."""
        mean, error = self.mean, self.standard_error
        certain = np.where(mean == 0.0, 0.0, np.copysign(math.inf, mean))
        return np.asarray(np.divide(mean, error, out=certain, where=error > 0.0))

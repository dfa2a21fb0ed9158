"""Cells of rows, by action and bins of features: weighted means with standard errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints

FEWEST_ROWS = 8
"""Rows of a cell below which it is left empty: an error of fewer says little."""


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Weighted means of rows within cells, with errors that are robust to unequal noise."""

    place: Ints
    weights: Floats
    counts: Ints
    weight: Floats

    @staticmethod
    def of(place: Ints, n_cells: int, weights: Floats) -> Cells:
        """Cells of rows that stand at these places."""
        weight = np.bincount(place, weights, n_cells).astype(np.float64)
        return Cells(place, weights, np.bincount(place, minlength=n_cells), weight)

    @property
    def usable(self) -> Bools:
        """Which cells have enough rows."""
        return np.asarray(self.counts >= FEWEST_ROWS)

    def errors_of_constant(self, rewards: Floats, residuals: Floats) -> Floats:
        """Errors (C,) of cells whose rewards are all the same, by the variance of all rows; 0 elsewhere.

        Rare rewards are 0 in many a cell, whose own scatter says that they could be nothing else.
        """
        n = len(self.counts)
        least, most = np.full(n, np.inf), np.full(n, -np.inf)
        np.minimum.at(least, self.place, rewards)
        np.maximum.at(most, self.place, rewards)
        variance = float(self.weights @ residuals**2 / self.weights.sum())
        weight = np.where(self.weight > 0.0, self.weight, 1.0)
        pooled = np.sqrt(np.bincount(self.place, self.weights**2, n) * variance) / weight
        return np.asarray(np.where(least == most, pooled, 0.0))

    def mean_and_error(self, values: Floats) -> tuple[Floats, Floats]:
        """Weighted means and their standard errors, (C,) each; 0 where there are no rows.

        A row of large weight is close to the weighted mean by itself, so that scatter around that mean says
        too little. The error is at least the one of rows that all vary as they do without weights.
        """
        weight = np.where(self.weight > 0.0, self.weight, 1.0)
        n = len(self.counts)
        mean = np.bincount(self.place, self.weights * values, n) / weight
        squares = np.bincount(self.place, (self.weights * (values - mean[self.place])) ** 2, n)
        freed = np.maximum(self.counts - 1, 1)
        plain = np.bincount(self.place, values, n) / np.maximum(self.counts, 1)
        variance = np.bincount(self.place, (values - plain[self.place]) ** 2, n) / freed
        alike = np.bincount(self.place, self.weights**2, n) * variance
        return np.asarray(mean), np.sqrt(np.maximum(squares * self.counts / freed, alike)) / weight


def bin_edges(column: Floats, most: int) -> Floats:
    """Edges of bins with about as many rows each, halfway between distinct values where these are few.

    >>> bin_edges(np.array([0.0, 1.0, 1.0, 0.0]), 10).tolist()
    [0.0, 0.5, 1.0]
    """
    values = np.unique(column)
    if len(values) <= most:
        return np.concatenate([values[:1], (values[1:] + values[:-1]) / 2.0, values[-1:]])
    return np.unique(np.quantile(column, np.linspace(0.0, 1.0, most + 1)))


def bins_of(column: Floats, edges: Floats) -> Ints:
    """The bin of each value, (n,): edges belong to the bin above, the last to the one below."""
    return np.asarray(np.clip(np.searchsorted(edges, column, side="right") - 1, 0, max(len(edges) - 2, 0)))

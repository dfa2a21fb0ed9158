"""Where a class is wrong: what it leaves of rewards, by action and along features, with errors."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.records import Log
from gyrfalcon.estimates.misspecification.crossfit import CrossFit
from gyrfalcon.estimates.misspecification.passive_rows import points

MOST_BINS = 10
PAIR_BINS = 6
ROWS_PER_BIN = 20
"""Rows of an average action in a bin; fewer bins where rows are few."""
FEWEST_ROWS = 5
"""Rows of a cell below which it is left empty: an error of fewer says little."""


@dataclass(frozen=True, slots=True)
class ActionMisfit:
    """How wrong the class is for one action.

    Attributes
    ----------
    action : Hashable
        Label of the action.
    n_rows : int
        Number of rows of the action that were used.
    excess : float
        Mean squared distance between the class and a richer one, in squared reward units; below 0 by chance.
    standard_error : float
        Its standard error.
    share : float
        Share of the whole misfit that this action makes up, between 0 and 1.
    """

    action: Hashable
    n_rows: int
    excess: float
    standard_error: float
    share: float

    @property
    def z(self) -> float:
        """The excess in standard errors."""
        return self.excess / self.standard_error if self.standard_error > 0.0 else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class FeatureProfile:
    """Signed misfit along one feature: by action and bin, what rewards are above the class's predictions.

    Attributes
    ----------
    feature : str
        Name of the feature.
    edges : array of float
        Ends of the bins, (B + 1,).
    residual : array of float
        Mean reward above the prediction, (K, B), in reward units; nan where there are too few rows.
    standard_error : array of float
        Standard errors, (K, B).
    smoothed : array of float
        What the richer class says of the same cells, (K, B).
    n_rows : array of int
        Rows of each cell, (K, B).
    explained : float
        Part of b that goes along with this feature, noise taken off, in squared reward units.
    z : float
        How far the squared residuals are above noise, in standard deviations.
    """

    feature: str
    edges: Floats
    residual: Floats
    standard_error: Floats
    smoothed: Floats
    n_rows: Ints
    explained: float
    z: float


@dataclass(frozen=True, slots=True, eq=False)
class PairProfile:
    """Signed misfit over two features: mean reward above the class's prediction, by action and cell.

    Attributes
    ----------
    features : tuple[str, str]
        Names of the features.
    edges : tuple of two arrays
        Ends of the bins of either.
    residual, standard_error : array of float
        (K, B, C), nan where there are too few rows.
    n_rows : array of int
        (K, B, C).
    """

    features: tuple[str, str]
    edges: tuple[Floats, Floats]
    residual: Floats
    standard_error: Floats
    n_rows: Ints


@dataclass(frozen=True, slots=True)
class Region:
    """The bin of a feature and the action in which the misfit stands out most from noise."""

    action: Hashable
    feature: str
    low: float
    high: float
    residual: float
    standard_error: float

    @property
    def z(self) -> float:
        """The mean residual in standard errors."""
        return self.residual / self.standard_error


@dataclass(frozen=True, slots=True, eq=False)
class Misfits:
    """Residuals of rows under cross-fitted fits of the class and of a richer one, and the rows' weights."""

    log: Log
    weights: Floats
    own: CrossFit
    richer: CrossFit

    def by_action(self, labels: Sequence[Hashable]) -> tuple[ActionMisfit, ...]:
        """How wrong the class is for each action that has rows, in the order of the labels.

        Noise in both fits is not taken off: it nearly cancels, and what the richer fit has more of it only
        makes the excess smaller.
        """
        scores = self.own.residuals**2 - self.richer.residuals**2
        total = float(
            self.weights @ np.maximum(self._action_means(scores, len(labels)), 0.0)[self.log.action]
        )
        found = []
        for place, label in enumerate(labels):
            rows = self.log.action == place
            n = int(rows.sum())
            if n < 2:
                continue
            w = self.weights[rows] / self.weights[rows].mean()
            value = float(w @ scores[rows]) / n
            error = math.sqrt(float(np.sum((w * (scores[rows] - value)) ** 2)) / (n - 1) / n)
            part = max(value, 0.0) * float(self.weights[rows].sum())
            found.append(ActionMisfit(label, n, value, error, part / total if total > 0.0 else 0.0))
        return tuple(found)

    def _action_means(self, scores: Floats, n_actions: int) -> Floats:
        weight = np.bincount(self.log.action, self.weights, n_actions)
        sums = np.bincount(self.log.action, self.weights * scores, n_actions)
        return np.asarray(sums / np.where(weight > 0.0, weight, 1.0))

    def along(self, column: Floats, name: str, n_actions: int) -> FeatureProfile:
        """The profile along one feature, given by its column (n,)."""
        edges = bin_edges(column, _n_bins(len(column), n_actions))
        cell = bins_of(column, edges)
        shape = (n_actions, len(edges) - 1)
        cells = Cells.of(self.log.action * shape[1] + cell, shape[0] * shape[1], self.weights)
        mean, error = cells.mean_and_error(self.own.residuals)
        smoothed, _ = cells.mean_and_error(self.own.residuals - self.richer.residuals)
        usable = cells.usable & (error > 0.0)
        excess = np.where(usable, mean**2 - error**2, 0.0)
        ratios = (mean[usable] / error[usable]) ** 2
        z = (ratios.sum() - len(ratios)) / math.sqrt(2.0 * len(ratios)) if len(ratios) else 0.0
        return FeatureProfile(
            feature=name,
            edges=edges,
            residual=np.where(usable, mean, np.nan).reshape(shape),
            standard_error=np.where(usable, error, np.nan).reshape(shape),
            smoothed=np.where(usable, smoothed, np.nan).reshape(shape),
            n_rows=cells.counts.reshape(shape),
            explained=float(cells.weight @ excess) / float(self.weights.sum()),
            z=float(z),
        )

    def over(self, columns: tuple[Floats, Floats], names: tuple[str, str], n_actions: int) -> PairProfile:
        """The profile over two features, given by their columns (n,)."""
        most = max(2, min(PAIR_BINS, math.isqrt(len(self.log) // (ROWS_PER_BIN * n_actions) or 1)))
        edges = bin_edges(columns[0], most), bin_edges(columns[1], most)
        shape = (n_actions, len(edges[0]) - 1, len(edges[1]) - 1)
        first, second = bins_of(columns[0], edges[0]), bins_of(columns[1], edges[1])
        place = (self.log.action * shape[1] + first) * shape[2] + second
        cells = Cells.of(place, shape[0] * shape[1] * shape[2], self.weights)
        mean, error = cells.mean_and_error(self.own.residuals)
        usable = cells.usable & (error > 0.0)
        return PairProfile(
            features=names,
            edges=edges,
            residual=np.where(usable, mean, np.nan).reshape(shape),
            standard_error=np.where(usable, error, np.nan).reshape(shape),
            n_rows=cells.counts.reshape(shape),
        )

    def profiles(self, names: Sequence[str], n_actions: int) -> tuple[FeatureProfile, ...]:
        """Profiles along all features that vary, those that go along with most of b first."""
        columns = points(self.log)
        varied = [place for place in range(columns.shape[1]) if np.ptp(columns[:, place]) > 0.0]
        found = [self.along(columns[:, place], names[place], n_actions) for place in varied]
        return tuple(sorted(found, key=lambda one: -one.explained))


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
        return Cells(
            place, weights, np.bincount(place, minlength=n_cells), np.bincount(place, weights, n_cells)
        )

    @property
    def usable(self) -> Bools:
        """Which cells have enough rows."""
        return np.asarray(self.counts >= FEWEST_ROWS)

    def mean_and_error(self, values: Floats) -> tuple[Floats, Floats]:
        """Weighted means and their standard errors, (C,) each; 0 where there are no rows."""
        weight = np.where(self.weight > 0.0, self.weight, 1.0)
        n = len(self.counts)
        mean = np.bincount(self.place, self.weights * values, n) / weight
        squares = np.bincount(self.place, (self.weights * (values - mean[self.place])) ** 2, n)
        freed = self.counts / np.maximum(self.counts - 1, 1)
        return np.asarray(mean), np.sqrt(squares * freed) / weight


def bin_edges(column: Floats, most: int) -> Floats:
    """Edges of at most so many bins with about as many rows each; halfway between few distinct values.

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


def most_telling_region(profiles: Sequence[FeatureProfile], labels: Sequence[Hashable]) -> Region | None:
    """The cell whose residual is most standard errors from 0, over all features and actions."""
    best: Region | None = None
    for profile in profiles:
        ratios = np.abs(profile.residual) / profile.standard_error
        if np.isnan(ratios).all():
            continue
        action, cell = np.unravel_index(int(np.nanargmax(ratios)), ratios.shape)
        region = Region(
            labels[int(action)],
            profile.feature,
            float(profile.edges[cell]),
            float(profile.edges[cell + 1]),
            float(profile.residual[action, cell]),
            float(profile.standard_error[action, cell]),
        )
        if best is None or abs(region.z) > abs(best.z):
            best = region
    return best


def _n_bins(n_rows: int, n_actions: int) -> int:
    return int(np.clip(n_rows // (ROWS_PER_BIN * n_actions), 2, MOST_BINS))

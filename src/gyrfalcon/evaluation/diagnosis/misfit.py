"""Where a class is wrong: what it leaves of rewards, by action and along features, with errors."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.records import Log
from gyrfalcon.estimates.misspecification.crossfit import CrossFit
from gyrfalcon.estimates.misspecification.passive_rows import points
from gyrfalcon.evaluation.diagnosis.cells import Cells, bin_edges, bins_of
from gyrfalcon.evaluation.diagnosis.profiles import ActionMisfit, FeatureProfile, PairProfile

MOST_BINS = 10
PAIR_BINS = 6
MOST_PAIRED = 6
ROWS_PER_BIN = 20
"""Rows of an average action in a bin; fewer bins where rows are few."""


@dataclass(frozen=True, slots=True, eq=False)
class Misfits:
    """Residuals of rows under cross-fitted fits of the class and of a richer one, and the rows' weights."""

    log: Log
    weights: Floats
    own: CrossFit
    richer: CrossFit
    rows: str = ""
    """Which rows these are."""

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
        error = np.maximum(error, cells.errors_of_constant(self.log.reward, self.own.residuals))
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
        error = np.maximum(error, cells.errors_of_constant(self.log.reward, self.own.residuals))
        usable = cells.usable & (error > 0.0)
        excess = np.where(usable, mean**2 - error**2, 0.0)
        return PairProfile(
            features=names,
            edges=edges,
            residual=np.where(usable, mean, np.nan).reshape(shape),
            standard_error=np.where(usable, error, np.nan).reshape(shape),
            n_rows=cells.counts.reshape(shape),
            explained=float(cells.weight @ excess) / float(self.weights.sum()),
        )

    def feature_profiles(self, names: Sequence[str], n_actions: int) -> tuple[FeatureProfile, ...]:
        """Profiles along all features that vary, those that go along with most of b first."""
        columns = points(self.log)
        varied = [place for place in range(columns.shape[1]) if np.ptp(columns[:, place]) > 0.0]
        found = [self.along(columns[:, place], names[place], n_actions) for place in varied]
        return tuple(sorted(found, key=lambda one: -one.explained))

    def most_telling_pair(
        self, profiles: Sequence[FeatureProfile], names: Sequence[str], n_actions: int
    ) -> PairProfile | None:
        """The profile over the two of the first six features that go along with most of b together."""
        columns = points(self.log)
        places = [names.index(profile.feature) for profile in profiles[:MOST_PAIRED]]
        found = [
            self.over((columns[:, one], columns[:, other]), (names[one], names[other]), n_actions)
            for one, other in combinations(places, 2)
        ]
        return max(found, key=lambda pair: pair.explained, default=None)


def _n_bins(n_rows: int, n_actions: int) -> int:
    return int(np.clip(n_rows // (ROWS_PER_BIN * n_actions), 2, MOST_BINS))

"""The least-squares fit of a linear class as an operator on rewards: fitted = W W' r, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.records import Log
from gyrfalcon.oracles.linalg.whitening import whitened_rows
from gyrfalcon.oracles.linear.linear import LinearOracle


@dataclass(frozen=True, slots=True)
class Smoother:
    """Coordinates W of rows in which a (ridge) fit is the sum of projections: H = W W' within a block."""

    coordinates: Floats
    """(n, d)."""
    blocks: Ints
    """(n,): rows of different blocks do not touch each other's fit."""

    @staticmethod
    def of(
        oracle: LinearOracle, log: Log, *, penalised: bool = True, weights: Floats | None = None
    ) -> Smoother:
        """The smoother of these rows, with the class's ridge unless that is left out.

        With weights (n,) it acts on rows times the roots of their weights: sqrt(w) r to sqrt(w) fitted.
        """
        features, given = oracle.design.rows(log)
        blocks = np.zeros(len(log), dtype=np.int64) if given is None else given
        if weights is not None:
            features = features * np.sqrt(weights)[:, np.newaxis]
        if penalised and oracle.settings.ridge > 0.0:
            factors = oracle.optimistic(oracle.summarise(log, weights), 1.0)[0].factors
            return _stretched(features, blocks, factors)
        return _orthonormal(features, blocks)

    def by_block(self) -> Iterator[Ints]:
        """The rows of each block that has any."""
        for block in np.unique(self.blocks):
            yield np.flatnonzero(self.blocks == block)

    @property
    def leverages(self) -> Floats:
        """(n,): the diagonal h of H."""
        return np.asarray(np.einsum("nd,nd->n", self.coordinates, self.coordinates))

    @property
    def degrees(self) -> float:
        """The trace of H^2: noise in predictions is sigma^2 times this over n; the rank, without a ridge."""
        total = 0.0
        for rows in self.by_block():
            w = self.coordinates[rows]
            total += float(((w.T @ w) ** 2).sum())
        return total

    def fit_noise(self, variances: Floats) -> float:
        """The sum over rows of the variance of their fitted values, for noise of these variances (n,)."""
        total = 0.0
        for rows in self.by_block():
            w = self.coordinates[rows]
            total += float(variances[rows] @ np.einsum("nd,de,ne->n", w, w.T @ w, w))
        return total

    def residuals(self, reward: Floats) -> Floats:
        """(n,): r - H r."""
        left = np.empty(len(reward))
        for rows in self.by_block():
            w = self.coordinates[rows]
            left[rows] = reward[rows] - w @ (w.T @ reward[rows])
        return left

    def spread_of(self, variances: Floats) -> Floats:
        """(n, d): W S with S = sum of variance w w' over a row's block, so that W S W' = H diag(v) H."""
        spread = np.empty_like(self.coordinates)
        for rows in self.by_block():
            w = self.coordinates[rows]
            spread[rows] = w @ ((w.T * variances[rows]) @ w)
        return spread


def _stretched(features: Floats, blocks: Ints, factors: Floats) -> Smoother:
    coordinates = np.empty((len(features), factors.shape[1]))
    for block in np.unique(blocks):
        rows = blocks == block
        coordinates[rows] = features[rows] @ factors[block].T
    return Smoother(coordinates, blocks)


def _orthonormal(features: Floats, blocks: Ints) -> Smoother:
    """Left singular vectors: no Gram matrix, and a rank that tells rounding from features."""
    coordinates = np.zeros_like(features)
    for block in np.unique(blocks):
        rows = np.flatnonzero(blocks == block)
        whitening = whitened_rows(features[rows][np.newaxis])
        assert whitening.left is not None
        coordinates[rows] = whitening.left[0, : len(rows)] * whitening.kept[0]
    return Smoother(coordinates, blocks)

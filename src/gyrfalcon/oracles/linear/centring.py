"""Centring of rewards before a linear fit: a ridge then shrinks towards their mean, and not towards 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.oracles.features.design import Design
from gyrfalcon.oracles.solvers.moments import Moments


@dataclass(frozen=True, slots=True)
class Centring:
    """Mean reward of each of R equal shares of the blocks, and the coefficients of a constant."""

    means: Floats
    """(R,): 0 without an intercept."""
    constant: Floats
    """(d,): coefficients with which every row has the estimate 1."""

    @staticmethod
    def of(rows: Moments, design: Design, n_groups: int = 1) -> Centring:
        """The centring of rows by their mean reward."""
        constant = design.constant
        weights = rows.weight.reshape(n_groups, -1).sum(axis=1)
        totals = (rows.cross @ constant).reshape(n_groups, -1).sum(axis=1)
        means = np.divide(totals, weights, out=np.zeros(n_groups), where=weights > 0.0)
        return Centring(means, constant)

    def less(self, rows: Moments) -> Moments:
        """The rows with rewards less their mean."""
        if not self.means.any():
            return rows
        center = self._of_blocks(len(rows.weight))
        totals, weighted = rows.cross @ self.constant, rows.gram @ self.constant
        root = None
        if rows.root is not None:
            target = rows.root[:, :, -1] - center[:, np.newaxis] * (rows.root[:, :, :-1] @ self.constant)
            root = np.concatenate([rows.root[:, :, :-1], target[:, :, np.newaxis]], axis=2)
        squares = rows.squares - 2.0 * center * totals + center**2 * rows.weight
        cross = rows.cross - center[:, np.newaxis] * weighted
        return Moments(rows.gram, cross, np.maximum(squares, 0.0), rows.weight, root)

    def above(self, coefficients: Floats) -> Floats:
        """Coefficients (B, d) of a fit to centred rewards, for the rewards themselves."""
        if not self.means.any():
            return coefficients
        return coefficients + self._of_blocks(len(coefficients))[:, np.newaxis] * self.constant

    def _of_blocks(self, n_blocks: int) -> Floats:
        return np.repeat(self.means, n_blocks // len(self.means))

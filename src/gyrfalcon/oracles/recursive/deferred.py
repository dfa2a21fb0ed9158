"""A running regression that nobody asks for the time being: its rows are summed, and fitted when it wakes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.records import Log
from gyrfalcon.oracles.recursive.inverses import inverse_of
from gyrfalcon.oracles.recursive.ridge import RunningRidge, by_action


@dataclass(frozen=True, slots=True)
class RestingRidge:
    """A regression as it was, and what came in since: sums cost a third of what a fit does."""

    fit: RunningRidge
    gram: Floats
    """(K, d, d): sums of phi phi' of the new rows."""
    cross: Floats
    """(K, d): sums of phi r."""
    squares: Floats
    """(K,)."""
    weights: Floats
    """(K,)."""

    @staticmethod
    def of(fit: RunningRidge) -> RestingRidge:
        """The regression put to rest."""
        K, d = fit.coefficients.shape
        return RestingRidge(fit, np.zeros((K, d, d)), np.zeros((K, d)), np.zeros(K), np.zeros(K))

    @property
    def n_columns(self) -> int:
        """The number d of columns."""
        return self.fit.n_columns

    def with_rows(self, log: Log) -> RestingRidge:
        """With the rows of a log added."""
        if len(log) == 0:
            return self
        gram, cross = self.gram.copy(), self.cross.copy()
        squares, weights = self.squares.copy(), self.weights.copy()
        order, played = by_action(log.action)
        phi, reward = self.fit.rows(log.contexts)[order], log.reward[order]
        for action, part in played:
            f, r = phi[part], reward[part]
            gram[action] += f.T @ f
            cross[action] += r @ f
            squares[action] += r @ r
            weights[action] += len(r)
        return RestingRidge(self.fit, gram, cross, squares, weights)

    def awake(self) -> RunningRidge:
        """The regression of all rows."""
        fit = self.fit
        inverses, coefficients = fit.inverses.copy(), fit.coefficients.copy()
        leading = None if fit.leading is None else fit.leading.copy()
        cross = fit.cross + self.cross
        for action in np.flatnonzero(self.weights > 0.0):
            own = self.gram[action]
            inverses[action] = inverse_of(inverse_of(inverses[action]) + own)
            coefficients[action] = inverses[action] @ cross[action]
            if leading is not None:
                q = leading.shape[1]
                leading[action] = inverse_of(inverse_of(leading[action]) + own[:q, :q])
        return replace(
            fit,
            inverses=inverses,
            leading=leading,
            coefficients=coefficients,
            cross=cross,
            squares=fit.squares + self.squares,
            weights=fit.weights + self.weights,
        )

    def scaled(self, factor: float) -> RestingRidge:
        """The regression with every row's weight times a factor."""
        return RestingRidge.of(self.awake().scaled(factor))

    def reindexed(self, source: Ints) -> RestingRidge:
        """The regression when action k was action source[k] before, -1 if it is new."""
        return RestingRidge.of(self.awake().reindexed(source))

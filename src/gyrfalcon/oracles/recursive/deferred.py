"""Ridge regression whose update is deferred: sufficient statistics accumulate until `resume()`."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.records import Log
from gyrfalcon.oracles.features.design import columns_of
from gyrfalcon.oracles.recursive.ridge import RecursiveRidge, by_action, inverse_of


@dataclass(frozen=True, slots=True)
class DeferredRidge:
    """A recursive ridge regression and the sums of newer rows, a third of the cost of an update."""

    fit: RecursiveRidge
    gram: Floats
    """(K, d, d): sums of phi phi' of the new rows."""
    cross: Floats
    """(K, d): sums of phi r."""
    squares: Floats
    """(K,)."""
    weights: Floats
    """(K,)."""

    @staticmethod
    def of(fit: RecursiveRidge) -> DeferredRidge:
        """The regression, to be updated later."""
        K, d = fit.coefficients.shape
        return DeferredRidge(fit, np.zeros((K, d, d)), np.zeros((K, d)), np.zeros(K), np.zeros(K))

    @property
    def n_columns(self) -> int:
        """The number d of columns."""
        return self.fit.n_columns

    def with_rows(self, log: Log) -> DeferredRidge:
        """The regression with the rows of a log added to its sums."""
        if len(log) == 0:
            return self
        gram, cross = self.gram.copy(), self.cross.copy()
        squares, weights = self.squares.copy(), self.weights.copy()
        order, played = by_action(log.action)
        phi, reward = columns_of(self.fit.basis, log.contexts)[order], log.reward[order]
        for action, part in played:
            f, r = phi[part], reward[part]
            gram[action] += f.T @ f
            cross[action] += r @ f
            squares[action] += r @ r
            weights[action] += len(r)
        return DeferredRidge(self.fit, gram, cross, squares, weights)

    def resume(self) -> RecursiveRidge:
        """The regression updated with all rows since it was deferred."""
        fit = self.fit
        inverses, coefficients = fit.inverses.copy(), fit.coefficients.copy()
        prefix = None if fit.prefix_inverses is None else fit.prefix_inverses.copy()
        cross = fit.cross + self.cross
        for action in np.flatnonzero(self.weights > 0.0):
            own = self.gram[action]
            inverses[action] = inverse_of(inverse_of(inverses[action]) + own)
            coefficients[action] = inverses[action] @ cross[action]
            if prefix is not None:
                q = prefix.shape[1]
                prefix[action] = inverse_of(inverse_of(prefix[action]) + own[:q, :q])
        return replace(
            fit,
            inverses=inverses,
            prefix_inverses=prefix,
            coefficients=coefficients,
            cross=cross,
            squares=fit.squares + self.squares,
            weights=fit.weights + self.weights,
        )

    def scaled(self, factor: float) -> DeferredRidge:
        """The regression with every row's weight times a factor."""
        return DeferredRidge.of(self.resume().scaled(factor))

    def reindexed(self, source: Ints) -> DeferredRidge:
        """The regression when action k was action source[k] before, -1 if it is new."""
        return DeferredRidge.of(self.resume().reindexed(source))

"""Reward model of a recursive ridge regression: estimates, and their confidence widths as a bonus."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.oracles.features.bases import FeatureMap
from gyrfalcon.oracles.features.design import columns_of
from gyrfalcon.oracles.linalg.batch_invariant import inner_products, quadratic_forms
from gyrfalcon.oracles.linear.models import fill_unknown


@dataclass(frozen=True, slots=True)
class RecursiveModel:
    """Estimates of a recursive regression, clipped to `bounds`, plus `bonus` times their widths."""

    basis: FeatureMap
    coefficients: Floats  # (K, d)
    matrices: Floats  # (K, q, q): widths are those of the first q columns
    bonus: float
    bounds: tuple[float, float] | None
    known: Bools | None  # (K,) actions with data; None: all
    origin: float = 0.0  # the reward that an estimate of 0 stands for, in the log's units
    unit: float = 1.0  # what an estimate of 1 is above it

    def scores(self, contexts: Contexts) -> Floats:
        """Estimates plus bonus times widths, (n, K)."""
        phi = columns_of(self.basis, contexts)
        columns = self._means(phi, contexts.eligible)
        if self.bonus != 0.0:
            columns += self.bonus * self._widths(phi)
        return columns.T

    def means(self, contexts: Contexts) -> Floats:
        """The estimates alone, (n, K); an action without data has just more than the best of the others."""
        return self._means(columns_of(self.basis, contexts), contexts.eligible).T

    def rewards(self, contexts: Contexts) -> Floats:
        """The estimates as rewards in the log's units, (n, K)."""
        return self.origin + self.unit * self.means(contexts)

    def widths(self, contexts: Contexts) -> Floats:
        """The length of phi in the inverse of the regularised Gram matrix, (n, K)."""
        return self._widths(columns_of(self.basis, contexts)).T

    def _means(self, phi: Floats, eligible: Bools | None) -> Floats:
        columns = inner_products(self.coefficients, phi)
        if self.bounds is not None:
            np.clip(columns, *self.bounds, out=columns)
        if self.known is not None:
            fill_unknown(columns, self.known, eligible, eager=True)
        return columns

    def _widths(self, phi: Floats) -> Floats:
        squares = quadratic_forms(self.matrices, np.ascontiguousarray(phi[:, : self.matrices.shape[1]]))
        return np.sqrt(squares, out=squares)

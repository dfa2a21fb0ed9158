"""Kernel ridge predictions whose bits do not depend on the batch: sums over training rows in a fixed order.

scikit-learn's run through BLAS, which adds up in another order for every shape; asking it row by row is exact
too, and hundreds of times slower.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrfalcon.core.types import Floats

_CELLS = 1 << 20
"""Kernel values computed at a time."""


@dataclass(frozen=True, slots=True)
class KernelExpansion:
    """f(x) = sum_i w_i k(x, x_i) over training rows."""

    regressor: Any
    kernel: str
    points: Floats
    weights: Floats

    def __call__(self, features: Floats) -> Floats:
        """(n,) predictions."""
        size = max(1, _CELLS // max(len(self.points), 1))
        kernel = _KERNELS[self.kernel]
        chunks = [features[start : start + size] for start in range(0, len(features), size)]
        values = [
            np.einsum("nm,m->n", kernel(self.regressor, chunk, self.points), self.weights) for chunk in chunks
        ]
        return np.concatenate(values) if values else np.zeros(0)


def kernel_expansion(regressor: object) -> KernelExpansion | None:
    """The predictions of a fitted KernelRidge with a common kernel; None for any other regressor."""
    centres, dual = getattr(regressor, "X_fit_", None), getattr(regressor, "dual_coef_", None)
    kernel = str(getattr(regressor, "kernel", ""))
    if centres is None or dual is None or kernel not in _KERNELS or np.ndim(dual) != 1:
        return None
    return KernelExpansion(regressor, kernel, np.ascontiguousarray(centres), np.ascontiguousarray(dual))


def _products(features: Floats, points: Floats) -> Floats:
    """(n, m) inner products, feature by feature."""
    total = np.zeros((len(features), len(points)))
    for column in range(features.shape[1]):
        total += np.multiply.outer(features[:, column], points[:, column])
    return total


def _distances(features: Floats, points: Floats, power: int) -> Floats:
    """(n, m) sums of |difference|^power, feature by feature."""
    total = np.zeros((len(features), len(points)))
    for column in range(features.shape[1]):
        total += np.abs(np.subtract.outer(features[:, column], points[:, column])) ** power
    return total


def _gamma(regressor: Any, features: Floats) -> float:
    return 1.0 / features.shape[1] if regressor.gamma is None else float(regressor.gamma)


def _linear(regressor: Any, features: Floats, points: Floats) -> Floats:
    del regressor
    return _products(features, points)


def _polynomial(regressor: Any, features: Floats, points: Floats) -> Floats:
    inner = _gamma(regressor, features) * _products(features, points) + regressor.coef0
    powers: Floats = inner**regressor.degree
    return powers


def _gaussian(regressor: Any, features: Floats, points: Floats) -> Floats:
    return np.exp(-_gamma(regressor, features) * _distances(features, points, 2))


def _laplacian(regressor: Any, features: Floats, points: Floats) -> Floats:
    return np.exp(-_gamma(regressor, features) * _distances(features, points, 1))


_KERNELS = {
    "linear": _linear,
    "poly": _polynomial,
    "polynomial": _polynomial,
    "rbf": _gaussian,
    "laplacian": _laplacian,
}

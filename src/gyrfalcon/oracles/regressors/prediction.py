"""What fitted regressors predict: checked, and with the same bits for a row alone and in any batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.oracles.linalg.batch_invariant import inner_products

_PROBES = 64
_EXACT_BY_ROW = {
    "sklearn.tree": ("DecisionTreeRegressor", "ExtraTreeRegressor"),
    "sklearn.ensemble": ("ExtraTreesRegressor", "HistGradientBoostingRegressor", "RandomForestRegressor"),
    "sklearn.isotonic": ("IsotonicRegression",),
    "sklearn.svm": ("NuSVR", "SVR"),
    "gyrfalcon.oracles.stump_hull.regressor": ("StumpHull",),
}
"""They look a row up, or add up leaves or kernels in a fixed order, whatever stands beside it."""
_FORESTS = ("ExtraTreesRegressor", "RandomForestRegressor")
_AS_THEIR_PARTS = {
    "AdaBoostRegressor": "estimator",
    "BaggingRegressor": "estimator",
    "GradientBoostingRegressor": "init",
}
"""They are as exact as the regressor under this name; without one they are made of trees."""


class FittedEstimator(Protocol):
    """A regressor after its fit, scikit-learn's way."""

    def predict(self, X: Floats, /) -> Any:
        """Predictions for the rows of X."""
        ...


@dataclass(frozen=True, slots=True)
class TreeByTree:
    """The mean of a forest's trees, summed without the pool of workers that scikit-learn starts."""

    trees: tuple[Any, ...]
    """The arrays of scikit-learn's trees, which look up rows of single precision."""

    def __call__(self, features: Floats) -> Floats:
        """(n,) predictions for the rows of `features`."""
        with np.errstate(over="ignore"):  # what is larger than all such numbers is so in every comparison
            rows = np.ascontiguousarray(features, dtype=np.float32)
        total = np.zeros(len(rows))
        for tree in self.trees:
            total += tree.predict(rows)[:, 0]
        return total / len(self.trees)


def predictions_of(regressor: FittedEstimator, features: Floats) -> Floats:
    """(n,) predictions; ValueError unless there is one finite number per row."""
    direct = _tree_by_tree(regressor)
    returned = regressor.predict(features) if direct is None else direct(features)
    predictions = np.asarray(returned, dtype=np.float64)
    name = type(regressor).__name__
    if predictions.shape not in {(len(features),), (len(features), 1)}:
        raise ValueError(
            f"{name} predicts an array of shape {predictions.shape} for {len(features)} rows; "
            "give a regressor with one prediction per row."
        )
    if not np.isfinite(predictions).all():
        bad = predictions[~np.isfinite(predictions)].flat[0]
        raise ValueError(f"{name} predicts {bad}; choose parameters with which it predicts finite numbers.")
    return predictions.reshape(-1)


def complaint(regressor: FittedEstimator | None) -> str | None:
    """Why a fitted regressor has not converged, as a clause for the report; None if it has."""
    name, steps = type(regressor).__name__, getattr(regressor, "n_iter_", None)
    most = getattr(regressor, "max_iter", None)
    if getattr(regressor, "converged_", True) is False:
        return f"{name} has not converged; raise max_iter or tolerance"
    solves = type(regressor).__module__.startswith(("sklearn.linear_model", "sklearn.neural_network"))
    if solves and steps is not None and most is not None and np.max(steps) >= most:
        return f"{name} stopped at max_iter={most}; raise it for a fit that has converged"
    return None


@dataclass(frozen=True, slots=True)
class Together:
    """Predictions of all rows at once."""

    regressor: FittedEstimator

    def __call__(self, features: Floats) -> Floats:
        """(n,) predictions for the rows of `features`."""
        return predictions_of(self.regressor, features)


@dataclass(frozen=True, slots=True)
class OneByOne:
    """Predictions row by row: exact where arithmetic depends on the batch, and slow."""

    regressor: FittedEstimator

    def __call__(self, features: Floats) -> Floats:
        """(n,) predictions for the rows of `features`."""
        return np.array([predictions_of(self.regressor, row[np.newaxis])[0] for row in features])


def exact_by_row(regressor: FittedEstimator, features: Floats) -> Callable[[Floats], Floats]:
    """A way to predict that gives a row the same bits alone and in any batch.

    Regressors that are known to do so predict in batches. Sums of kernels are computed here, where that gives
    the same at these `features`; all others predict row by row, as no trial could prove more.
    """
    if _is_exact(regressor):
        return Together(regressor)
    expansion = kernel_expansion(regressor)
    one_by_one = OneByOne(regressor)
    probes = features[:_PROBES]
    if expansion is not None and np.allclose(expansion(probes), one_by_one(probes), rtol=1e-9, atol=1e-12):
        return expansion
    return one_by_one


def padded(features: Floats) -> Floats:
    """Contiguous features, with a constant where there are none, as regressors refuse to have none."""
    return np.ascontiguousarray(features) if features.shape[1] else np.ones((len(features), 1))


def _tree_by_tree(regressor: FittedEstimator) -> TreeByTree | None:
    """A forest of scikit-learn's by its trees, None if it is something else."""
    cls = type(regressor)
    if cls.__name__ not in _FORESTS or not cls.__module__.startswith("sklearn.ensemble"):
        return None
    trees = tuple(getattr(one, "tree_", None) for one in getattr(regressor, "estimators_", ()))
    return TreeByTree(trees) if trees and None not in trees else None


def _is_exact(regressor: object) -> bool:
    cls = type(regressor)
    if cls.__module__.startswith("sklearn.ensemble") and cls.__name__ in _AS_THEIR_PARTS:
        part = getattr(regressor, _AS_THEIR_PARTS[cls.__name__], None)
        return part is None or _is_exact(part)
    return any(
        cls.__module__.startswith(module) and cls.__name__ in names for module, names in _EXACT_BY_ROW.items()
    )


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
        """(n,) predictions for the rows of `features`."""
        size = max(1, _CELLS // max(len(self.points), 1))
        kernel, weights = _KERNELS[self.kernel], self.weights[np.newaxis]
        values = np.empty(len(features))
        for start in range(0, len(features), size):
            some = slice(start, start + size)
            values[some] = inner_products(weights, kernel(self.regressor, features[some], self.points))[0]
        return values


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

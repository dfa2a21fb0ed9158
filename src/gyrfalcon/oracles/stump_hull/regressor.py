"""Regression over the convex hull of decision stumps: boosting under a budget of absolute weights."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.oracles.stump_hull.conditional_gradient import Solution, Task, solved, within
from gyrfalcon.oracles.stump_hull.thresholds import Cuts


@dataclass(kw_only=True, eq=False)
class StumpHull:
    """Convex hull of decision stumps, the paper's Example 2, as a regressor.

    f(x) = c + sum_j w_j 1{x_feature(j) > threshold(j)} with sum |w_j| <= budget and a constant c. `fit`
    minimises the weighted mean of (y - f(x))^2 over stumps with thresholds midway between observed values;
    `gap_` bounds how far that mean is above its minimum. Parameters, `fit` and `predict` follow scikit-learn,
    so that its `clone` works; it is not imported.

    Parameters
    ----------
    budget : float, default 1.0
        Bound on the sum of the absolute weights.
    fit_intercept : bool, default True
        Whether the constant c is fitted; otherwise it is 0.
    tolerance : float, default 1e-10
        Largest gap at which `fit` stops, relative to the variance of y (its mean square without intercept).
    max_iter : int, default 100
        Largest number of corrections; if they are used up, `converged_` is False.
    warm_start : bool, default False
        Whether a refit starts from the fit before.

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> hull = StumpHull(budget=0.5).fit(x, [0.0, 0.0, 1.0, 1.0])
    >>> hull.thresholds_, hull.weights_, hull.converged_
    (array([1.5]), array([0.5]), True)
    >>> hull.predict(x)
    array([0.25, 0.25, 0.75, 0.75])
    """

    budget: float = 1.0
    fit_intercept: bool = True
    tolerance: float = 1e-10
    max_iter: int = 100
    warm_start: bool = False

    features_: Ints = field(init=False, repr=False)
    thresholds_: Floats = field(init=False, repr=False)
    weights_: Floats = field(init=False, repr=False)
    intercept_: float = field(init=False, repr=False)
    gap_: float = field(init=False, repr=False)
    n_iter_: int = field(init=False, repr=False)
    converged_: bool = field(init=False, repr=False)
    n_features_in_: int = field(init=False, repr=False)
    _cuts: Cuts | None = field(init=False, repr=False, default=None)

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 - scikit-learn's signature
        """The settings by name."""
        return {setting.name: getattr(self, setting.name) for setting in fields(self) if setting.init}

    def set_params(self, **params: Any) -> Self:
        """Itself with some settings replaced; ValueError for a name that is none."""
        known = self.get_params()
        for name in params:
            if name not in known:
                raise ValueError(f"{name!r} is no setting of StumpHull; the settings are {', '.join(known)}.")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Itself, fitted; rows of weight 0 are as if they were not there."""
        self._require_settings()
        rows, targets, weights = _sample(X, y, sample_weight)
        seen = weights > 0.0
        cuts, shares = self._cuts_of(rows[seen]), weights[seen] / weights.max()
        task = Task.of(cuts, targets[seen], shares / shares.sum(), self.budget, self.fit_intercept)
        self._adopt(task, solved(task, self._start(cuts) / task.scale, self.tolerance, self.max_iter))
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """f(x) (n,) of each row, the same bits for a row alone and in any batch."""
        if not hasattr(self, "weights_"):
            raise ValueError("This StumpHull has no fit yet; call fit(X, y) before predict(X).")
        rows = _rows(X)
        if rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {rows.shape[1]} columns; give the {self.n_features_in_} columns of the fit."
            )
        values = np.full(len(rows), self.intercept_)
        for j in np.unique(self.features_):
            own = self.features_ == j
            steps = np.concatenate([[0.0], np.cumsum(self.weights_[own])])
            values += steps[np.searchsorted(self.thresholds_[own], rows[:, j])]
        return values

    def _require_settings(self) -> None:
        if not (isfinite(self.budget) and self.budget >= 0.0):
            raise ValueError(f"budget is {self.budget}; give a finite sum of absolute weights of at least 0.")
        if not self.tolerance >= 0.0:
            raise ValueError(f"tolerance is {self.tolerance}; give a share of the variance of at least 0.")
        if not self.max_iter >= 0:
            raise ValueError(f"max_iter is {self.max_iter}; give a number of corrections of at least 0.")

    def _cuts_of(self, rows: Floats) -> Cuts:
        known = self._cuts
        return known if known is not None and np.array_equal(known.rows, rows) else Cuts.of(rows)

    def _start(self, cuts: Cuts) -> Floats:
        if not (self.warm_start and hasattr(self, "weights_")):
            return np.zeros(cuts.thresholds.size)
        return within(cuts.nearest(self.features_, self.thresholds_, self.weights_), self.budget)

    def _adopt(self, task: Task, solution: Solution) -> None:
        places = np.flatnonzero(solution.weights)
        self.features_, self.thresholds_ = task.cuts.features[places], task.cuts.thresholds[places]
        self.weights_ = solution.weights[places] * task.scale
        self.intercept_ = task.shift + task.scale * task.constant(solution.weights)
        self.gap_, self.n_iter_ = solution.gap * task.scale * task.scale, solution.n_iter
        self.converged_, self.n_features_in_ = solution.converged, task.cuts.rows.shape[1]
        self._cuts = task.cuts if self.warm_start else None


def _sample(X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> tuple[Floats, Floats, Floats]:
    """Rows (n, p), targets (n,) and weights (n,) as floats; ValueError unless they are fit to be fitted."""
    rows = _rows(X)
    if len(rows) == 0:
        raise ValueError("X has 0 rows; give at least 1 row to fit.")
    targets = _finite("y", y)
    weights = _finite("sample_weight", np.ones(len(rows)) if sample_weight is None else sample_weight)
    for name, given in (("y", targets), ("sample_weight", weights)):
        if given.shape != (len(rows),):
            raise ValueError(f"{name} has shape {given.shape}; give one number for each of {len(rows)} rows.")
    if (weights < 0.0).any():
        raise ValueError(f"sample_weight holds {weights.min()}; give weights of at least 0.")
    if not weights.any():
        raise ValueError("sample_weight is 0 for every row; give at least one row a weight above 0.")
    return rows, targets, weights


def _rows(X: ArrayLike) -> Floats:
    rows = _finite("X", X)
    if rows.ndim != 2:
        raise ValueError(
            f"X has shape {rows.shape}; give rows and columns, as in X.reshape(-1, 1) for one column."
        )
    return rows


def _finite(name: str, given: ArrayLike) -> Floats:
    values = np.asarray(given, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"{name} holds {values[~np.isfinite(values)][0]}; give finite numbers.")
    return values

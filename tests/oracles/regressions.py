"""Logs, regressors and fits that the tests of regressors share."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor, RandomForestRegressor
from sklearn.isotonic import IsotonicRegression
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.neural_network import MLPRegressor
from sklearn.tree import DecisionTreeRegressor

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.fit_report import FitReport
from gyrfalcon.core.records import Log
from gyrfalcon.oracles.protocol import ModelClass
from gyrfalcon.oracles.stump_hull.regressor import StumpHull

CONVEX = {
    "least squares": LinearRegression(),
    "ridge": Ridge(alpha=1.0),
    "lasso": Lasso(alpha=0.002, tol=1e-10),
    "non-negative": LinearRegression(positive=True),
    "kernel ridge": KernelRidge(kernel="rbf", alpha=0.1),
    "isotonic": IsotonicRegression(out_of_bounds="clip"),
    "stumps": StumpHull(budget=1.0),
}
NON_CONVEX = {
    "tree": DecisionTreeRegressor(max_depth=3),
    "forest": RandomForestRegressor(n_estimators=5, max_depth=4),
    "extra trees": ExtraTreesRegressor(n_estimators=5, max_depth=4),
    "boosting": GradientBoostingRegressor(n_estimators=10),
    "network": MLPRegressor(hidden_layer_sizes=(6,), max_iter=100, solver="lbfgs", tol=1e-3),
}


def make_log(rng: np.random.Generator, n: int, p: int, k: int = 2, tilt: float = 0.0, q: int = 0) -> Log:
    """Bent rewards with noise; `tilt` makes actions depend on x, so that the best fits of two logs differ."""
    x = rng.uniform(-1.0, 1.0, (n, p))
    v = rng.uniform(-1.0, 1.0, (n, k, q)) if q else None
    towards = 1.0 / (1.0 + np.exp(-tilt * x[:, 0]))
    action = np.where(rng.random(n) < towards, 0, rng.integers(0, k, n))
    bend = (x[:, 0] > 0.3) * 0.6 + 0.2 * x.sum(axis=1) * (action - 0.5)
    reward = bend + (0.0 if v is None else v[np.arange(n), action].sum(axis=1)) + 0.1 * rng.standard_normal(n)
    zero = np.zeros(n, dtype=np.int64)
    return Log(Contexts(x, v), action, reward, np.full(n, 0.5), zero, np.arange(n), zero)


def fitted(
    model_class: ModelClass, active: Log, passive: Log, slack: float, k: int = 2
) -> tuple[Any, FitReport, Floats]:
    """Model, report, and its scores at the active rows."""
    oracle = model_class.oracle(active.contexts, k)
    model, report = oracle.fit(oracle.summarise(active), oracle.summarise(passive), slack=slack)
    return model, report, model.scores(active.contexts)


def two_logs(seed: int, p: int, q: int = 0) -> tuple[Log, Log]:
    rng = np.random.default_rng(seed)
    return make_log(rng, 300, p, tilt=6.0, q=q), make_log(rng, 60, p, q=q)


def binding_slack(model_class: ModelClass, active: Log, passive: Log, share: float = 0.3) -> float:
    """A part of what the unconstrained fit would use."""
    report = fitted(model_class, active, passive, 0.0)[1]
    oracle = model_class.oracle(active.contexts, 2)
    free = oracle.fit(oracle.summarise(active), oracle.empty())[0].scores(passive.contexts)
    residual = passive.reward - free[np.arange(len(passive)), passive.action]
    return share * max(float(np.mean(residual**2)) - report.alpha, 0.0)

"""Why there is an exact solver: the same fit through scikit-learn's Ridge, regression by regression."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.constrained import N_COLUMNS, SLACK, Side, moments, sides
from benchmarks.rows import Quantity, Race, Row, peer, require
from gyrfalcon.core.arrays import Floats
from gyrfalcon.oracles import ConstrainedFit, constrained_fit, constrained_least_squares
from gyrfalcon.oracles.solvers.dual_search import DualFit, dual_search

RIDGE = 1e-3


@dataclass(frozen=True, slots=True)
class RidgeFit:
    coefficients: Floats
    active_risk: float
    passive_risk: float


def ridge_at(multiplier: float) -> RidgeFit:
    """One weighted regression on the raw rows."""
    from sklearn.linear_model import Ridge

    active, passive = sides(N_COLUMNS, 1)
    X, r, weights = joined(active, passive, multiplier)
    ridge: Any = Ridge(alpha=RIDGE, fit_intercept=False).fit(X, r, sample_weight=weights)
    risks = [float(np.mean((side.r - ridge.predict(side.X)) ** 2)) for side in (active, passive)]
    return RidgeFit(ridge.coef_, *risks)


def joined(active: Side, passive: Side, multiplier: float) -> tuple[Floats, Floats, Floats]:
    if multiplier == math.inf:
        return passive.X, passive.r, np.ones(len(passive.r))
    weight = multiplier * len(active.r) / len(passive.r)
    return (
        np.concatenate([active.X, passive.X]),
        np.concatenate([active.r, passive.r]),
        np.concatenate([np.ones(len(active.r)), np.full(len(passive.r), weight)]),
    )


def through_ridge() -> DualFit[RidgeFit]:
    return dual_search(ridge_at, SLACK)


def from_moments() -> ConstrainedFit:
    return constrained_fit(*moments(), SLACK, RIDGE)


def from_rows() -> ConstrainedFit:
    active, passive = sides(N_COLUMNS, 1)
    return constrained_least_squares(active.X, active.r, passive.X, passive.r, SLACK, RIDGE)


def against_ridge(ours: Callable[[], ConstrainedFit]) -> Race:
    exact = ours()
    with peer("scikit-learn"):
        found = through_ridge()
    active, _ = sides(N_COLUMNS, 1)
    apart = active.X @ (exact.coefficients.reshape(N_COLUMNS) - found.solution.coefficients)
    gap = float(np.abs(apart).max())
    require(gap < 1e-6, f"predictions differ by {gap:.1e}.")
    return Race(
        ours, through_ridge, note=f"{found.n_regressions} regressions; predictions agree to {gap:.0e}"
    )


ROWS = [
    Row(
        key="search with Ridge / exact fit from moments",
        ours="exact constrained fit from the moments of 1e5 + 5e3 rows, 100 columns",
        theirs="multiplier search with scikit-learn's Ridge on the rows",
        prepare=partial(against_ridge, from_moments),
        limit=100.0,
        quantity=Quantity.TIMES_FASTER,
        most_pairs=3,
    ),
    Row(
        key="search with Ridge / exact fit from rows",
        ours="the same from the rows, moments included",
        theirs="the same",
        prepare=partial(against_ridge, from_rows),
        quantity=Quantity.TIMES_FASTER,
        most_pairs=3,
    ),
]

"""Constrained problems for the searches over weighted regressions, and regressions to search with."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression, Ridge

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.oracles.solvers.constrained import ConstrainedFit, constrained_least_squares

KINDS = ["plain", "badly scaled", "rarely seen", "few passive rows", "blocks", "ridge"]


@dataclass(frozen=True)
class Fitted:
    """A fitted regressor with its predictions on active and then passive rows."""

    predictions: Floats
    active_risk: float
    passive_risk: float


@dataclass(frozen=True)
class Risks:
    """A made-up solution."""

    active_risk: float
    passive_risk: float


@dataclass(frozen=True)
class Problem:
    """Active and passive rows; `blocks` and `blocks_passive` number the rows' own sets of columns."""

    X: Floats
    r: Floats
    X_passive: Floats
    r_passive: Floats
    slack: float
    ridge: float = 0.0
    blocks: Ints | None = None
    blocks_passive: Ints | None = None

    def exact(self) -> ConstrainedFit:
        return constrained_least_squares(
            self.X,
            self.r,
            self.X_passive,
            self.r_passive,
            self.slack,
            self.ridge,
            blocks=self.blocks,
            blocks_passive=self.blocks_passive,
        )

    def wide(self) -> tuple[Floats, Floats]:
        """Both designs with the columns of all blocks side by side."""
        if self.blocks is None or self.blocks_passive is None:
            return self.X, self.X_passive
        return _spread_out(self.X, self.blocks), _spread_out(self.X_passive, self.blocks_passive)

    def exact_predictions(self) -> Floats:
        return np.asarray(np.vstack(self.wide()) @ self.exact().coefficients.ravel())

    def solve(self) -> Callable[[float], Fitted]:
        def linear(total_weight: float) -> Any:
            if self.ridge:
                return Ridge(alpha=self.ridge, fit_intercept=False, solver="svd")
            return LinearRegression(fit_intercept=False)

        X, X_passive = self.wide()
        return weighted(linear, X, self.r, X_passive, self.r_passive)


def _spread_out(X: Floats, blocks: Ints) -> Floats:
    return np.concatenate([X * (blocks == block)[:, None] for block in range(3)], axis=1)


def weighted(
    make: Callable[[float], Any], X: Floats, r: Floats, X_passive: Floats, r_passive: Floats
) -> Callable[[float], Fitted]:
    """One weighted regression for each multiplier, by what `make` makes for a total weight."""
    rows, rewards = np.concatenate([X, X_passive]), np.concatenate([r, r_passive])
    n, n_passive = len(r), len(r_passive)

    def solve(multiplier: float) -> Fitted:
        weights = np.concatenate([np.ones(n), np.full(n_passive, multiplier * n / n_passive)])
        if multiplier == math.inf:
            weights = np.concatenate([np.zeros(n), np.ones(n_passive)])
        seen = weights > 0.0
        model = make(float(weights.sum()))
        model.fit(rows[seen], rewards[seen], sample_weight=weights[seen])
        predictions = model.predict(rows)
        squares = (predictions - rewards) ** 2
        return Fitted(predictions, float(squares[:n].mean()), float(squares[n:].mean()))

    return solve


def problem(kind: str, seed: int) -> Problem:
    """A generic problem: truths that differ between active and passive rows, noise, and some slack."""
    rng = np.random.default_rng([KINDS.index(kind), seed])
    d = int(rng.integers(1, 9))
    n = int(rng.integers(4 * d + 4, 200))
    n_passive = (
        int(rng.integers(1, d + 1)) if kind == "few passive rows" else int(rng.integers(2 * d + 2, 80))
    )
    X, X_passive = rng.normal(size=(n, d)), rng.normal(size=(n_passive, d))
    blocks = blocks_passive = None
    if kind == "badly scaled":
        scales = 10.0 ** rng.uniform(-3, 3, size=d)
        X, X_passive = X * scales, X_passive * scales
    if kind == "rarely seen":
        X = X * 10.0 ** rng.uniform(-2, 0, size=d)
    if kind == "blocks":
        blocks, blocks_passive = np.arange(n) % 3, np.arange(n_passive) % 3
    size = np.sqrt((X_passive**2).mean(axis=0))
    truth = rng.normal(size=d) / size
    drift = 10.0 ** rng.uniform(-2, 0) * rng.normal(size=d) / size
    r = X @ truth + 0.5 * rng.normal(size=n)
    r_passive = X_passive @ (truth + drift) + 0.5 * rng.normal(size=n_passive)
    slack = float(10.0 ** rng.uniform(-5, -0.5))
    ridge = float(10.0 ** rng.uniform(-2, 1)) if kind == "ridge" else 0.0
    return Problem(X, r, X_passive, r_passive, slack, ridge, blocks, blocks_passive)


def made_up(excess: Callable[[float], float], alpha: float = 0.25) -> Callable[[float], Risks]:
    """Regressions with a given passive excess and an active risk that grows with the multiplier."""

    def solve(multiplier: float) -> Risks:
        if multiplier == math.inf:
            return Risks(2.0, alpha)
        return Risks(1.0 + multiplier / (1.0 + multiplier), alpha + excess(multiplier))

    return solve

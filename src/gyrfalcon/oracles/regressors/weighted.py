"""Weighted regressions on active and passive rows, one regressor per block, for a search over multipliers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.oracles.regressors.prediction import FittedEstimator, complaint, predictions_of
from gyrfalcon.oracles.regressors.rows import Rows, RowSummary, Sides
from gyrfalcon.oracles.regressors.spec import Estimator


@dataclass(frozen=True, slots=True)
class WeightedFit:
    """The regressors of one multiplier, one per block (None: no rows), and their mean squared errors."""

    regressors: tuple[FittedEstimator | None, ...]
    passive_weight: float
    active_risk: float
    passive_risk: float
    complaints: tuple[str, ...]
    some_features: Floats
    """Up to a hundred rows of features, to try regressors on."""


class WeightedRegression:
    """min active risk + multiplier passive risk, again and again on the same rows."""

    def __init__(
        self,
        estimator: Estimator,
        seed: int,
        active: RowSummary,
        passive: RowSummary,
        *,
        n_blocks: int,
        is_warm: bool,
    ) -> None:
        self.is_warm = is_warm
        self._n, self._n_passive = active.n, passive.n
        self._blocks = [
            _Block(estimator, seed, Sides(active, passive, block), is_warm=is_warm)
            for block in range(n_blocks)
        ]
        self._some_features = np.concatenate(
            [part.features[:100] for part in (*active.parts, *passive.parts)] or [np.zeros((0, 1))]
        )[:100]
        self._passive_fit: WeightedFit | None = None

    def solve(self, multiplier: float) -> WeightedFit:
        """One weighted regression; at infinity the passive fit, which is kept."""
        if multiplier == math.inf:
            if self._passive_fit is None:
                self._passive_fit = self._solved(math.inf)
            return self._passive_fit
        # Active rows weigh 1 each, so that multiplier 0 is the ordinary fit and penalties keep their meaning.
        return self._solved(multiplier * self._n / self._n_passive if multiplier else 0.0)

    def exchanged_risk(self) -> float:
        """The mean squared error of each side's rows under the other side's fit, where a block has both.

        nan if no block has.
        """
        blocks = [block for block in self._blocks if block.has_both]
        squares = sum(block.fitted(0.0)[2] + block.fitted(math.inf)[1] for block in blocks)
        weight = sum(block.weight for block in blocks)
        return squares / weight if weight > 0.0 else math.nan

    def _solved(self, weight: float) -> WeightedFit:
        fits = [block.fitted(weight) for block in self._blocks]
        return WeightedFit(
            tuple(fit[0] for fit in fits),
            weight,
            sum(fit[1] for fit in fits) / max(self._n, 1e-300),
            sum(fit[2] for fit in fits) / max(self._n_passive, 1e-300),
            tuple(dict.fromkeys(filter(None, (complaint(fit[0]) for fit in fits)))),
            self._some_features,
        )


class _Block:
    """One block's rows, and its regressor where that is kept from fit to fit."""

    def __init__(self, estimator: Estimator, seed: int, sides: Sides, *, is_warm: bool) -> None:
        self._estimator, self._seed, self._sides, self._is_warm = estimator, seed, sides, is_warm
        self._kept: Any = None

    @property
    def has_both(self) -> bool:
        """Whether there are active and passive rows."""
        return len(self._sides.active[1]) > 0 and len(self._sides.passive[1]) > 0

    @property
    def weight(self) -> float:
        """The weight of all rows."""
        return float(self._sides.active[2].sum() + self._sides.passive[2].sum())

    def fitted(self, weight: float) -> tuple[FittedEstimator | None, float, float]:
        """The regressor at this weight of passive rows, and its sums of squared errors on both sides."""
        features, rewards, weights = self._sides.at(weight)
        if len(rewards) == 0:
            return None, 0.0, 0.0
        regressor: FittedEstimator = self._regressor().fit(features, rewards, sample_weight=weights)
        active, passive = (_squares(regressor, side) for side in (self._sides.active, self._sides.passive))
        return regressor, active, passive

    def _regressor(self) -> Any:
        if not self._is_warm:
            return self._estimator.built(self._seed)
        if self._kept is None:
            self._kept = self._estimator.built(self._seed, warm_start=True)
        return self._kept


def linear_coefficients(solution: WeightedFit, scale: Floats) -> Floats | None:
    """Coefficients of every block on features times their (D,) scale, (B, 1 + D); None if one is not linear.

    A block without rows has coefficients 0.
    """
    none = np.zeros(1 + solution.some_features.shape[1])
    features = solution.some_features
    found = [none if one is None else _coefficients_of(one, features) for one in solution.regressors]
    linear = [one for one in found if one is not None]
    if len(linear) < len(found):
        return None
    coefficients: Floats = np.stack(linear)
    if len(scale) == 0:  # then there is a constant in place of features, which is part of the intercept
        return np.asarray(coefficients.sum(axis=1, keepdims=True))
    return np.asarray(coefficients / np.concatenate([[1.0], scale]))


def _coefficients_of(regressor: FittedEstimator, features: Floats) -> Floats | None:
    """Intercept and coefficients, (1 + D,), of a regressor that is linear in its features; None if not."""
    slopes, intercept = getattr(regressor, "coef_", None), getattr(regressor, "intercept_", None)
    if slopes is None or intercept is None:
        return None
    found = np.concatenate([np.atleast_1d(intercept)[:1], np.ravel(slopes)]).astype(np.float64)
    if len(found) != 1 + features.shape[1]:
        return None
    # Some have coefficients and are not linear all the same, as Poisson regression.
    difference = predictions_of(regressor, features) - (found[0] + features @ found[1:])
    scale = 1.0 + np.abs(found[0]) + np.abs(features).max(axis=0, initial=0.0) @ np.abs(found[1:])
    return found if np.abs(difference).max(initial=0.0) <= 1e-9 * scale else None


def _squares(regressor: FittedEstimator, rows: Rows) -> float:
    features, rewards, weights = rows
    if len(rewards) == 0:
        return 0.0
    residuals = rewards - predictions_of(regressor, features)
    # What is left of a perfect fit is rounding, which no slack should have to allow for.
    residuals[np.abs(residuals) <= 1e-15 * np.abs(rewards)] = 0.0
    return float(np.sum(weights * residuals**2))

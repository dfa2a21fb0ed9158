"""Reweighting: what estimators make of importance weights, so that large ones count less."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.validation import check_share

Reweighting: TypeAlias = Callable[[Floats], Floats]
"""What an estimator makes of importance weights."""


def unchanged_weights(weights: Floats) -> Floats:
    """Weights as they are."""
    return weights


def truncated_weights(weights: Floats, max_weight: float) -> Floats:
    """Weights up to a limit, and 0 in place of larger ones."""
    return np.where(weights <= max_weight, weights, 0.0)


def optimistic_weights(weights: Floats, shrinkage: float) -> Floats:
    """Weights shrinkage w / (w^2 + shrinkage), written so that neither end divides infinities."""
    if shrinkage == math.inf:
        return weights
    nothing = np.zeros_like(weights)
    return np.divide(shrinkage * weights, weights**2 + shrinkage, out=nothing, where=weights > 0.0)


def sub_gaussian_weights(weights: Floats, shrinkage: float) -> Floats:
    """Weights w / (1 - shrinkage + shrinkage w): at most 1 / shrinkage, and 0 where w is."""
    check_share("shrinkage", shrinkage)
    nothing = np.zeros_like(weights)
    return np.divide(weights, 1.0 - shrinkage + shrinkage * weights, out=nothing, where=weights > 0.0)

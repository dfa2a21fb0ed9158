"""Columns in which a ridge penalty shrinks directions in which features hardly vary less than others.

With one penalty for all slopes on standardised features, a direction of variance s is shrunk by penalty /
(n s + penalty): where features are correlated, next to nothing is left of what matters in directions of small
variance. A penalty on whitened columns (the g-prior of Zellner 1986) shrinks all directions alike, and noise
with them. Halfway between, columns have the variance sqrt(s) in a direction that had s.
"""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.oracles.features.design import Layout
from gyrfalcon.oracles.linear.linear import LinearOracle
from gyrfalcon.oracles.solvers.moments import Moments

_LEAST_VARIANCE = 0.05
"""Variance, of 1 for a feature alone, below which directions are stretched no further: they are noise."""


def penalised_columns(oracle: LinearOracle, rows: Moments) -> Floats:
    """The change of columns z = T phi, (d, d), on which penalties act: standardised, and half whitened.

    Columns of joint features of actions, and those that are not to be standardised, are not whitened.
    """
    change, design = oracle.standardisation(rows), oracle.design
    first = int(design.intercept)
    if design.layout is not Layout.PER_ACTION or not oracle.settings.standardise or len(change) < first + 2:
        return change
    second = change @ rows.gram.sum(axis=0) @ change.T / max(rows.n, 1.0)
    return np.asarray(_stretching(second[first:, first:], first) @ change)


def _stretching(second: Floats, first: int) -> Floats:
    """(d, d): directions of this second moment divided by the fourth root of their variance.

    >>> _stretching(np.diag([1.0, 0.0625]), first=1).round(12).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.0]]
    """
    variances, directions = np.linalg.eigh(0.5 * (second + second.T))
    factors = np.maximum(variances, _LEAST_VARIANCE) ** -0.25
    stretched = np.eye(first + len(second))
    stretched[first:, first:] = (directions * factors) @ directions.T
    return stretched

"""Fits of the linear class that the value gate chooses from, and the slack of the constrained one."""

from __future__ import annotations

import math

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.learners.adaptive.state import GateStatistics
from gyrfalcon.oracles.linear.centring import Centring
from gyrfalcon.oracles.linear.linear import LinearOracle
from gyrfalcon.oracles.linear.models import LinearModel
from gyrfalcon.oracles.solvers.constrained import ConstrainedFit, constrained_fits
from gyrfalcon.oracles.solvers.least_squares import least_squares

_TIGHTENING = 0.1
"""Slack of the tightly constrained fit, in multiples of the constrained one's."""


def alternative_fits(
    oracle: LinearOracle, given: GateStatistics, slack: float, tightening: float = _TIGHTENING
) -> tuple[list[LinearModel], ConstrainedFit]:
    """Models of the four alternatives, and the constrained fit at this slack.

    All are ridge regressions on features standardised by all rows.
    """
    change = oracle.standardisation(given.pooled.rootless())
    center = Centring.of(given.pooled, oracle.design)
    pooled, passive, weighted = (
        center.less(part).transformed(change)
        for part in (given.pooled, given.passive, given.importance_weighted)
    )
    ridge = oracle.settings.ridge
    constrained = constrained_fits(pooled, passive, [slack, tightening * slack], ridge)
    coefficients = [fit.coefficients for fit in constrained]
    coefficients += [least_squares(part, ridge).coefficients for part in (weighted, passive)]
    return [oracle.model_of(center.above(own @ change), given.pooled) for own in coefficients], constrained[0]


def ridge_slack(oracle: LinearOracle, given: GateStatistics, log_confidence: float) -> float:
    """Var(r) (df + 2 sqrt(df L) + 2 L) / n', with the degrees of freedom of the passive ridge fit.

    The variance of rewards in place of the noise's is generous where features explain much, and safe where
    passive rows are few.
    """
    if given.n_passive == 0.0:
        return math.inf
    change = oracle.standardisation(given.pooled.rootless())
    df = degrees_of_freedom(given.passive.rootless().transformed(change).gram, oracle.settings.ridge)
    spread = df + 2.0 * math.sqrt(df * log_confidence) + 2.0 * log_confidence
    return given.pooled.reward_variance * spread / given.n_passive


def degrees_of_freedom(gram: Floats, ridge: float) -> float:
    """The trace of the smoother of a ridge regression: sum of v / (v + ridge) over eigenvalues v."""
    if ridge == 0.0:
        return float(np.linalg.matrix_rank(gram, hermitian=True).sum())
    values = np.maximum(np.linalg.eigvalsh(gram), 0.0)
    return float((values / (values + ridge)).sum())

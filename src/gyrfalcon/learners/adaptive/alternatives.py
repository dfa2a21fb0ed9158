"""Fits of the linear class that the value gate chooses from, and the slack of the constrained one."""

from __future__ import annotations

import math

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.learners.adaptive.pooled_fit import GateStatistics
from gyrfalcon.oracles.linear.half_whitening import penalised_columns
from gyrfalcon.oracles.linear.linear import LinearOracle
from gyrfalcon.oracles.linear.marginal_fit import centring
from gyrfalcon.oracles.linear.models import LinearModel
from gyrfalcon.oracles.linear.penalties import Penalties
from gyrfalcon.oracles.solvers.constrained import ConstrainedFit, constrained_fits
from gyrfalcon.oracles.solvers.least_squares import least_squares

_TIGHTENING = 0.1
"""Slack of the tightly constrained fit, in multiples of the constrained one's."""


def alternative_fits(
    oracle: LinearOracle,
    given: GateStatistics,
    penalties: Penalties,
    slack: float,
    tightening: float = _TIGHTENING,
) -> tuple[list[LinearModel], ConstrainedFit]:
    """Models of the four alternatives, and the constrained fit at this slack.

    All are ridge regressions on the columns that the pooled fit has its penalties on.
    """
    change = penalised_columns(oracle, given.pooled.rootless())
    center = centring(oracle, penalties)
    pooled, passive, weighted = (
        center.less(part).transformed(change)
        for part in (given.pooled, given.passive, given.importance_weighted)
    )
    ridge = penalties.of_columns
    constrained = constrained_fits(pooled, passive, [slack, tightening * slack], ridge)
    coefficients = [fit.coefficients for fit in constrained]
    coefficients += [least_squares(part, ridge).coefficients for part in (weighted, passive)]
    return [oracle.model_of(center.above(own @ change), given.pooled) for own in coefficients], constrained[0]


def ridge_slack(
    oracle: LinearOracle, given: GateStatistics, penalties: Penalties, log_confidence: float
) -> float:
    """Var(r) (df + 2 sqrt(df L) + 2 L) / n', with the degrees of freedom of the passive ridge fit.

    The variance of rewards in place of the noise's is generous where features explain much, and safe where
    passive rows are few.
    """
    if given.n_passive == 0.0:
        return math.inf
    change = penalised_columns(oracle, given.pooled.rootless())
    df = degrees_of_freedom(given.passive.rootless().transformed(change).gram, penalties.of_columns)
    spread = df + 2.0 * math.sqrt(df * log_confidence) + 2.0 * log_confidence
    return given.pooled.reward_variance * spread / given.n_passive


def degrees_of_freedom(gram: Floats, penalties: Floats) -> float:
    """The trace of the smoother of a ridge regression with penalties (d,) of columns, over all blocks."""
    roots = 1.0 / np.sqrt(penalties)
    values = np.maximum(np.linalg.eigvalsh(roots[:, np.newaxis] * gram * roots), 0.0)
    return float((values / (values + 1.0)).sum())

"""Other fits of the rows that a pooled ridge regression is made of, for a learner to choose from by value."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.oracles.linear.linear import LinearOracle
from gyrfalcon.oracles.linear.models import LinearModel
from gyrfalcon.oracles.solvers.constrained import ConstrainedFit, constrained_fits
from gyrfalcon.oracles.solvers.least_squares import least_squares
from gyrfalcon.oracles.solvers.moments import Moments

NAMES = ("constrained", "tightly constrained", "importance-weighted", "passive")
"""What `alternatives` fits, in its order."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The same log summed three ways."""

    rows: Moments
    """All rows alike."""
    passive: Moments
    """The passive ones."""
    weighted: Moments
    """All, by the inverse of their propensities."""
    passive_squares: float = 0.0
    """The sum of the passive rows' squared weights, which are less than 1 for rows half forgotten."""

    @property
    def n_passive(self) -> float:
        """How many passive rows of equal weight there might as well be."""
        return self.passive.n**2 / self.passive_squares if self.passive_squares > 0.0 else 0.0

    def scaled(self, factor: float) -> Evidence:
        """The same with every row's weight times a factor."""
        return Evidence(
            self.rows.scaled(factor),
            self.passive.scaled(factor),
            self.weighted.scaled(factor),
            factor**2 * self.passive_squares,
        )


def alternatives(
    oracle: LinearOracle, given: Evidence, slack: float, tightening: float
) -> tuple[list[LinearModel], ConstrainedFit]:
    """The models of these names, with the constrained fit: at a slack, and at `tightening` times as much.

    All are ridge regressions on features standardised by all rows.
    """
    change = oracle.standardisation(given.rows.rootless())
    rows, passive, weighted = (
        part.transformed(change) for part in (given.rows, given.passive, given.weighted)
    )
    ridge = oracle.settings.ridge
    constrained = constrained_fits(rows, passive, [slack, tightening * slack], ridge)
    coefficients = [fit.coefficients for fit in constrained]
    coefficients += [least_squares(part, ridge).coefficients for part in (weighted, passive)]
    return [oracle.model_of(own @ change, given.rows) for own in coefficients], constrained[0]


def degrees_of_freedom(gram: Floats, ridge: float) -> float:
    """The trace of the smoother of a ridge regression: sum of v / (v + ridge) over eigenvalues v."""
    if ridge == 0.0:
        return float(np.linalg.matrix_rank(gram, hermitian=True).sum())
    values = np.maximum(np.linalg.eigvalsh(gram), 0.0)
    return float((values / (values + ridge)).sum())


def ridge_slack(oracle: LinearOracle, given: Evidence, log_confidence: float) -> float:
    """Var(r) (df + 2 sqrt(df L) + 2 L) / n', with the degrees of freedom of the passive ridge fit.

    The variance of rewards in place of the noise's is generous where features explain much, and safe where
    passive rows are few.
    """
    if given.n_passive == 0.0:
        return math.inf
    change = oracle.standardisation(given.rows.rootless())
    df = degrees_of_freedom(given.passive.rootless().transformed(change).gram, oracle.settings.ridge)
    spread = df + 2.0 * math.sqrt(df * log_confidence) + 2.0 * log_confidence
    return given.rows.reward_variance * spread / given.n_passive

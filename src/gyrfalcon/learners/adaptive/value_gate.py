"""The value gate: an alternative fit of the same rows is active only while its estimated value is higher.

Alternatives are evaluated on rows that came after their fit, by doubly robust scores with the propensities in
force then, paired with the scores of the pooled fit: where both policies choose alike, the gain is 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.policies.kernel_policy import Scorer
from gyrfalcon.core.records import Log
from gyrfalcon.estimates.scores import greedy_policy, paired_gains
from gyrfalcon.estimates.tally import Tally
from gyrfalcon.learners.steps import Data
from gyrfalcon.oracles.linear.linear import LinearOracle
from gyrfalcon.oracles.linear.models import LinearModel
from gyrfalcon.oracles.solvers.constrained import ConstrainedFit, constrained_fits
from gyrfalcon.oracles.solvers.least_squares import least_squares
from gyrfalcon.oracles.solvers.moments import Moments

GateRule = Literal["value", "always", "never"]
"""When the constrained fit is active: while its estimated value is higher, always, or never."""
ALTERNATIVES = ("constrained", "tightly constrained", "importance-weighted", "passive")
"""Names of the alternative fits, in the order of `alternative_fits`."""

_MAX_WEIGHT = 50.0
"""The largest weight of a row in the importance-weighted fit, in multiples of uniform play's."""
_MIN_Z = 2.5
"""Standard errors by which the estimated gain must exceed 0."""
_REFIT_RATIO = 1.5
"""How many times as many rows there are when alternatives are refitted."""
_TIGHTENING = 0.1
"""Slack of the tightly constrained fit, in multiples of the constrained one's."""


@dataclass(frozen=True, slots=True)
class GateStatistics:
    """Sufficient statistics of the log, summed in three ways."""

    pooled: Moments
    """All rows with equal weights."""
    passive: Moments
    """Passive rows."""
    importance_weighted: Moments
    """All rows, by the inverse of their propensities."""
    passive_squares: float = 0.0
    """The sum of the passive rows' squared weights, which are below 1 for discounted rows."""

    @property
    def n_passive(self) -> float:
        """The effective number of passive rows."""
        return self.passive.n**2 / self.passive_squares if self.passive_squares > 0.0 else 0.0

    def scaled(self, factor: float) -> GateStatistics:
        """The statistics with every row's weight times a factor."""
        return GateStatistics(
            self.pooled.scaled(factor),
            self.passive.scaled(factor),
            self.importance_weighted.scaled(factor),
            factor**2 * self.passive_squares,
        )

    def earlier(self, none: Moments, retention: float, data: Data, passive_data: Data) -> GateStatistics:
        """Statistics of earlier rows, discounted, and `none` where only the last epoch's rows count."""
        given = self if retention == 1.0 else self.scaled(retention)
        if data == "last_epoch":
            given = replace(given, pooled=none, importance_weighted=none)
        if passive_data == "last_epoch":
            given = replace(given, passive=none, passive_squares=0.0)
        return given

    def with_rows(self, oracle: LinearOracle, log: Log, *, pooled_only: bool) -> GateStatistics:
        """The statistics with the rows of a log added; the alternatives' too unless `pooled_only`."""
        pooled = oracle.summed(log, self.pooled, penalised=True)
        if pooled_only:
            return replace(self, pooled=pooled)
        passive = log.where(log.passive)
        weights = np.minimum(1.0 / (oracle.design.n_actions * log.propensity), _MAX_WEIGHT)
        return GateStatistics(
            pooled,
            oracle.summed(passive, self.passive, penalised=True) if len(passive) else self.passive,
            self.importance_weighted + oracle.sums(log, weights),
            self.passive_squares + len(passive),
        )


@dataclass(frozen=True, slots=True)
class ValueGate:
    """Alternatives to the pooled fit, their estimated gains over it, and which one is active."""

    models: tuple[LinearModel, ...] = ()
    """One per name in ALTERNATIVES, fitted before the rows that evaluate them; none before the first fit."""
    gains: Tally | None = None
    """(4,): value of each alternative's greedy policy less that of the pooled fit's, over all rows."""
    active: int = -1
    """Which alternative is active, -1 for the pooled fit."""
    next_refit: float = 0.0
    """Number of rows with which the alternatives are refitted."""

    @property
    def model(self) -> LinearModel | None:
        """The active alternative, None for the pooled fit."""
        return self.models[self.active] if self.active >= 0 else None

    def evaluated(self, pooled: Scorer, log: Log, retention: float = 1.0) -> ValueGate:
        """The gate with the gains on rows that no model has seen; earlier gains count `retention` times."""
        if not self.models or len(log) == 0:
            return self
        scores = np.asarray(pooled.scores(log.contexts))
        policies = np.stack(
            [greedy_policy(np.asarray(model.scores(log.contexts)), log.contexts) for model in self.models]
        )
        gains = Tally.of(paired_gains(policies, greedy_policy(scores, log.contexts), scores, log))
        return replace(self, gains=gains if self.gains is None else self.gains.scaled(retention) + gains)

    def refitted(
        self,
        oracle: LinearOracle,
        given: GateStatistics,
        log_confidence: float,
        n_seen: int,
        half_life: float,
    ) -> tuple[ValueGate, ConstrainedFit]:
        """The gate with new fits of its alternatives, and the constrained one in full."""
        slack = ridge_slack(oracle, given, log_confidence)
        models, constrained = alternative_fits(oracle, given, slack)
        due = min(_REFIT_RATIO * n_seen, n_seen + half_life)
        return replace(self, models=tuple(models), next_refit=due), constrained

    def switched(self, rule: GateRule, min_z: float = _MIN_Z) -> ValueGate:
        """The gate with the alternative active whose gain is largest, of those known to be above 0."""
        if rule == "always":
            return replace(self, active=0 if self.models else -1)
        if self.gains is None:
            return self
        passing = self.gains.z > min_z
        best = int(np.where(passing, self.gains.mean, -np.inf).argmax()) if passing.any() else -1
        return replace(self, active=best)

    def report_lines(self) -> tuple[str, ...]:
        """Report lines: estimated gain of each alternative, and which fit is active."""
        if self.gains is None:
            return ()
        means, errors = self.gains.mean, self.gains.standard_error
        gains = [
            f"{name} fit: estimated value gain {mean:+.4f} +- {error:.4f} per round over the pooled fit"
            for name, mean, error in zip(ALTERNATIVES, means.tolist(), errors.tolist(), strict=True)
        ]
        active = "pooled" if self.active < 0 else ALTERNATIVES[self.active]
        return (*gains, f"active fit: {active}")


def alternative_fits(
    oracle: LinearOracle, given: GateStatistics, slack: float, tightening: float = _TIGHTENING
) -> tuple[list[LinearModel], ConstrainedFit]:
    """Models of the four alternatives, and the constrained fit at this slack.

    All are ridge regressions on features standardised by all rows.
    """
    change = oracle.standardisation(given.pooled.rootless())
    pooled, passive, weighted = (
        part.transformed(change) for part in (given.pooled, given.passive, given.importance_weighted)
    )
    ridge = oracle.settings.ridge
    constrained = constrained_fits(pooled, passive, [slack, tightening * slack], ridge)
    coefficients = [fit.coefficients for fit in constrained]
    coefficients += [least_squares(part, ridge).coefficients for part in (weighted, passive)]
    return [oracle.model_of(own @ change, given.pooled) for own in coefficients], constrained[0]


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

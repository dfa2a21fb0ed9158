"""The pooled linear fit of the adaptive learner: its sufficient statistics, penalties and value gate."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.fit_report import FitReport
from gyrfalcon.core.records import Log
from gyrfalcon.learners.adaptive.class_selection import Predictions
from gyrfalcon.learners.adaptive.forgetting import Shadow
from gyrfalcon.learners.adaptive.value_gate import ValueGate
from gyrfalcon.learners.steps import Data
from gyrfalcon.oracles.linear.linear import LinearOracle
from gyrfalcon.oracles.linear.models import OptimisticModel
from gyrfalcon.oracles.linear.penalties import Penalties
from gyrfalcon.oracles.solvers.constrained import ConstrainedFit
from gyrfalcon.oracles.solvers.least_squares import LinearFit
from gyrfalcon.oracles.solvers.moments import Moments

_MAX_WEIGHT = 50.0
"""The largest weight of a row in the importance-weighted fit, in multiples of uniform play's."""


@dataclass(frozen=True, slots=True)
class GateStatistics:
    """Sufficient statistics of the log, summed in three ways."""

    pooled: Moments
    """All rows with equal weights."""
    passive: Moments
    """Passive rows."""
    importance_weighted: Moments
    """All rows of known propensity, by its inverse."""
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

    def earlier(self, retention: float, data: Data, passive_data: Data) -> GateStatistics:
        """Statistics of earlier rows, discounted, and of no rows where only the last epoch's count."""
        given = self if retention == 1.0 else self.scaled(retention)
        if data == "last_epoch":
            none = Moments.zeros(*self.pooled.cross.shape)
            given = replace(given, pooled=none, importance_weighted=none)
        if passive_data == "last_epoch":
            given = replace(given, passive=Moments.zeros(*self.passive.cross.shape), passive_squares=0.0)
        return given

    def with_rows(self, oracle: LinearOracle, log: Log, *, pooled_only: bool) -> GateStatistics:
        """The statistics with the rows of a log added; the alternatives' too unless `pooled_only`."""
        pooled = oracle.summed(log, self.pooled, penalised=True)
        if pooled_only:
            return replace(self, pooled=pooled)
        passive, known = log.where(log.passive), log.where(log.has_propensity)
        weights = np.minimum(1.0 / (oracle.design.n_actions * known.propensity), _MAX_WEIGHT)
        return GateStatistics(
            pooled,
            oracle.summed(passive, self.passive, penalised=True) if len(passive) else self.passive,
            self.importance_weighted + oracle.sums(known, weights),
            self.passive_squares + len(passive),
        )


@dataclass(frozen=True, slots=True)
class PooledFit:
    """Ridge fit of the linear class, the statistics behind it, and the value gate of its alternatives."""

    oracle: LinearOracle
    statistics: GateStatistics
    model: OptimisticModel
    """The pooled fit, without bonus; the gate's gains are over its greedy policy."""
    penalties: Penalties
    """Those of the next fit, and the noise of this one."""
    gate: ValueGate
    passive_weights: Floats
    """(K,): the passive rows of each action in the fit."""

    @property
    def scorer(self) -> OptimisticModel:
        """The active fit, pooled or an alternative, with the widths of the pooled one."""
        active = self.gate.model
        return self.model if active is None else replace(self.model, model=active)

    def predictions(self, log: Log) -> Predictions:
        """Predictions of the pooled fit for rows that it has not seen."""
        leverages = self.model.widths_of(log.contexts, log.action) ** 2
        noise = self.penalties.noise or max(self.statistics.pooled.reward_variance, 1e-300)
        return Predictions(self.model.model.estimates_of(log), leverages, noise)

    def report(self, fit: LinearFit, constrained: ConstrainedFit | None, *, gated: bool) -> FitReport:
        """Report of the pooled fit; `constrained` is given where the alternatives were refitted.

        Passive rows are those of the constraint, or of the fit where no gate needs them.
        """
        in_fit = float(self.passive_weights.sum())
        report = FitReport(
            n_active=self.statistics.pooled.n - in_fit,
            n_passive=self.statistics.passive.n if gated else in_fit,
            condition=fit.condition,
            accurate=fit.accurate,
        )
        if constrained is None:
            return report
        return replace(
            report,
            alpha=constrained.alpha,
            slack=constrained.slack,
            excess=constrained.excess,
            multiplier=constrained.multiplier,
            binding=constrained.binding,
        )

    def forgotten(self, winner: Shadow, kept: float) -> PooledFit:
        """The fit that goes on from a shadow's rows; passive rows and gains count `kept` times."""
        gains = self.gate.gains
        return replace(
            self,
            statistics=replace(self.statistics.scaled(kept), pooled=winner.rows),
            penalties=winner.penalties,
            gate=replace(self.gate, gains=None if gains is None else gains.scaled(kept)),
            passive_weights=kept * self.passive_weights,
        )

    def reindexed(self, source: Ints) -> PooledFit:
        """The fit when action k was action source[k] before, -1 if it is new; nothing is refitted."""
        before, given, oracle = self.oracle, self.statistics, self.oracle.reindexed(len(source))
        return PooledFit(
            oracle,
            GateStatistics(
                before.reindexed_summary(given.pooled, source),
                before.reindexed_summary(given.passive, source),
                before.reindexed_summary(given.importance_weighted, source),
                given.passive_squares,
            ),
            replace(
                self.model,
                model=oracle.reindexed_model(self.model.model, source),
                design=oracle.design,
                factors=np.ascontiguousarray(
                    before.reindexed_factors(self.model.factors, given.pooled, source)
                ),
            ),
            self.penalties.reindexed(before.design, oracle.design),
            replace(
                self.gate, models=tuple(oracle.reindexed_model(model, source) for model in self.gate.models)
            ),
            np.where(source >= 0, self.passive_weights[source], 0.0),
        )

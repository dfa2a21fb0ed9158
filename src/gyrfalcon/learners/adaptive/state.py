"""State of the adaptive learner: the pooled linear fit, the candidate classes, and how they compare."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.fit_report import FitReport
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, Policy
from gyrfalcon.core.policies.kernels import Kernel
from gyrfalcon.core.policies.untried import trying
from gyrfalcon.core.records import Log
from gyrfalcon.learners import action_changes
from gyrfalcon.learners.adaptive.candidates import AnyFit, CandidateClasses
from gyrfalcon.learners.adaptive.class_selection import ClassComparison, Predictions
from gyrfalcon.learners.adaptive.model_classes import ParsedClasses
from gyrfalcon.learners.adaptive.value_gate import ValueGate
from gyrfalcon.learners.reward_scale import NOTHING_SEEN, RewardScale
from gyrfalcon.learners.steps import Data
from gyrfalcon.oracles.linear.linear import LinearOracle
from gyrfalcon.oracles.linear.models import OptimisticModel
from gyrfalcon.oracles.linear.penalties import Penalties
from gyrfalcon.oracles.solvers.constrained import ConstrainedFit
from gyrfalcon.oracles.solvers.least_squares import LinearFit
from gyrfalcon.oracles.solvers.moments import Moments

_LINEAR_ONLY = "the passive share follows an estimate of b only while the linear class is active"
_LINEAR_ALONE = "linear only: other classes need features of the context or of actions"
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


@dataclass(frozen=True, slots=True)
class AdaptiveState:
    """What the adaptive learner carries from epoch to epoch; the linear class has number 0."""

    problem: Problem
    candidates: CandidateClasses
    comparison: ClassComparison
    active: int = 0
    """The number of the active class."""
    linear: PooledFit | None = None
    """None before the first rows."""
    n_seen: int = 0
    """Rows, without discounting."""
    n_undiscounted: int = 0
    """Rows since the candidates were last discounted: for wide classes that costs more than new rows do."""
    passive: Log | None = None
    """The latest passive rows, kept where the misspecification is estimated from them."""
    n_passive: float = 0.0
    """Discounted number of passive rows."""
    target_share: float | None = None
    """The passive share of Corollary 1 at the latest estimate."""
    share_reason: str = ""
    scale: RewardScale = NOTHING_SEEN

    @property
    def active_fit(self) -> AnyFit | None:
        """The fit of the active class, None if that is the linear one."""
        return self.candidates.fits[self.active - 1] if self.active else None

    @property
    def noise(self) -> float:
        """The variance of rewards around the active class, in units of fits."""
        assert self.linear is not None
        fit = self.active_fit
        return (self.linear if fit is None else fit).penalties.noise

    def report_lines(self, names: tuple[str, ...], *, corollary: bool) -> tuple[str, ...]:
        """Report lines: comparison of the classes, passive share, and gate of the linear class."""
        assert self.linear is not None
        lines: list[str] = []
        unit = self.scale.unit or 1.0
        if self.candidates.fits:
            has_data = [True, *(fit is not None for fit in self.candidates.fits)]
            excluded = [False, *self.candidates.excluded]
            lines += self.comparison.report_lines(names, self.active, has_data, excluded)
        elif len(names) > 1:
            lines.append(_LINEAR_ALONE)
        if self.active:
            return (*lines, *((_LINEAR_ONLY,) if corollary else ()))
        reason = (self.share_reason,) if self.share_reason else ()
        return (*lines, *reason, *self.linear.gate.report_lines(unit))

    def scorer(self, bonus: float) -> OptimisticModel:
        """Scores of the active class: its estimates plus `bonus` times the widths of the linear class.

        Widths of wide classes would cost more than all else; those of the linear one explore as well.
        Estimates are kept within the rewards seen, as an impossible one would outweigh any width.
        """
        assert self.linear is not None
        fit, scale, scorer = self.active_fit, self.scale, self.linear.scorer
        model = scorer.model if fit is None or fit.model is None else fit.model
        model = replace(model, origin=scale.anchor, unit=scale.unit or 1.0)
        bounds = scale.low, scale.high
        return replace(scorer, model=model, bonus=bonus, bounds=bounds)  # type: ignore[arg-type]  # logistic

    def policy(self, bonus: float, kernel: Kernel) -> Policy:
        """The kernel over the scores of the active class; actions without data are tried."""
        scorer = self.scorer(bonus)
        return trying(KernelPolicy(scorer, kernel), scorer.known)

    def compared(
        self, log: Log, n_rows: float, scale: RewardScale
    ) -> tuple[CandidateClasses, ClassComparison]:
        """The candidates with these rows, and the comparison by their predictions before."""
        candidates, predictions = self.candidates.updated(log)
        if self.linear is None or not any(one is not None for one in predictions):
            return candidates, self.comparison
        given = [self.linear.predictions(log), *predictions]
        return candidates, self.comparison.updated(given, log, n_rows, scale)

    def with_best_class(
        self, classes: ParsedClasses, log: Log, ridge: float, half_life: float | None
    ) -> AdaptiveState:
        """The state with classes admitted, the best one active, and those that gain nothing deferred."""
        others, n_actions, active = classes.others, len(self.problem.actions), self.active
        candidates = self.candidates.admitted(others, log, n_actions, ridge, half_life)
        fits = zip(candidates.fits, candidates.deferred, strict=True)
        among = [1 + place for place, (fit, deferred) in enumerate(fits) if fit is not None and not deferred]
        if classes.with_linear:
            among = [0, *among]
        if active not in among and among:
            active = among[0]
        active = self.comparison.best(active, among)
        hopeless = self.comparison.hopeless(active)[1:]
        candidates = candidates.reviewed(others, active - 1, hopeless, self.n_seen, half_life)
        return replace(self, candidates=candidates, active=active)

    def discounted(self, factor: float) -> AdaptiveState:
        """The state with weights of all rows in candidates and their comparison times a factor."""
        return replace(
            self,
            candidates=self.candidates.scaled(factor),
            comparison=self.comparison.scaled(factor),
            n_undiscounted=0,
        )

    def reindexed(self, problem: Problem) -> AdaptiveState:
        """The state for a problem with actions added or retired."""
        source = action_changes.sources(self.problem, problem)
        return replace(
            self,
            problem=problem,
            candidates=self.candidates.reindexed(source),
            linear=None if self.linear is None else self.linear.reindexed(source),
            passive=None if self.passive is None else action_changes.renumbered(self.passive, source),
        )


def adaptive_state(epoch: Epoch) -> AdaptiveState:
    """The state of an epoch that AdaptiveFalcon made."""
    if not isinstance(epoch.state, AdaptiveState):
        raise TypeError(
            f"epoch {epoch.index} carries {type(epoch.state).__name__}; give AdaptiveFalcon its own epochs."
        )
    return epoch.state

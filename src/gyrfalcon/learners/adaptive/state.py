"""State of the adaptive learner: the pooled linear fit, the candidate classes, and how they compare."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, Policy
from gyrfalcon.core.policies.kernels import Kernel
from gyrfalcon.core.policies.untried import trying
from gyrfalcon.core.records import Log
from gyrfalcon.learners import action_changes
from gyrfalcon.learners.adaptive.candidates import AnyFit, CandidateClasses
from gyrfalcon.learners.adaptive.class_selection import ClassComparison
from gyrfalcon.learners.adaptive.forgetting import NOTHING_FORGOTTEN, Forgetting
from gyrfalcon.learners.adaptive.model_classes import ParsedClasses
from gyrfalcon.learners.adaptive.pooled_fit import PooledFit
from gyrfalcon.learners.adaptive.safe_return import NO_REFERENCE, SafeReturn
from gyrfalcon.learners.reward_scale import NOTHING_SEEN, RewardScale
from gyrfalcon.oracles.linear.models import OptimisticModel

_LINEAR_ONLY = "the passive share follows an estimate of b only while the linear class is active"
_LINEAR_ALONE = "linear only: other classes need features of the context or of actions"


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
    forgetting: Forgetting = NOTHING_FORGOTTEN
    """What notices changes of the environment; without shadows where a half-life is given."""
    safe: SafeReturn = NO_REFERENCE

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

    def with_room_for(self, n_others: int) -> AdaptiveState:
        """The state with places for this many classes beside the linear one: earlier versions had fewer."""
        n_more = n_others - len(self.candidates.fits)
        if n_more <= 0 or not self.candidates.fits:
            return self
        blocks = 1 if self.problem.action_features.width else self.problem.n_actions
        candidates = self.candidates.with_more(CandidateClasses.none(n_more, blocks))
        return replace(self, candidates=candidates, comparison=self.comparison.widened(1 + n_others))

    def report_lines(self, names: tuple[str, ...], *, corollary: bool) -> tuple[str, ...]:
        """Report lines: comparison of the classes, passive share, and gate of the linear class."""
        assert self.linear is not None
        unit = self.scale.unit or 1.0
        lines = list(self.safe.report_lines(unit))
        if self.candidates.fits:
            has_data = [True, *(fit is not None for fit in self.candidates.fits)]
            excluded = [False, *self.candidates.excluded]
            lines += self.comparison.report_lines(names, self.active, has_data, excluded)
        elif len(names) > 1:
            lines.append(_LINEAR_ALONE)
        if self.forgetting.n_changes:
            lines.append(f"changes after which earlier rows were forgotten: {self.forgetting.n_changes}")
        if self.forgetting.n_returns:
            lines.append(f"returns to rows that had been set aside: {self.forgetting.n_returns}")
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
        # A logistic model scores as linear ones do, but can't be rescaled as their coefficients can.
        return replace(scorer, model=model, bonus=bonus, bounds=bounds)  # type: ignore[arg-type]

    def policy(self, bonus: float, kernel: Kernel) -> Policy:
        """The kernel over the scores of the active class; actions without data are tried."""
        scorer = self.scorer(bonus)
        return trying(KernelPolicy(scorer, kernel), scorer.known)

    def compared(self, log: Log, n_rows: float, scale: RewardScale) -> AdaptiveState:
        """The state with candidates refitted to these rows, and classes compared by their predictions before.

        Where the environment has surely changed, earlier rows are forgotten.
        """
        candidates, predictions = self.candidates.updated(log)
        state = replace(self, candidates=candidates)
        watched = bool(self.forgetting.shadows) or any(one is not None for one in predictions)
        if self.linear is None or not watched:
            return state
        given = [self.linear.predictions(log), *predictions]
        return replace(
            state,
            comparison=self.comparison.updated(given, log, n_rows, scale),
            forgetting=self.forgetting.compared(given, self.active, log, scale),
        )._without_old_rows()

    def _without_old_rows(self) -> AdaptiveState:
        """The state with rows from before a change forgotten, where there surely was one.

        An open gate says that the linear class is wrong: that, and not a change, is why shadows predict
        better.
        """
        winner, linear = self.forgetting.winner, self.linear
        if winner is None or linear is None or (not self.active and linear.gate.active >= 0):
            return self
        kept = min(1.0, winner.rows.n / linear.statistics.pooled.n)
        return replace(
            self,
            candidates=self.candidates.forgotten(kept),
            comparison=self.comparison.scaled(kept),
            linear=linear.forgotten(winner, kept),
            forgetting=self.forgetting.followed(
                winner, linear.statistics.pooled, linear.penalties, linear.model
            ),
        )

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
        if active not in among:  # the linear class, too, where a class that was alone has left
            active = among[0] if among else 0
        active = self.comparison.best(active, among)
        hopeless = self.comparison.hopeless(active)[1:]
        candidates = candidates.refitted().reviewed(others, active - 1, hopeless, self.n_seen, half_life)
        return replace(self, candidates=candidates.refitted(), active=active)

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
        linear = None if self.linear is None else self.linear.reindexed(source)
        forgetting = self.forgetting
        if self.linear is not None and linear is not None:
            forgetting = forgetting.reindexed(self.linear.oracle, linear.oracle, source)
        return replace(
            self,
            problem=problem,
            candidates=self.candidates.reindexed(source),
            linear=linear,
            forgetting=forgetting,
            passive=None if self.passive is None else action_changes.renumbered(self.passive, source),
            safe=SafeReturn(n_trials=self.safe.n_trials),
        )


def adaptive_state(epoch: Epoch) -> AdaptiveState:
    """The state of an epoch that AdaptiveFalcon made."""
    if not isinstance(epoch.state, AdaptiveState):
        raise TypeError(
            f"epoch {epoch.index} carries {type(epoch.state).__name__}; give AdaptiveFalcon its own epochs."
        )
    return epoch.state

"""AdaptiveFalcon: inverse gap weighting for real data, with adaptive model class, passive share and gate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from gyrfalcon.core.epochs import Epoch, PassiveDesign
from gyrfalcon.core.fit_report import FitReport
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, Policy, UniformPolicy
from gyrfalcon.core.policies.kernels import InverseGapWeighting
from gyrfalcon.core.policies.untried import without_trying
from gyrfalcon.core.records import Log
from gyrfalcon.core.schedules import Geometric, Schedule
from gyrfalcon.core.settings import changed_settings_repr
from gyrfalcon.learners import steps
from gyrfalcon.learners.adaptive.alternatives import alternative_fits, ridge_slack
from gyrfalcon.learners.adaptive.candidates import CandidateClasses
from gyrfalcon.learners.adaptive.class_selection import ClassComparison
from gyrfalcon.learners.adaptive.model_classes import ClassChoice, ParsedClasses
from gyrfalcon.learners.adaptive.pooled_fit import GateStatistics, PooledFit
from gyrfalcon.learners.adaptive.safe_return import NO_REFERENCE, running_policy
from gyrfalcon.learners.adaptive.state import AdaptiveState, adaptive_state
from gyrfalcon.learners.adaptive.validation import checked_classes
from gyrfalcon.learners.adaptive.value_gate import GateRule, ValueGate
from gyrfalcon.learners.corollary_share import MOST_ROWS, estimated_shares, is_due, latest_passive
from gyrfalcon.learners.reward_scale import RewardScale
from gyrfalcon.learners.steps import Data
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.linear.marginal_fit import marginal_fit
from gyrfalcon.oracles.linear.penalties import Penalties
from gyrfalcon.oracles.solvers.constrained import ConstrainedFit
from gyrfalcon.theory import log_confidence

FIRST_SHARE = 0.03
"""The passive share of the first round, where `epsilon` is not a number."""
_MANY_ACTIONS = 25.0
"""Actions from which on the bonus falls with the root of their number: the largest of many is too high."""
_STEPS = 3
"""Steps towards the largest marginal likelihood at each refit of the linear class."""
OPEN_SHARE = 0.02
"""The least passive share while the gate is open, with `epsilon="auto"`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveFalcon:
    """Inverse gap weighting on the model class that predicts best, with a bonus and few passive rounds.

    Epsilon-FALCON's parts, rearranged for reward on real data: ridge regressions of all rows with penalties
    by marginal likelihood, frequent refits, scores f + bonus sigma ||phi||, a passive share that decays, and
    the constrained fit behind a value gate. Model classes are compared by predictive log-likelihood. Rewards
    may have any unit and any range. No theorem covers it; `EpsilonFalcon` is Algorithm 1.

    Parameters
    ----------
    epsilon
        Passive share (epsilon) of the first round, in [0, 0.5), from where it decays. "auto": 0.03, and at
        least 0.02 while the gate is open. "corollary": 0.03, and at least the share of Corollary 1 at an
        estimate, or a lower bound, of the misspecification from passive rows, while the linear class is
        active.
    decay, floor
        The passive share of round t is epsilon t^-decay, and not below the floor. The floor is a share of
        rounds, not a propensity: with the coin every one of K eligible actions has at least the probability
        floor / K, in every round; with tails, in passive ones. For a least propensity m of each action take
        `Limited(AdaptiveFalcon(), floor=m)`, or a floor of K m here. What either costs in reward and gains
        in width of intervals is measured by `python -m benchmarks.price_of_knowing`.
    c_gamma
        gamma over the root of the number of rows, for gaps in multiples of the spread of rewards: with the
        default of 10,000 the bonus explores, and inverse gap weighting only between nearly equal scores.
    bonus
        Posterior standard deviations by which scores exceed estimates; 0 for none. They are those of the
        linear class, with the noise around the active class. Of K > 25 actions they count sqrt(25 / K)
        times.
    classes
        Model classes to choose from: "auto", which is "linear", "mixed" and "logistic", "auto_trees", or a
        list with names among these, "quadratic", "splines", "fourier" and "trees", and linear classes with a
        basis. "mixed" has columns of products, splines and random Fourier features, a penalty for each
        group; "logistic" is for rewards with two values, one of them rare. None is "auto" for the default
        `model_class` and `data`, else the linear class alone.
    gate
        When the constrained fit of the linear class is active: "value", while its estimated value is higher
        than the pooled fit's, "always" or "never".
    half_life
        Rows after which a row's weight has halved. "auto": all rows count alike until the environment has
        surely changed, and earlier ones are then forgotten. None: all rows count alike, whatever changes.
    safe
        Whether an earlier epoch's policy plays again while it surely earns more than the latest one: both
        share the rounds once rewards have fallen.
    delta
        Confidence (delta) of the constraint's slack, and of all returns together, in (0, 0.49].
    passive_design
        "coin": passive rounds anywhere in an epoch. "tail": at its end, at least one.
    passive_data, data
        "all" rows, or those of the "last_epoch": in the constraint, and in the fits, where only the linear
        class can be fitted to the last epoch alone.
    ridge
        Least ridge penalty of every model class without one of its own, in units of rows, on standardised
        features. Marginal likelihood says how much larger the penalty of each group of columns is.
    schedule
        When epochs end; by default at a ratio of 1.1, and after 200 rounds at the latest.
    model_class
        The linear class, with its features and basis.

    Examples
    --------
    >>> AdaptiveFalcon().names
    ('linear', 'mixed', 'logistic')
    """

    epsilon: float | Literal["auto", "corollary"] = "auto"
    decay: float = 1.0 / 3.0
    floor: float = 0.001
    c_gamma: float = 10_000.0
    bonus: float = 2.0
    classes: str | Linear | Sequence[ClassChoice] | None = field(default=None, compare=False)
    gate: GateRule = "value"
    half_life: float | Literal["auto"] | None = "auto"
    safe: bool = False
    delta: float = 0.05
    passive_design: Literal["tail", "coin"] | PassiveDesign = "coin"
    passive_data: Data = "all"
    data: Data = "all"
    ridge: float = 1.0
    schedule: Schedule = Geometric(16, 1.1, longest=200)
    model_class: Linear = Linear()
    _parsed: ParsedClasses = field(init=False, repr=False)

    __repr__ = changed_settings_repr

    def __post_init__(self) -> None:
        object.__setattr__(self, "_parsed", checked_classes(self))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all classes, the linear one first."""
        return self._parsed.names

    @property
    def fixed_half_life(self) -> float | None:
        """The half-life that is given, None where all rows count alike or the data decide."""
        return None if self.half_life == "auto" else self.half_life

    def retention(self, n_new: int) -> float:
        """The factor by which weights of earlier rows shrink when n_new rows come in."""
        return 1.0 if self.fixed_half_life is None else math.pow(0.5, n_new / self.fixed_half_life)

    def share(self, round_: int, *, gate_open: bool = False, target: float | None = None) -> float:
        """The passive share of an epoch that starts with this round, counted from 0.

        While the gate is open, the active fit depends on passive rows, so it gets more of them. An estimate
        of b can be 0 by chance, which must not end passive play, so a target never lowers the share.
        """
        least = max(self.floor, target or 0.0)
        if gate_open and self.epsilon == "auto":
            least = max(least, OPEN_SHARE)
        first = FIRST_SHARE if isinstance(self.epsilon, str) else self.epsilon
        return max(least, first * math.pow(round_ + 1, -self.decay))

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        """Epoch 1, all of it passive unless a log warms it up."""
        design = PassiveDesign(self.passive_design)
        cold = steps.first_epoch(problem, self.schedule, self.model_class, 1.0, design)
        n_features = problem.features.width + problem.action_features.width
        n_others = len(self._parsed.others) if n_features else 0
        blocks = 1 if problem.action_features.width else problem.n_actions
        candidates, comparison = CandidateClasses.none(n_others, blocks), ClassComparison.none(1 + n_others)
        scale = RewardScale.of(problem, anchored=self.model_class.intercept, winsorised=True)
        state = AdaptiveState(problem, candidates, comparison, scale=scale)
        return steps.warm_started(self, replace(cold, state=state), log)

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        """Compare the classes on the new rows, refit them with these, and play the best one."""
        if len(log) == 0:
            return steps.carried_over(epoch, self.schedule)
        before = adaptive_state(epoch).with_room_for(len(self._parsed.others))
        scale, log = before.scale.scaled(self.retention(len(log))).converted(log)
        n_rows = len(log) + (0.0 if before.linear is None else before.linear.statistics.pooled.n)
        before = before.compared(log, n_rows, scale)
        linear, report = self._refit_linear(before, log, epoch.index, scale.information)
        state = replace(
            before,
            linear=linear,
            scale=scale,
            n_seen=before.n_seen + len(log),
            n_undiscounted=before.n_undiscounted + len(log),
            safe=before.safe.updated(epoch, log, before.scale, self.delta) if self.safe else NO_REFERENCE,
        )
        if self.half_life == "auto" and self.data == "all":
            given = linear.oracle, log, linear.statistics.pooled, linear.penalties, scale.information
            state = replace(state, forgetting=state.forgetting.refitted(*given))
        if self.epsilon == "corollary":
            state = self._with_target_share(state, log)
        if state.candidates.fits:
            state = state.with_best_class(self._parsed, log, self.ridge, self.fixed_half_life)
        if self.fixed_half_life is not None and 4 * state.n_undiscounted >= self.fixed_half_life:
            state = state.discounted(self.retention(state.n_undiscounted))
        return self._successor(epoch, state, report)

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired: fits of the others stay, and nothing is refitted."""
        state, policy = adaptive_state(epoch).reindexed(problem), without_trying(running_policy(epoch.policy))
        adapted: Policy = (everyone := UniformPolicy(problem.n_actions))
        if isinstance(policy, KernelPolicy):
            adapted = state.policy(policy.scorer.bonus, policy.kernel)  # type: ignore[attr-defined]
        return replace(epoch, policy=adapted, passive_policy=everyone, state=state)

    def _refit_linear(
        self, before: AdaptiveState, log: Log, index: int, information: float
    ) -> tuple[PooledFit, FitReport]:
        """The linear fit with these rows, its gate, and their report."""
        previous, n_actions, retention = before.linear, before.problem.n_actions, self.retention(len(log))
        passive = np.bincount(log.action[log.passive], minlength=n_actions).astype(np.float64)
        if previous is None:
            ridge = self.model_class.ridge or self.ridge
            oracle = replace(self.model_class, ridge=ridge).oracle(log.contexts, n_actions)
            earlier = GateStatistics(oracle.empty(), oracle.empty(), oracle.empty())
            penalties, gate = Penalties.of(oracle.design, ridge), ValueGate()
        else:
            oracle, penalties, gate = previous.oracle, previous.penalties, previous.gate
            earlier = previous.statistics.earlier(retention, self.data, self.passive_data)
            passive = passive + (self.data == "all") * retention * previous.passive_weights
        statistics = earlier.with_rows(oracle, log, pooled_only=self.gate == "never")
        given = oracle, statistics.pooled, penalties, information
        model, fit, penalties = marginal_fit(*given, n_steps=_STEPS)
        fitted = PooledFit(oracle, statistics, model, penalties, gate, passive)
        gate, constrained = self._updated_gate(before, fitted, log, index)
        linear = replace(fitted, gate=gate)
        return linear, linear.report(fit, constrained, gated=self.gate != "never")

    def _updated_gate(
        self, before: AdaptiveState, linear: PooledFit, log: Log, index: int
    ) -> tuple[ValueGate, ConstrainedFit | None]:
        """The gate evaluated on these rows, and its constrained fit where that is made anew.

        While another class is active, the gate is left unchanged.
        """
        gate, n_seen = linear.gate, before.n_seen + len(log)
        if before.active:
            return gate, None
        if before.linear is not None:
            gate = gate.evaluated(before.linear.model.model, log, self.retention(len(log)))
        constrained = None
        if self.gate == "always" or (self.gate == "value" and n_seen >= gate.next_refit):
            given = linear.oracle, linear.statistics, linear.penalties
            slack = ridge_slack(*given, log_confidence(index, self.delta))
            models, constrained = alternative_fits(*given, slack)
            gate = gate.refitted(models, n_seen, self.fixed_half_life or math.inf)
        return gate.switched(self.gate), constrained

    def _with_target_share(self, state: AdaptiveState, log: Log) -> AdaptiveState:
        """The state with the passive rows of this log, and a new target share when that is due."""
        linear, n_actions = state.linear, state.problem.n_actions
        assert linear is not None
        n_passive = self.retention(len(log)) * state.n_passive + int(log.passive.sum())
        rows = latest_passive(state.passive, log, n_actions, min(n_passive, MOST_ROWS))
        state = replace(state, passive=rows, n_passive=n_passive)
        if state.active or not is_due(state.n_seen - len(log), state.n_seen, self.fixed_half_life):
            return state
        shares, reason = estimated_shares(state.scale.for_theory(rows), linear.oracle, n_actions)
        # Where b is only bounded, the smallest share that Corollary 1 can mean is certain.
        target = state.target_share if shares is None else shares[0]
        return replace(state, target_share=target, share_reason=reason)

    def _successor(self, epoch: Epoch, state: AdaptiveState, report: FitReport) -> Epoch:
        """The epoch in which the active class is played."""
        linear, fit = state.linear, state.active_fit
        assert linear is not None
        gate_open, target = (linear.gate.active >= 0, state.target_share) if fit is None else (False, None)
        share = self.share(epoch.stop, gate_open=gate_open, target=target)
        bonus = self.bonus * math.sqrt(state.noise * min(1.0, _MANY_ACTIONS / state.problem.n_actions))
        gamma = self.c_gamma * math.sqrt(linear.statistics.pooled.n)
        details = state.report_lines(self._parsed.names, corollary=self.epsilon == "corollary")
        following = epoch.successor(
            self.schedule,
            policy=state.safe.policy(state.policy(bonus, InverseGapWeighting(gamma / state.scale.spread))),
            state=state,
            report=steps.in_units_of_log(replace(report, gamma=gamma, details=details), state.scale),
        )
        return replace(following, passive_share=share)

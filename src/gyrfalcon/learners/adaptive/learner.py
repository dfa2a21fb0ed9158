"""Epsilon-FALCON as it wins on real data: all rows, quick refits, optimism, and a constraint behind a gate.

What the theorem is about is kept as an option that has to earn its place: the constrained fit plays while it
is known to be worth more than the pooled one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.epochs import Epoch, PassiveDesign
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, UniformPolicy
from gyrfalcon.core.policies.kernels import InverseGapWeighting, check_share
from gyrfalcon.core.records import History, Log
from gyrfalcon.core.schedules import Geometric, Schedule
from gyrfalcon.core.validation import (
    check_choice,
    check_delta,
    check_epsilon,
    check_not_negative,
    check_optional,
    check_parts,
    check_positive,
)
from gyrfalcon.learners import action_changes, steps
from gyrfalcon.learners.adaptive.gate_fits import Evidence, alternatives, ridge_slack
from gyrfalcon.learners.adaptive.passive_share import MOST_ROWS, estimated_shares, is_due, latest_passive
from gyrfalcon.learners.adaptive.state import Played, played_state, reindexed, report_of
from gyrfalcon.learners.optimistic.ridge_learner import optimist
from gyrfalcon.learners.steps import Data
from gyrfalcon.oracles.linear.linear import Linear, LinearOracle
from gyrfalcon.oracles.linear.models import LinearModel, OptimisticModel
from gyrfalcon.oracles.solvers.constrained import ConstrainedFit
from gyrfalcon.oracles.solvers.least_squares import LinearFit
from gyrfalcon.theory import log_confidence

Gating = Literal["value", "always", "never"]
"""When the constrained fit plays: while it is known to earn more, always, or never."""
Sharing = Literal["fixed", "gate", "corollary"]
"""What the passive share follows besides the rounds: nothing, the gate, or an estimate of b."""

FIRST_SHARE, C_GAMMA = 0.03, 1000.0
"""The passive share of the first round, and gamma over the root of the rows."""
FIRST_REFIT, REFIT_RATIO, LONGEST = 16, 1.1, 200
"""Refits come after so many rows, then at this ratio, then after so many rounds at the latest."""

_MOST_WEIGHT = 50.0
"""The largest weight of a row in the importance-weighted fit, in multiples of uniform play's."""
_GATE_RATIO = 1.5
"""How many times as many rows there are when the gate's alternatives are fitted anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Practical:
    """Inverse gap weighting on f + bonus sigma ||phi||, fits of all rows, and a value gate.

    Parameters
    ----------
    sharing
        What sets the passive share. "fixed": epsilon t^-decay in round t, and not below the floor. "gate":
        the same, and at least `open_share` while the gate is open. "corollary": the same as "fixed", and at
        least the share of Corollary 1 at an estimate of b, or at a lower bound of b, once there is one.
    data, passive_data
        "all" rows, or those of the "last_epoch" alone, in the fits and in the constraint.
    passive_design
        "coin": passive rounds anywhere. "tail": at the end of each epoch, at least one.
    half_life
        Rows after which a row counts half; None for ever.
    """

    reads_history: ClassVar[bool] = False
    epsilon: float = FIRST_SHARE
    decay: float = 1.0 / 3.0
    floor: float = 0.001
    open_share: float = 0.02
    bonus: float = 0.75
    c_gamma: float = C_GAMMA
    ridge: float = 1.0
    delta: float = 0.05
    gate: Gating = "value"
    threshold: float = 2.5
    tightening: float = 0.1
    half_life: float | None = None
    sharing: Sharing = "gate"
    data: Data = "all"
    passive_data: Data = "all"
    passive_design: Literal["tail", "coin"] | PassiveDesign = "coin"
    schedule: Schedule = Geometric(FIRST_REFIT, REFIT_RATIO, longest=LONGEST)
    model_class: Linear = Linear()

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)
        check_delta(self.delta)
        check_choice("gate", self.gate, get_args(Gating))
        check_choice("sharing", self.sharing, get_args(Sharing))
        check_choice("data", self.data, get_args(Data))
        check_choice("passive_data", self.passive_data, get_args(Data))
        check_choice("passive_design", self.passive_design, ("tail", "coin", *PassiveDesign))
        check_share("floor", self.floor)
        check_share("open_share", self.open_share)
        for name in ("bonus", "decay", "threshold"):
            check_not_negative(name, getattr(self, name))
        for name in ("c_gamma", "ridge", "tightening"):
            check_positive(name, getattr(self, name))
        check_optional("half_life", self.half_life)
        check_parts(self.model_class, self.schedule)

    def kept(self, n_new: int) -> float:
        """What is left of the weight of earlier rows when so many come in."""
        return 1.0 if self.half_life is None else math.pow(0.5, n_new / self.half_life)

    def share(self, round_: int, *, is_open: bool = False, asked: float | None = None) -> float:
        """The passive share of an epoch that starts with this round, counted from 0.

        While the gate is open, passive rows are what the play is made of, and it takes more of them. An
        estimate of b that came out as 0 by luck must not end passive play, so it never asks for less.
        """
        least = max(self.floor, asked or 0.0)
        if is_open and self.sharing == "gate":
            least = max(least, self.open_share)
        return max(least, self.epsilon * math.pow(round_ + 1, -self.decay))

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        """Epoch 1, all of it passive unless a log warms it up."""
        design = PassiveDesign(self.passive_design)
        cold = steps.first_epoch(problem, self.schedule, self.model_class, 1.0, design)
        return steps.started(self, replace(cold, state=Played(problem)), log)

    def next_epoch(self, epoch: Epoch, log: Log, *, history: History) -> Epoch:
        """Judge the alternatives by the new rows, then fit again with these."""
        del history
        return self.advanced(epoch, log)

    def advanced(self, epoch: Epoch, log: Log, *, idle: bool = False) -> Epoch:
        """The next epoch; while something else plays in its place, the gate neither judges nor fits."""
        if len(log) == 0:
            return steps.unchanged(epoch, self.schedule)
        state = played_state(epoch)
        kept, n_seen = self.kept(len(log)), state.n_seen + len(log)
        gate = state.gate
        if state.model is not None and not idle:
            gate = gate.judged(state.model, log, kept)
        oracle = state.oracle or self._oracle(state.problem, log)
        evidence = self._gathered(oracle, state.evidence, log, kept)
        confident, fit = oracle.confident(evidence.rows)
        constrained = None
        if self.gate != "never" and not idle and (self.gate == "always" or n_seen >= gate.due):
            models, constrained = self._alternatives(oracle, evidence, epoch.index)
            gate = gate.refitted(models, min(_GATE_RATIO * n_seen, n_seen + (self.half_life or math.inf)))
        if self.gate == "always":
            gate = replace(gate, in_use=0 if gate.models else -1)
        else:
            gate = gate.opened(self.threshold)
        after = replace(
            state,
            oracle=oracle,
            evidence=evidence,
            model=confident.model,
            gate=gate,
            n_seen=n_seen,
            passive_weights=self._passive_weights(state, log, kept),
        )
        if self.sharing == "corollary":
            after = self._asked(after, log, kept, idle=idle)
        return self._succeeded(epoch, after, confident, fit, constrained)

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired: what is known of the others stays."""
        state = played_state(epoch)
        everyone = UniformPolicy(problem.n_actions)
        model = optimist(epoch.policy)
        if state.oracle is None or state.evidence is None or model is None:
            return replace(
                epoch, policy=everyone, passive_policy=everyone, state=replace(state, problem=problem)
            )
        moved = reindexed(state, problem)
        assert moved.oracle is not None
        source = action_changes.sources(state.problem, problem)
        scorer = replace(
            model,
            model=moved.oracle.reindexed_model(model.model, source),
            design=moved.oracle.design,
            factors=np.ascontiguousarray(
                state.oracle.reindexed_factors(model.factors, state.evidence.rows, source)
            ),
        )
        assert isinstance(epoch.policy, KernelPolicy)
        return replace(
            epoch, policy=replace(epoch.policy, scorer=scorer), passive_policy=everyone, state=moved
        )

    def _oracle(self, problem: Problem, log: Log) -> LinearOracle:
        own = self.model_class
        return replace(own, ridge=own.ridge or self.ridge).oracle(log.contexts, problem.n_actions)

    def _gathered(self, oracle: LinearOracle, before: Evidence | None, log: Log, kept: float) -> Evidence:
        """The evidence with these rows; only what is used is summed."""
        before = self._earlier(oracle, before, kept)
        rows = oracle.summed(log, before.rows, penalised=True)
        if self.gate == "never":
            return replace(before, rows=rows)
        passive = log.where(log.passive)
        n_actions = oracle.design.n_actions
        weights = np.minimum(1.0 / (n_actions * log.propensity), _MOST_WEIGHT)
        return Evidence(
            rows,
            oracle.summed(passive, before.passive, penalised=True) if len(passive) else before.passive,
            before.weighted + oracle.sums(log, weights),
            before.passive_squares + len(passive),
        )

    def _earlier(self, oracle: LinearOracle, before: Evidence | None, kept: float) -> Evidence:
        """What earlier rows count for."""
        none = oracle.empty()
        if before is None:
            return Evidence(none, none, none)
        if kept < 1.0:
            before = before.scaled(kept)
        if self.data == "last_epoch":
            before = replace(before, rows=none, weighted=none)
        if self.passive_data == "last_epoch":
            before = replace(before, passive=none, passive_squares=0.0)
        return before

    def _passive_weights(self, state: Played, log: Log, kept: float) -> Floats:
        """(K,): what the passive rows of each action weigh in the fit."""
        new = np.bincount(log.action[log.passive], minlength=state.problem.n_actions).astype(np.float64)
        if self.data == "last_epoch" or state.passive_weights is None:
            return new
        return kept * state.passive_weights + new

    def _asked(self, state: Played, log: Log, kept: float, *, idle: bool) -> Played:
        """With the passive rows of this log, and the share that they ask for, when that is due."""
        oracle, n_actions = state.oracle, state.problem.n_actions
        assert oracle is not None
        n_passive = kept * state.n_passive + int(log.passive.sum())
        rows = latest_passive(state.passive, log, n_actions, min(n_passive, MOST_ROWS))
        state = replace(state, passive=rows, n_passive=n_passive)
        if idle or not is_due(state.n_seen - len(log), state.n_seen, self.half_life):
            return state
        shares, why = estimated_shares(rows, oracle, n_actions)
        # Where b is only bounded, the least share that it can call for is certain.
        return replace(state, asked=state.asked if shares is None else shares[0], why=why)

    def _alternatives(
        self, oracle: LinearOracle, evidence: Evidence, index: int
    ) -> tuple[list[LinearModel], ConstrainedFit]:
        confidence = log_confidence(index, self.delta)
        slack = ridge_slack(oracle, evidence, confidence)
        return alternatives(oracle, evidence, slack, self.tightening)

    def _succeeded(
        self,
        epoch: Epoch,
        after: Played,
        confident: OptimisticModel,
        fit: LinearFit,
        constrained: ConstrainedFit | None,
    ) -> Epoch:
        assert after.evidence is not None
        n = after.evidence.rows.n
        sigma = math.sqrt(max(float(fit.residual_squares.sum()) / n, 0.0))
        scorer = replace(confident, bonus=self.bonus * sigma)
        if after.gate.model is not None:
            scorer = replace(scorer, model=after.gate.model)
        gamma = self.c_gamma * math.sqrt(n)
        following = steps.successor(
            epoch,
            self.schedule,
            policy=KernelPolicy(scorer, InverseGapWeighting(gamma)),
            state=after,
            report=report_of(after, fit, constrained, gamma, is_free=self.gate == "never"),
        )
        is_open = after.gate.in_use >= 0
        return replace(
            following, passive_share=self.share(following.start, is_open=is_open, asked=after.asked)
        )

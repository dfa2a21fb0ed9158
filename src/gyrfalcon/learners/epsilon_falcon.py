"""Epsilon-FALCON (Krishnamurthy, Hadad, Athey 2021): Algorithm 1 with an exact constrained regression."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.epochs import Epoch, PassiveDesign
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import KernelPolicy
from gyrfalcon.core.policies.kernels import InverseGapWeighting
from gyrfalcon.core.records import Log
from gyrfalcon.core.schedules import Doubling, Schedule
from gyrfalcon.core.settings import changed_settings_repr
from gyrfalcon.core.validation import (
    check_choice,
    check_delta,
    check_epsilon,
    check_flag,
    check_optional,
    check_parts,
    check_positive,
    check_rates,
    check_whole,
)
from gyrfalcon.learners import action_changes, steps
from gyrfalcon.learners.corollary_share import with_corollary_share
from gyrfalcon.learners.reward_scale import in_spreads
from gyrfalcon.learners.steps import Data, Fitted, Sums, summed
from gyrfalcon.oracles.linear.linear import Linear, LinearOracle
from gyrfalcon.oracles.protocol import AnyOracle, ModelClass, S
from gyrfalcon.oracles.solvers.moments import Moments
from gyrfalcon.oracles.solvers.slack import chi_square_slack, sandwich_slack, sandwich_spectrum
from gyrfalcon.theory import C_LINEAR, c_1, c_3, log_confidence, unit_gamma, unit_slack

Constants = Literal["calibrated", "paper"]
SlackRule = Literal["paper", "calibrated", "chi_square", "sandwich"]
"""How far above the best passive risk a fit may go."""

FIRST_SHARE = 0.05
"""The passive share before there is an estimate for Corollary 1."""
_FIRST_EPOCH = {"paper": 4, "calibrated": 100}


@dataclass(frozen=True, slots=True, kw_only=True)
class EpsilonFalcon:
    """Epochs of inverse gap weighting with a passive share, refitted close to what passive rows support.

    This is Algorithm 1 as printed. With `constants="paper"` it has the Appendix's constants: nearly uniform
    play, with a constraint that does not bind for 1e8 rounds and more; the theorem covers this choice alone,
    and of it only convex classes with values in [0, 1]: `Linear` is unbounded. It alone has the reward range,
    where there is one, for its unit. `constants="calibrated"` has a slack from the noise, and a constant of
    gamma for gaps in multiples of the spread of rewards, twice their standard deviation. `AdaptiveFalcon` is
    the variant for real data, which the theorem does not cover.

    Parameters
    ----------
    constants
        "calibrated" or "paper": what `tau_1`, `c_gamma` and `slack` are where they are None.
    epsilon
        Passive share (epsilon), in [0, 0.5); 0 is FALCON, without constraint. "corollary": after each epoch
        by Corollary 1, from what passive rows show of the misspecification b, and 0.05 before. Above three
        features passive rows only bound b, and the share is moved into the range of the bounds.
    delta
        Confidence (delta), in (0, 0.49].
    tau_1
        Rounds of the first epoch (tau_1 >= 4); None is as `schedule` says, or 4 in "paper", else 100.
    c_gamma
        gamma_m over sqrt(K n^rho / (ln^rho' n ln((m-1)/delta) comp)): sqrt(C_3) in "paper", 10 in
        "calibrated". Any other value than sqrt(C_3) leaves the theorem's constants, not its form.
    slack
        Rule of beta_m. "paper": C_1 ln^rho'(n') ln(12 m^2/delta) comp / n'^rho. "calibrated": the same with
        c_beta sigma^2 for C_1. "chi_square" and "sandwich": the noise quantile of the best in-class model's
        excess, the latter for rewards of unequal variance. All but "paper" keep that model feasible
        asymptotically, not with the theorem's finite-sample certainty.
    c_beta
        Scale of the calibrated slack.
    passive_design
        "tail" as printed, or "coin": passive rounds interleaved. Equivalent over whole epochs that are long;
        of a short one the tail has at least one round. The proof is for the tail.
    passive_data, data
        "last_epoch" as printed, or "all": rows of all epochs in the constraint, in the objective. Cumulative
        passive rows are still iid, so the constraint keeps its meaning; "all" active data mixes policies,
        which leaves the theorem.
    monotone_gamma
        Never lower gamma. The printed gamma_3 alone is below gamma_2, against a step of the proof (the bound
        on V of all policies); keeping gamma_2 corrects that step, and strains the one that needs gamma_3
        small enough for the rows behind it (Lemma reg-est-accuracy).
    C, rho, rho_prime
        Assumption 1's C, rho and rho'; the defaults are those of a linear class.
    comp
        Assumption 1's comp(F); None is d, the coefficients of all actions, also as these come and go.
    schedule
        When epochs end; None is doubling from `tau_1`, as the theorem needs.
    model_class
        F, with its features, basis and ridge: `Linear()` or any `Regressor`.

    Examples
    --------
    >>> EpsilonFalcon().epoch_schedule, EpsilonFalcon(constants="paper").epoch_schedule
    (Doubling(first=100), Doubling(first=4))
    """

    constants: Constants = "calibrated"
    epsilon: float | Literal["corollary"] = FIRST_SHARE
    delta: float = 0.05
    tau_1: int | None = None
    c_gamma: float | None = None
    slack: SlackRule | None = None
    c_beta: float = 0.5
    passive_design: Literal["tail", "coin"] | PassiveDesign = "tail"
    passive_data: Data = "last_epoch"
    data: Data = "last_epoch"
    monotone_gamma: bool = False
    C: float = C_LINEAR
    rho: float = 1.0
    rho_prime: float = 0.0
    comp: float | None = None
    schedule: Schedule | None = None
    model_class: ModelClass = Linear()

    __repr__ = changed_settings_repr

    def __post_init__(self) -> None:
        check_choice("constants", self.constants, get_args(Constants))
        self._check_values()
        check_parts(self.model_class, Doubling() if self.schedule is None else self.schedule)
        if self.schedule is not None and self.tau_1 is not None:
            raise ValueError(f"tau_1 is {self.tau_1} and there is a schedule as well; give one of them.")
        if self.slack == "sandwich" and not isinstance(self.model_class, Linear):
            raise ValueError(
                f"slack is 'sandwich' and model_class {type(self.model_class).__name__}; the sandwich "
                "needs the coefficients of a linear class, so choose another rule, like 'calibrated'."
            )

    def _check_values(self) -> None:
        if isinstance(self.epsilon, str) and self.epsilon != "corollary":
            raise ValueError(f"epsilon is {self.epsilon!r}; give a share in [0, 0.5), or 'corollary'.")
        check_epsilon(self.passive_share)
        check_delta(self.delta)
        check_choice("slack", self.slack, (None, *get_args(SlackRule)))
        check_choice("passive_design", self.passive_design, ("tail", "coin", *PassiveDesign))
        check_choice("passive_data", self.passive_data, get_args(Data))
        check_choice("data", self.data, get_args(Data))
        check_flag("monotone_gamma", self.monotone_gamma)
        if self.tau_1 is not None:
            check_whole("tau_1", self.tau_1, 4)
        for name in ("c_gamma", "comp"):
            check_optional(name, getattr(self, name))
        for name in ("c_beta", "C"):
            check_positive(name, getattr(self, name))
        check_rates(self.rho, self.rho_prime)

    @property
    def passive_share(self) -> float:
        """The passive share of the first epoch."""
        return FIRST_SHARE if isinstance(self.epsilon, str) else self.epsilon

    @property
    def epoch_schedule(self) -> Schedule:
        """The schedule that was given, or doubling from tau_1."""
        return self.schedule or Doubling(self.tau_1 or _FIRST_EPOCH[self.constants])

    @property
    def slack_rule(self) -> SlackRule:
        """The rule of beta_m that was given, or that of the constants."""
        return self.slack or self.constants

    @property
    def c_gamma_value(self) -> float:
        """The scale of gamma that was given, or that of the constants."""
        if self.c_gamma is not None:
            return self.c_gamma
        return math.sqrt(c_3(self.C, self.rho)) if self.constants == "paper" else 10.0

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        """Epoch 1, uniform (f_1 = 0) unless a log warms it up."""
        design = PassiveDesign(self.passive_design)
        schedule, share, literal = self.epoch_schedule, self.passive_share, self.constants == "paper"
        cold = steps.first_epoch(problem, schedule, self.model_class, share, design, literal=literal)
        return steps.warm_started(self, cold, log)

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        """Lines 11 and 12 of Algorithm 1: split the rows, constrain by the passive ones, refit."""
        if len(log) == 0:
            return steps.carried_over(epoch, self.epoch_schedule)
        sums, rows = self.sums(epoch, log), steps.fitted_state(epoch).scale.converted(log)[1]
        following = self.next_from(epoch, sums, self._scatter(epoch, sums, rows))
        if self.epsilon != "corollary":
            return following
        return with_corollary_share(following, sums.oracle, sums.scale.for_theory(rows))

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired."""
        return action_changes.adapted(epoch, problem)

    def can_sum(self, epoch: Epoch) -> bool:
        """After the first rows, for linear classes; the sandwich and the corollary look at passive rows."""
        oracle = steps.fitted_state(epoch).oracle
        return isinstance(oracle, LinearOracle) and self.slack != "sandwich" and self.epsilon != "corollary"

    def sums(self, epoch: Epoch, log: Log, before: Sums | None = None) -> Sums:
        """Active and passive rows, with these."""
        state, passive = steps.fitted_state(epoch), log.passive
        scale, log = (state if before is None else before).scale.converted(log)
        if before is None:
            before = Sums(
                steps.oracle_for(state, self.model_class, log),
                state.active if self.data == "all" else None,
                state.passive if self.passive_data == "all" else None,
                0,
            )
        return Sums(
            before.oracle,
            summed(before.oracle, log.where(~passive), before.active),
            summed(before.oracle, log.where(passive), before.passive),
            before.n_new + len(log),
            scale,
        )

    def next_from(self, epoch: Epoch, sums: Sums, scatter: Floats | None = None) -> Epoch:
        """The next epoch, given the active and the passive rows."""
        state, oracle, scale = steps.fitted_state(epoch), sums.oracle, sums.scale
        active, passive = sums.both()
        model, report = oracle.fit(
            active,
            passive,
            slack=lambda alpha: self.slack_value(
                alpha, oracle, active, passive, epoch.index, scatter, scale.spread
            ),
            previous=state.model,
        )
        gamma = self._gamma(epoch, sums.n_new, state.problem.n_actions, oracle)
        return epoch.successor(
            self.epoch_schedule,
            policy=KernelPolicy(in_spreads(model, scale), InverseGapWeighting(gamma)),
            state=Fitted(state.problem, oracle, active, passive, scatter, model, scale),
            report=steps.in_units_of_log(replace(report, gamma=gamma), scale),
        )

    def slack_value(
        self,
        alpha: float,
        oracle: AnyOracle,
        active: S,
        passive: S,
        index: int,
        scatter: Floats | None = None,
        spread: float = 1.0,
    ) -> float:
        """beta_m in mean units after epoch m = index; rewards of active rows count if passive are few.

        alpha is the risk of the passive fit, from which the noise is estimated. The paper's slack is for
        rewards of width 1, and `spread` is what stands for that width.
        """
        rule = self.slack_rule
        if rule == "paper":
            return c_1(self.C) * spread**2 * self._unit_slack(passive.n, self._comp(oracle), index)
        noise = oracle.noise(alpha, active, passive)
        variance, d = noise.variance, noise.degrees
        if rule == "calibrated":
            comp = d if self.comp is None else self.comp
            return self.c_beta * variance * self._unit_slack(passive.n, comp, index)
        confidence = log_confidence(index, self.delta)
        if rule == "chi_square":
            return chi_square_slack(variance, d, passive.n, confidence)
        if scatter is None or passive.n < 2 * d or not isinstance(passive, Moments):
            return sandwich_slack(np.full(math.ceil(d), variance), passive.n, confidence)
        spectrum = sandwich_spectrum(passive, scatter) * (passive.n / (passive.n - d))
        return sandwich_slack(spectrum, passive.n, confidence)

    def _unit_slack(self, n_passive: float, comp: float, index: int) -> float:
        return unit_slack(n_passive, comp, index, self.delta, self.rho, self.rho_prime)

    def _scatter(self, epoch: Epoch, sums: Sums, log: Log) -> Floats | None:
        """Sum e^2 phi phi' of passive rows at the passive fit; earlier rows keep their residuals of then."""
        oracle, passive, state = sums.oracle, sums.passive, steps.fitted_state(epoch)
        if not isinstance(oracle, LinearOracle) or not isinstance(passive, Moments):
            return None
        if self.slack != "sandwich":
            return None
        new = oracle.scatter(log.where(log.passive), passive)
        return new if self.passive_data == "last_epoch" or state.scatter is None else state.scatter + new

    def _comp(self, oracle: AnyOracle) -> float:
        return float(oracle.n_parameters) if self.comp is None else self.comp

    def _gamma(self, epoch: Epoch, n: int, n_actions: int, oracle: AnyOracle) -> float:
        """gamma_{m+1} from the n rows of epoch m."""
        unit = unit_gamma(
            n, n_actions, self._comp(oracle), epoch.index + 1, self.delta, self.rho, self.rho_prime
        )
        gamma = self.c_gamma_value * unit
        kernel = epoch.policy.kernel if isinstance(epoch.policy, KernelPolicy) else None
        before = kernel.gamma if isinstance(kernel, InverseGapWeighting) else 0.0
        return max(gamma, before) if self.monotone_gamma else gamma

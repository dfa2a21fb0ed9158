"""Algorithm 1 of Krishnamurthy, Hadad and Athey (2021) as printed, with an exact constrained regression."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.epochs import Epoch, PassiveDesign
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import KernelPolicy
from gyrfalcon.core.policies.kernels import InverseGapWeighting
from gyrfalcon.core.records import History, Log
from gyrfalcon.core.schedules import Doubling, Schedule
from gyrfalcon.learners import action_changes, steps
from gyrfalcon.learners.adaptive.passive_share import corollary_share
from gyrfalcon.learners.steps import Data, Fitted
from gyrfalcon.learners.sums import Sums, summed
from gyrfalcon.oracles.linear.linear import Linear, LinearOracle
from gyrfalcon.oracles.protocol import AnyOracle, ModelClass, S
from gyrfalcon.oracles.solvers.moments import Moments
from gyrfalcon.oracles.solvers.slack import chi_square_slack, sandwich_slack, sandwich_spectrum
from gyrfalcon.theory import C_LINEAR, c_1, log_confidence, unit_gamma, unit_slack

SlackRule = Literal["paper", "calibrated", "chi_square", "sandwich"]
"""How far above the best passive risk a fit may go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlgorithmOne:
    """Epochs of inverse gap weighting with a passive share, refitted close to what passive rows support.

    Theorem 2 is proved for convex classes with values in [0, 1] and a passive share below 1/2. `Linear` is
    unbounded, and Assumption 1 does not hold of it for every distribution of contexts (`theory.classes`).

    The settings are those of `EpsilonFalcon`, which checks them; by default they are of preset "calibrated".
    """

    reads_history: ClassVar[bool] = False
    epsilon: float = 0.05
    sharing: Literal["fixed", "corollary"] = "fixed"
    """Whether the passive share stays, or follows Corollary 1 at an estimate of the misspecification."""
    delta: float = 0.05
    c_gamma: float = 10.0
    slack: SlackRule = "calibrated"
    c_beta: float = 0.5
    passive_design: Literal["tail", "coin"] | PassiveDesign = "tail"
    passive_data: Data = "last_epoch"
    data: Data = "last_epoch"
    monotone_gamma: bool = False
    C: float = C_LINEAR
    rho: float = 1.0
    rho_prime: float = 0.0
    comp: float | None = None
    """None is d, the coefficients of all actions."""
    schedule: Schedule = Doubling(100)
    model_class: ModelClass = Linear()

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        """Epoch 1, uniform (f_1 = 0) unless a log warms it up."""
        design = PassiveDesign(self.passive_design)
        cold = steps.first_epoch(problem, self.schedule, self.model_class, self.epsilon, design)
        return steps.started(self, cold, log)

    def next_epoch(self, epoch: Epoch, log: Log, *, history: History) -> Epoch:
        """Lines 11 and 12 of Algorithm 1: split the rows, constrain by the passive ones, refit."""
        del history
        if len(log) == 0:
            return steps.unchanged(epoch, self.schedule)
        sums = self.sums(epoch, log)
        following = self.next_from(epoch, sums, self._scatter(epoch, sums, log))
        return following if self.sharing == "fixed" else _shared(following, sums.oracle, log)

    def can_sum(self, epoch: Epoch) -> bool:
        """After the first rows, for linear classes; the sandwich and the corollary look at passive rows."""
        oracle = steps.fitted_state(epoch).oracle
        return isinstance(oracle, LinearOracle) and self.slack != "sandwich" and self.sharing == "fixed"

    def sums(self, epoch: Epoch, log: Log, before: Sums | None = None) -> Sums:
        """Active and passive rows, with these."""
        state, passive = steps.fitted_state(epoch), log.passive
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
        )

    def next_from(self, epoch: Epoch, sums: Sums, scatter: Floats | None = None) -> Epoch:
        """The next epoch, given the active and the passive rows."""
        state, oracle = steps.fitted_state(epoch), sums.oracle
        active, passive = sums.both()
        model, report = oracle.fit(
            active,
            passive,
            slack=lambda alpha: self.slack_value(alpha, oracle, active, passive, epoch.index, scatter),
            previous=state.model,
        )
        gamma = self._gamma(epoch, sums.n_new, state.problem.n_actions, oracle)
        return steps.successor(
            epoch,
            self.schedule,
            policy=KernelPolicy(model, InverseGapWeighting(gamma)),
            state=Fitted(state.problem, oracle, active, passive, scatter, model),
            report=replace(report, gamma=gamma),
        )

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired."""
        return action_changes.adapted(epoch, problem)

    def slack_value(
        self,
        alpha: float,
        oracle: AnyOracle,
        active: S,
        passive: S,
        index: int,
        scatter: Floats | None = None,
    ) -> float:
        """beta_m in mean units after epoch m = index; rewards of active rows count if passive are few.

        alpha is the risk of the passive fit, from which the noise is estimated.
        """
        if self.slack == "paper":
            return c_1(self.C) * self._unit_slack(passive.n, self._comp(oracle), index)
        noise = oracle.noise(alpha, active, passive)
        variance, d = noise.variance, noise.degrees
        if self.slack == "calibrated":
            comp = d if self.comp is None else self.comp
            return self.c_beta * variance * self._unit_slack(passive.n, comp, index)
        confidence = log_confidence(index, self.delta)
        if self.slack == "chi_square":
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
        gamma = self.c_gamma * unit
        kernel = epoch.policy.kernel if isinstance(epoch.policy, KernelPolicy) else None
        before = kernel.gamma if isinstance(kernel, InverseGapWeighting) else 0.0
        return max(gamma, before) if self.monotone_gamma else gamma


def _shared(following: Epoch, oracle: AnyOracle, log: Log) -> Epoch:
    """The epoch with the passive share that Corollary 1 has for what these rows tell of the class."""
    n_actions, report = steps.fitted_state(following).problem.n_actions, following.report
    assert report is not None  # that of the fit just made
    share, why = corollary_share(log, oracle, n_actions, before=following.passive_share)
    return replace(following, passive_share=share, report=replace(report, details=(*report.details, why)))

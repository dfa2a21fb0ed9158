"""Epsilon-FALCON (Krishnamurthy, Hadad, Athey 2021): Algorithm 1 with an exact constrained regression."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import ClassVar, Literal

import numpy as np

from gyrfalcon.core.checks import check_flag, check_optional, check_positive
from gyrfalcon.core.epochs import Epoch, PassiveDesign
from gyrfalcon.core.kernels import InverseGapWeighting
from gyrfalcon.core.policies import KernelPolicy
from gyrfalcon.core.problems import Problem
from gyrfalcon.core.records import History, Log
from gyrfalcon.core.schedules import Doubling, Geometric, Schedule
from gyrfalcon.core.types import Floats
from gyrfalcon.learners import adapting, epochwise
from gyrfalcon.learners.checks import check_choice, check_delta, check_epsilon, check_parts, check_rates
from gyrfalcon.learners.class_choice import ClassChoosing
from gyrfalcon.learners.epochwise import Data, Fitted
from gyrfalcon.learners.practical import (
    C_GAMMA,
    FIRST_REFIT,
    FIRST_SHARE,
    LONGEST,
    REFIT_RATIO,
    Gating,
    Practical,
)
from gyrfalcon.learners.sums import Sums, summed
from gyrfalcon.oracles.class_choices import ClassChoice, checked_classes
from gyrfalcon.oracles.linear import Linear, LinearOracle
from gyrfalcon.oracles.moments import Moments
from gyrfalcon.oracles.oracle import AnyOracle, ModelClass, S
from gyrfalcon.oracles.slack import (
    chi_square_slack,
    sandwich_slack,
    sandwich_spectrum,
)
from gyrfalcon.theory import C_LINEAR, c_1, c_3, log_confidence, unit_gamma, unit_slack

SlackRule = Literal["paper", "calibrated", "chi-square", "sandwich"]

_OF_PRACTICE = ("bonus", "decay", "floor", "gate", "half_life", "classes")
_OF_THE_PAPER = (
    "slack",
    "c_beta",
    "passive_design",
    "passive_data",
    "data",
    "monotone_gamma",
    "C",
    "rho",
    "rho_prime",
    "comp",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EpsilonFalcon:
    """Epochs of inverse gap weighting with a passive share, refitted close to what passive rows support.

    Preset "paper" is Algorithm 1 verbatim with the Appendix's constants: nearly uniform play with a
    constraint that does not bind, for 1e8 rounds and more. Preset "calibrated" is the same algorithm with
    constants from the noise. Preset "practical" is what wins on real data: fits of all rows, refits in quick
    succession, an optimism bonus, a passive share that decays, and a constraint that plays while it is known
    to earn more. The theorem covers "paper" alone. A setting left at None is the preset's.

    Parameters
    ----------
    preset
        "paper", "calibrated" or "practical".
    epsilon
        Passive share (epsilon), in [0, .5); 0 is FALCON: no passive rows, no constraint. .05, and in
        "practical" .03 in the first round, from where it decays.
    delta
        Confidence (delta), in (0, .49].
    tau_1
        Rounds of the first epoch (tau_1 >= 4): 4 in "paper", 100 in "calibrated".
    c_gamma
        gamma_m over sqrt(K n^rho / (ln^rho' n ln((m-1)/delta) comp)): sqrt(C_3) in "paper", 10 in
        "calibrated". Any other value than sqrt(C_3) leaves the theorem's constants, not its form.
    slack
        Rule of beta_m. "paper": C_1 ln^rho'(n') ln(12 m^2/delta) comp / n'^rho. "calibrated": the same with
        c_beta sigma^2 for C_1. "chi-square" and "sandwich": the noise quantile of the best in-class model's
        excess, the latter for rewards of unequal variance. All but "paper" keep that model feasible
        asymptotically, not with the theorem's finite-sample certainty.
    c_beta
        Scale of the calibrated slack.
    passive_design
        "tail" as printed, or "coin": passive rounds interleaved. Equivalent over whole epochs; the theorem's
        proof is written for the tail.
    passive_data, data
        "last epoch" as printed, or "all": rows of all epochs in the constraint, in the objective. Cumulative
        passive rows are still iid, so the constraint keeps its meaning; "all" active data mixes policies,
        which leaves the theorem.
    monotone_gamma
        Never lower gamma. The printed gamma_3 is below gamma_2, against a step of the proof (the bound on V
        of all policies); keeping gamma_2 mends that step, and strains the one that wants gamma_3 small enough
        for the rows behind it (Lemma reg-est-accuracy). From epoch 3 on gamma grows either way.
    C, rho, rho_prime, comp
        Assumption 1's C, rho, rho' and comp(F); comp None means d, the coefficients of all actions.
    schedule
        When epochs end, instead of doubling from tau_1. The theorem needs doubling.
    model_class
        F, with its features, basis and ridge; "practical" has a ridge of 1 unless F has its own.
    bonus
        "practical": scale of the optimism bonus, in units of the residual deviation; 0 for none.
    decay, floor
        "practical": the passive share falls with the rounds t as t^-decay, and not below the floor.
    gate
        "practical": whether the constrained fit plays by its "value", "always" or "never".
    half_life
        "practical": rows after which a row counts half, for worlds that change; None for ever.
    classes
        "practical": "auto", or names among "linear", "quadratic", "splines" and "waves", or linear classes
        with a basis of their own. The one plays that foretells rewards best. Just F if that is given.

    Examples
    --------
    >>> EpsilonFalcon(epsilon=0.1).c_gamma_value
    10.0
    """

    reads_history: ClassVar[bool] = False
    preset: Literal["paper", "calibrated", "practical"] = "calibrated"
    epsilon: float | None = None
    delta: float = 0.05
    tau_1: int | None = None
    c_gamma: float | None = None
    slack: SlackRule | None = None
    c_beta: float = 0.5
    passive_design: Literal["tail", "coin"] | PassiveDesign = "tail"
    passive_data: Data = "last epoch"
    data: Data = "last epoch"
    monotone_gamma: bool = False
    C: float = C_LINEAR
    rho: float = 1.0
    rho_prime: float = 0.0
    comp: float | None = None
    schedule: Schedule | None = None
    model_class: ModelClass = Linear()
    bonus: float | None = None
    decay: float | None = None
    floor: float | None = None
    gate: Gating | None = None
    half_life: float | None = None
    classes: str | Sequence[ClassChoice] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.classes, list):  # as people write them; settings are hashable
            object.__setattr__(self, "classes", tuple(self.classes))
        check_choice("preset", self.preset, ("paper", "calibrated", "practical"))
        check_epsilon(self.passive_share)
        check_delta(self.delta)
        self._check_inert()
        check_choice("slack", self.slack, (None, "paper", "calibrated", "chi-square", "sandwich"))
        check_choice("passive_design", self.passive_design, ("tail", "coin", *PassiveDesign))
        check_parts(self.model_class, self.schedule or Doubling())
        check_choice("passive_data", self.passive_data, ("last epoch", "all"))
        check_choice("data", self.data, ("last epoch", "all"))
        for name in ("c_gamma", "comp"):
            check_optional(name, getattr(self, name))
        for name in ("c_beta", "C"):
            check_positive(name, getattr(self, name))
        check_rates(self.rho, self.rho_prime)
        check_flag("monotone_gamma", self.monotone_gamma)
        if self.schedule is not None and self.tau_1 is not None:
            raise ValueError(f"tau_1 is {self.tau_1} and there is a schedule as well; give one of them.")
        if self.slack_rule == "sandwich" and not isinstance(self.model_class, Linear):
            raise ValueError(
                f"slack is 'sandwich' and model_class {type(self.model_class).__name__}; the sandwich "
                "needs the coefficients of a linear class, so choose another rule, like 'calibrated'."
            )
        self.epoch_schedule  # noqa: B018 - a bad tau_1 is refused here, not at the first decision
        if self.preset == "practical" and not isinstance(self.model_class, Linear):
            raise ValueError(
                f"preset is 'practical' and model_class {type(self.model_class).__name__}; its bonus needs "
                "the confidence widths of a linear class, so choose preset='calibrated'."
            )
        if self.preset == "practical":
            self.practical  # noqa: B018 - likewise

    def _check_inert(self) -> None:
        """Refuse settings that the preset has no use for: somebody thinks that they do something."""
        inert = _OF_THE_PAPER if self.preset == "practical" else _OF_PRACTICE
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in inert and value != field.default:
                raise ValueError(
                    f"{field.name} is {value!r}, which preset {self.preset!r} has no use for; leave it out, "
                    f"or choose another preset."
                )

    @property
    def practical(self) -> Practical | ClassChoosing:
        """The learner of preset "practical"."""
        assert isinstance(self.model_class, Linear)
        given = {
            name: getattr(self, name) for name in ("c_gamma", "bonus", "decay", "floor", "gate", "half_life")
        }
        linear = Practical(
            epsilon=self.passive_share,
            delta=self.delta,
            schedule=self.epoch_schedule,
            model_class=self.model_class,
            **{name: value for name, value in given.items() if value is not None},
        )
        if self.classes is None and self.model_class != Linear():
            return linear
        classes = checked_classes("auto" if self.classes is None else self.classes)
        others = tuple(one for one in classes if one != "linear")
        return (
            ClassChoosing(practical=linear, others=others, with_linear="linear" in classes)
            if others
            else linear
        )

    @property
    def passive_share(self) -> float:
        """The passive share in force; in preset "practical" that of the first round."""
        if self.epsilon is not None:
            return self.epsilon
        return FIRST_SHARE if self.preset == "practical" else 0.05

    @property
    def epoch_schedule(self) -> Schedule:
        """The schedule in force."""
        if self.preset == "practical":
            first = FIRST_REFIT if self.tau_1 is None else self.tau_1
            return self.schedule or Geometric(first, REFIT_RATIO, longest=LONGEST)
        default = 4 if self.preset == "paper" else 100
        return self.schedule or Doubling(default if self.tau_1 is None else self.tau_1)

    @property
    def c_gamma_value(self) -> float:
        """The scale of gamma in force; in preset "practical" it is over the root of the rows."""
        if self.c_gamma is not None:
            return self.c_gamma
        if self.preset == "practical":
            return C_GAMMA
        return math.sqrt(c_3(self.C, self.rho)) if self.preset == "paper" else 10.0

    @property
    def slack_rule(self) -> SlackRule:
        """The slack rule in force."""
        return self.slack or ("paper" if self.preset == "paper" else "calibrated")

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        """Epoch 1, uniform (f_1 = 0) unless a log warms it up."""
        if self.preset == "practical":
            return self.practical.start(problem, log)
        design = PassiveDesign(self.passive_design)
        return epochwise.started(
            self,
            epochwise.first_epoch(problem, self.epoch_schedule, self.model_class, self.passive_share, design),
            log,
        )

    def next_epoch(self, epoch: Epoch, log: Log, *, history: History) -> Epoch:
        """Lines 11 and 12 of Algorithm 1: split the rows, constrain by the passive ones, refit."""
        if self.preset == "practical":
            return self.practical.next_epoch(epoch, log, history=history)
        if len(log) == 0:
            return epochwise.unchanged(epoch, self.epoch_schedule)
        sums = self.sums(epoch, log)
        return self.next_from(epoch, sums, self._scatter(epoch, sums, log))

    def can_sum(self, epoch: Epoch) -> bool:
        """After the first rows, for linear classes; the sandwich looks at the passive rows once more."""
        if self.preset == "practical":
            return False
        oracle = epochwise.fitted_state(epoch).oracle
        return isinstance(oracle, LinearOracle) and self.slack_rule != "sandwich"

    def sums(self, epoch: Epoch, log: Log, before: Sums | None = None) -> Sums:
        """Active and passive rows, with these."""
        state, passive = epochwise.fitted_state(epoch), log.passive
        if before is None:
            before = Sums(
                epochwise.oracle_for(state, self.model_class, log),
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
        state, oracle = epochwise.fitted_state(epoch), sums.oracle
        active, passive = sums.both()
        model, report = oracle.fit(
            active,
            passive,
            slack=lambda alpha: self.slack_value(alpha, oracle, active, passive, epoch.index, scatter),
            previous=state.model,
        )
        gamma = self._gamma(epoch, sums.n_new, state.problem.n_actions, oracle)
        return epochwise.successor(
            epoch,
            self.epoch_schedule,
            policy=KernelPolicy(model, InverseGapWeighting(gamma)),
            state=Fitted(state.problem, oracle, active, passive, scatter, model),
            report=replace(report, gamma=gamma),
        )

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired."""
        if self.preset == "practical":
            return self.practical.adapt(epoch, problem)
        return adapting.adapted(epoch, problem)

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
        if self.slack_rule == "paper":
            return c_1(self.C) * self._unit_slack(passive.n, self._comp(oracle), index)
        noise = oracle.noise(alpha, active, passive)
        variance, d = noise.variance, noise.degrees
        if self.slack_rule == "calibrated":
            comp = d if self.comp is None else self.comp
            return self.c_beta * variance * self._unit_slack(passive.n, comp, index)
        confidence = log_confidence(index, self.delta)
        if self.slack_rule == "chi-square":
            return chi_square_slack(variance, d, passive.n, confidence)
        if scatter is None or passive.n < 2 * d or not isinstance(passive, Moments):
            return sandwich_slack(np.full(math.ceil(d), variance), passive.n, confidence)
        spectrum = sandwich_spectrum(passive, scatter) * (passive.n / (passive.n - d))
        return sandwich_slack(spectrum, passive.n, confidence)

    def _unit_slack(self, n_passive: float, comp: float, index: int) -> float:
        return unit_slack(n_passive, comp, index, self.delta, self.rho, self.rho_prime)

    def _scatter(self, epoch: Epoch, sums: Sums, log: Log) -> Floats | None:
        """Sum e^2 phi phi' of passive rows at the passive fit; earlier rows keep their residuals of then."""
        oracle, passive, state = sums.oracle, sums.passive, epochwise.fitted_state(epoch)
        if not isinstance(oracle, LinearOracle) or not isinstance(passive, Moments):
            return None
        if self.slack_rule != "sandwich":
            return None
        new = oracle.scatter(log.where(log.passive), passive)
        return new if self.passive_data == "last epoch" or state.scatter is None else state.scatter + new

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

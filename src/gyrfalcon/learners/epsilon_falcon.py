"""Epsilon-FALCON (Krishnamurthy, Hadad, Athey 2021): its settings, by preset, and the learner they make."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from gyrfalcon.core.epochs import Epoch, PassiveDesign
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import History, Log
from gyrfalcon.core.schedules import Doubling, Geometric, Schedule
from gyrfalcon.core.validation import (
    check_choice,
    check_delta,
    check_epsilon,
    check_flag,
    check_optional,
    check_parts,
    check_rates,
    check_whole,
    is_number,
)
from gyrfalcon.learners.adaptive.class_learner import ClassChoosing
from gyrfalcon.learners.adaptive.learner import (
    C_GAMMA,
    FIRST_REFIT,
    FIRST_SHARE,
    LONGEST,
    REFIT_RATIO,
    Gating,
    Practical,
    Sharing,
)
from gyrfalcon.learners.adaptive.model_classes import ClassChoice, checked_classes
from gyrfalcon.learners.algorithm_one import AlgorithmOne, SlackRule
from gyrfalcon.learners.steps import Data
from gyrfalcon.learners.sums import Sums
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.protocol import ModelClass
from gyrfalcon.theory import C_LINEAR, c_3

Preset = Literal["paper", "calibrated", "practical"]

_OF_PRACTICE = ("bonus", "decay", "floor", "gate", "half_life", "classes")
_OF_THE_PAPER = ("slack", "c_beta", "monotone_gamma", "C", "rho", "rho_prime", "comp")
"""Settings that only one of the two algorithms has."""
_OF_BOTH = ("passive_design", "passive_data", "data")


@dataclass(frozen=True, slots=True, kw_only=True)
class EpsilonFalcon:
    """Epochs of inverse gap weighting with a passive share, kept close to what passive rows support.

    Preset "practical" is what wins on real data: fits of all rows, quick refits, an optimism bonus, a passive
    share that decays, model classes chosen from the data, and a constraint that plays while it is known to
    earn more. Presets "paper" and "calibrated" are Algorithm 1 as printed: "paper" with the Appendix's
    constants, nearly uniform play with a constraint that does not bind for 1e8 rounds and more, "calibrated"
    with a slack from the noise and a fixed gamma constant. The theorem covers "paper" alone, and of that only
    convex classes with values in [0, 1]: `Linear` is unbounded. A setting left at None is the preset's.

    Parameters
    ----------
    preset
        "paper", "calibrated" or "practical". None is "practical", or "calibrated" if F is not linear or
        something else is given that is Algorithm 1's: slack, c_beta, monotone_gamma, C, rho, rho_prime, comp,
        or data="last_epoch".
    epsilon
        Passive share (epsilon), in [0, 0.5): 0.05 in Algorithm 1, where 0 is FALCON, without constraint; 0.03
        in the first round of "practical", from where it decays. "corollary": that of Corollary 1 at an
        estimate of b from passive rows; above three features these only bound b, and the share is moved into
        the range of the bounds, in "practical" to its lower end, while a linear model plays. "auto":
        "corollary" in Algorithm 1; in "practical" the default, with more passive rows while the gate is open.
    delta
        Confidence (delta), in (0, .49].
    tau_1
        Rounds of the first epoch (tau_1 >= 4): 4 in "paper", 100 in "calibrated", 16 in "practical".
    c_gamma
        gamma_m over sqrt(K n^rho / (ln^rho' n ln((m-1)/delta) comp)): sqrt(C_3) in "paper", 10 in
        "calibrated". Any other value than sqrt(C_3) leaves the theorem's constants, not its form. In
        "practical" gamma over the root of the rows: 1000.
    slack
        Algorithm 1: rule of beta_m. "paper": C_1 ln^rho'(n') ln(12 m^2/delta) comp / n'^rho. "calibrated":
        the same with c_beta sigma^2 for C_1. "chi_square" and "sandwich": the noise quantile of the best
        in-class model's excess, the latter for rewards of unequal variance. All but "paper" keep that model
        feasible asymptotically, not with the theorem's finite-sample certainty.
    c_beta
        Algorithm 1: scale of the calibrated slack, .5.
    passive_design
        "tail" as printed, or as in "practical" "coin": passive rounds interleaved. Equivalent over whole
        epochs that are long; of a short one the tail has at least one round. The proof is for the tail.
    passive_data, data
        "last_epoch" as printed, or as in "practical" "all": rows of all epochs in the constraint, in the
        objective. Cumulative passive rows are still iid, so the constraint keeps its meaning; "all" active
        data mixes policies, which leaves the theorem. "practical" would fit lines alone to short epochs.
    monotone_gamma
        Algorithm 1: never lower gamma; False. The printed gamma_3 alone is below gamma_2, against a step of
        the proof (the bound on V of all policies); keeping gamma_2 mends that step, and strains the one that
        wants gamma_3 small enough for the rows behind it (Lemma reg-est-accuracy).
    C, rho, rho_prime, comp
        Algorithm 1: Assumption 1's C, rho, rho' and comp(F): 131072 / ln 2, 1, 0 and d, the coefficients of
        all actions, as a linear class has them.
    schedule
        When epochs end: at doublings, as the theorem needs, or in "practical" at a ratio of 1.1, and after
        200 rounds at the latest.
    model_class
        F, with its features, basis and ridge; "practical" has a ridge of 1 unless F has its own.
    bonus
        "practical": scale of the optimism bonus, in units of the residual deviation; 0 for none.
    decay, floor
        "practical": the passive share falls with the rounds t as t^-decay, and not below the floor.
    gate
        "practical": whether the constrained fit plays by its "value", "always" or "never".
    half_life
        "practical": rows after which a row counts half, for environments that change; None for ever.
    classes
        "practical": "auto", "auto_trees", or names among "linear", "quadratic", "splines", "fourier" and
        "trees", or linear classes with a basis. The one plays that foretells rewards best. Just F if given.

    Examples
    --------
    >>> EpsilonFalcon().preset_in_force, EpsilonFalcon(c_beta=0.1).preset_in_force
    ('practical', 'calibrated')
    """

    reads_history: ClassVar[bool] = False
    preset: Preset | None = None
    epsilon: float | Literal["auto", "corollary"] | None = None
    delta: float = 0.05
    tau_1: int | None = None
    c_gamma: float | None = None
    slack: SlackRule | None = None
    c_beta: float | None = None
    passive_design: Literal["tail", "coin"] | PassiveDesign | None = None
    passive_data: Data | None = None
    data: Data | None = None
    monotone_gamma: bool | None = None
    C: float | None = None
    rho: float | None = None
    rho_prime: float | None = None
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
        if isinstance(self.classes, AbstractSet):
            raise ValueError(f"classes is {self.classes!r}, which has no order; give a list.")  # noqa: TRY004
        if not isinstance(self.classes, str | Linear) and isinstance(self.classes, Iterable):
            object.__setattr__(self, "classes", tuple(self.classes))  # settings are hashable
        check_choice("preset", self.preset, (None, *get_args(Preset)))
        check_parts(self.model_class, self.schedule or Doubling())
        self._check_preset()
        self._check_values()
        if self.schedule is not None and self.tau_1 is not None:
            raise ValueError(f"tau_1 is {self.tau_1} and there is a schedule as well; give one of them.")
        if self.slack == "sandwich" and not isinstance(self.model_class, Linear):
            raise ValueError(
                f"slack is 'sandwich' and model_class {type(self.model_class).__name__}; the sandwich "
                "needs the coefficients of a linear class, so choose another rule, like 'calibrated'."
            )
        self.algorithm  # noqa: B018 - bad settings of its own are refused here, not at the first decision

    def _check_preset(self) -> None:
        """Refuse settings that the preset has no use for: somebody thinks that they do something."""
        preset = self.preset_in_force
        if preset == "practical" and not isinstance(self.model_class, Linear):
            raise ValueError(
                f"preset is 'practical' and model_class {type(self.model_class).__name__}; its bonus needs "
                "the confidence widths of a linear class, so choose preset='calibrated'."
            )
        other = "calibrated" if preset == "practical" else "practical"
        inert = self._given(*(_OF_THE_PAPER if preset == "practical" else _OF_PRACTICE))
        for name, value in inert.items():
            useless = f"{name} is {value!r}, which preset {preset!r} has no use for"
            if self.preset is None:
                raise ValueError(f"{useless}, and {self._cause} asks for it; leave one of them out.")
            raise ValueError(f"{useless}; leave it out, or choose preset={other!r}.")

    def _check_values(self) -> None:
        check_choice("slack", self.slack, (None, *get_args(SlackRule)))
        check_choice("passive_design", self.passive_design, (None, "tail", "coin", *PassiveDesign))
        for name in ("passive_data", "data"):
            check_choice(name, getattr(self, name), (None, *get_args(Data)))
        if self.monotone_gamma is not None:
            check_flag("monotone_gamma", self.monotone_gamma)
        if isinstance(self.epsilon, str) and self.epsilon not in {"auto", "corollary"}:
            raise ValueError(f"epsilon is {self.epsilon!r}; give a share in [0, .5), 'auto' or 'corollary'.")
        check_epsilon(self.passive_share)
        check_delta(self.delta)
        if self.tau_1 is not None:
            check_whole("tau_1", self.tau_1, 4)
        for name in ("c_gamma", "c_beta", "C", "comp"):
            check_optional(name, getattr(self, name))
        check_rates(1.0 if self.rho is None else self.rho, 0.0 if self.rho_prime is None else self.rho_prime)

    def _given(self, *names: str) -> dict[str, Any]:
        """The settings among these that are not left to the preset."""
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    @property
    def _cause(self) -> str | None:
        """The first setting that only Algorithm 1 has, or has a use for, if one is given."""
        if not isinstance(self.model_class, Linear):
            return f"model_class {type(self.model_class).__name__}"
        if self.data == "last_epoch" and not self._given(*_OF_PRACTICE):
            return "data"
        return next(iter(self._given(*_OF_THE_PAPER)), None)

    @property
    def preset_in_force(self) -> Preset:
        """The preset, by the other settings where it is None."""
        return self.preset or ("practical" if self._cause is None else "calibrated")

    @property
    def algorithm(self) -> AlgorithmOne | Practical | ClassChoosing:
        """The learner that these settings make."""
        return self.practical if self.preset_in_force == "practical" else self.printed

    @property
    def printed(self) -> AlgorithmOne:
        """The learner of presets "paper" and "calibrated"."""
        rule = {"slack": "paper"} if self.preset == "paper" else {}
        return AlgorithmOne(
            **rule | self._given(*_OF_BOTH, *_OF_THE_PAPER),
            epsilon=self.passive_share,
            sharing="corollary" if isinstance(self.epsilon, str) else "fixed",
            delta=self.delta,
            c_gamma=self.c_gamma_value,
            schedule=self.epoch_schedule,
            model_class=self.model_class,
        )

    @property
    def practical(self) -> Practical | ClassChoosing:
        """The learner of preset "practical"."""
        assert isinstance(self.model_class, Linear)
        sharing: Sharing = "fixed" if is_number(self.epsilon) else "gate"
        linear = Practical(
            **self._given("c_gamma", "bonus", "decay", "floor", "gate", "half_life", *_OF_BOTH),
            epsilon=self.passive_share,
            sharing="corollary" if self.epsilon == "corollary" else sharing,
            delta=self.delta,
            schedule=self.epoch_schedule,
            model_class=self.model_class,
        )
        default = "auto" if self.model_class == Linear() and self.data != "last_epoch" else "linear"
        classes = checked_classes(default if self.classes is None else self.classes)
        others = tuple(one for one in classes if one != "linear")
        if not others:
            return linear
        if self.data == "last_epoch":
            raise ValueError(
                f"data is 'last_epoch' and classes {self.classes!r}; only the linear class can be fitted to "
                "the last epoch's rows alone, so choose classes='linear' or data='all'."
            )
        return ClassChoosing(practical=linear, others=others, with_linear="linear" in classes)

    @property
    def passive_share(self) -> float:
        """The passive share in force, of the first round where it changes."""
        if self.epsilon is None or isinstance(self.epsilon, str):
            return FIRST_SHARE if self.preset_in_force == "practical" else 0.05
        return self.epsilon

    @property
    def epoch_schedule(self) -> Schedule:
        """The schedule in force."""
        if self.schedule is not None:
            return self.schedule
        if self.preset_in_force == "practical":
            return Geometric(self.tau_1 or FIRST_REFIT, REFIT_RATIO, longest=LONGEST)
        return Doubling(self.tau_1 or (4 if self.preset == "paper" else 100))

    @property
    def c_gamma_value(self) -> float:
        """The scale of gamma in force; in preset "practical" it is over the root of the rows."""
        if self.c_gamma is not None:
            return self.c_gamma
        if self.preset == "paper":
            C, rho = C_LINEAR if self.C is None else self.C, 1.0 if self.rho is None else self.rho
            return math.sqrt(c_3(C, rho))
        return C_GAMMA if self.preset_in_force == "practical" else 10.0

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        """Epoch 1, uniform (f_1 = 0) unless a log warms it up."""
        return self.algorithm.start(problem, log)

    def next_epoch(self, epoch: Epoch, log: Log, *, history: History) -> Epoch:
        """The epoch after this one, by what these rows say."""
        return self.algorithm.next_epoch(epoch, log, history=history)

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired."""
        return self.algorithm.adapt(epoch, problem)

    def can_sum(self, epoch: Epoch) -> bool:
        """Whether sums of the epoch's rows will do, as they do for Algorithm 1 with a linear class."""
        algorithm = self.algorithm
        return isinstance(algorithm, AlgorithmOne) and algorithm.can_sum(epoch)

    def sums(self, epoch: Epoch, log: Log, before: Sums | None = None) -> Sums:
        """Active and passive rows, with these."""
        return self.printed.sums(epoch, log, before)

    def next_from(self, epoch: Epoch, sums: Sums) -> Epoch:
        """The next epoch, given the active and the passive rows."""
        return self.printed.next_from(epoch, sums)

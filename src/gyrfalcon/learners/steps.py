"""Shared steps of learners that refit at epoch ends: state, sufficient statistics and epoch turnover."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, Protocol, runtime_checkable

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.epochs import Epoch, PassiveDesign
from gyrfalcon.core.fit_report import FitReport
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, UniformPolicy
from gyrfalcon.core.policies.kernels import InverseGapWeighting, Kernel, LogBarrierWeighting
from gyrfalcon.core.policies.untried import TryingKernel
from gyrfalcon.core.records import Log
from gyrfalcon.core.schedules import Schedule
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.learners.reward_scale import NOTHING_SEEN, RewardScale, in_spreads
from gyrfalcon.oracles.linear.linear import LinearOracle
from gyrfalcon.oracles.protocol import AnyOracle, ModelClass, RewardModel, Summary
from gyrfalcon.oracles.solvers.moments import Moments

Data = Literal["last_epoch", "all"]
"""Rows to fit: those since the last fit, or all so far."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """State of a regression learner between epochs; the oracle is fixed by the first rows."""

    problem: Problem
    oracle: AnyOracle | None = None
    active: Summary | None = None
    passive: Summary | None = None
    scatter: Floats | None = None
    model: RewardModel | None = None
    """Of rewards in units of the scale."""
    scale: RewardScale = NOTHING_SEEN


@dataclass(frozen=True, slots=True)
class Sums:
    """Sufficient statistics of an epoch's rows, on top of earlier epochs' where those are fitted too."""

    oracle: AnyOracle
    active: Summary | None
    passive: Summary | None  # None where passive rows are not distinguished
    n_new: int  # rows of this epoch
    scale: RewardScale = NOTHING_SEEN

    def both(self) -> tuple[Summary, Summary]:
        """Active and passive rows; the summary of no rows where there are none."""
        return self.active or self.oracle.empty(), self.passive or self.oracle.empty()


@runtime_checkable
class Summing(Protocol):
    """A learner that can be given an epoch's rows in parts."""

    def can_sum(self, epoch: Epoch) -> bool:
        """Whether this epoch's rows may come in parts; the first rows fix the features and come at once."""
        ...

    def sums(self, epoch: Epoch, log: Log, before: Sums | None = None) -> Sums:
        """Sufficient statistics with these rows, after those of earlier parts."""
        ...

    def next_from(self, epoch: Epoch, sums: Sums) -> Epoch:
        """The epoch after this one, as `next_epoch` would make it of all these rows."""
        ...


@dataclass(frozen=True, slots=True)
class SampleSize:
    """Sample sizes by which exploration is scaled."""

    n: float
    """Number of rows of the fit."""
    n_new: int
    """Number of rows since the last fit."""
    n_actions: int
    n_parameters: int
    index: int
    """m, the index of the next epoch."""


def fitted_state(epoch: Epoch) -> Fitted:
    """State of an epoch that a regression learner made."""
    if not isinstance(epoch.state, Fitted):
        raise TypeError(
            f"epoch {epoch.index} carries {type(epoch.state).__name__}; give the learner its own epochs."
        )
    return epoch.state


def first_epoch(
    problem: Problem,
    schedule: Schedule,
    model_class: ModelClass,
    share: float = 0.0,
    design: PassiveDesign = PassiveDesign.TAIL,
    *,
    literal: bool = False,
) -> Epoch:
    """Epoch 1, uniform (f_1 = 0); ValueError for a model class that can't fit the problem's features."""
    model_class.check(problem.features.width, problem.action_features.width)
    everyone = UniformPolicy(problem.n_actions)
    return Epoch(
        index=1,
        start=0,
        stop=schedule.end(1),
        policy=everyone,
        passive_policy=everyone,
        passive_share=share,
        passive_design=design,
        state=Fitted(
            problem,
            scale=RewardScale.of(
                problem, literal=literal, anchored=bool(getattr(model_class, "intercept", True))
            ),
        ),
    )


def carried_over(epoch: Epoch, schedule: Schedule, why: str = "no rewards came in") -> Epoch:
    """The next epoch without new rows: policy and state are carried over."""
    gamma = 0.0 if epoch.report is None else epoch.report.gamma
    note = f"{why}; the policy is unchanged"
    report = FitReport(n_active=0.0, n_passive=0.0, gamma=gamma, notes=(note,))
    return epoch.successor(schedule, policy=epoch.policy, state=epoch.state, report=report)


def warm_started(learner: Learner, cold: Epoch, log: Log | None) -> Epoch:
    """Epoch 1 on the first epoch's clock, with a fit to a log of earlier decisions if there is one."""
    if log is None or len(log) == 0:
        return cold
    warm = learner.next_epoch(cold, log)
    return replace(warm, index=cold.index, start=cold.start, stop=cold.stop)


def refit(
    epoch: Epoch,
    log: Log,
    *,
    schedule: Schedule,
    model_class: ModelClass,
    kernel: Callable[[SampleSize], Kernel],
    tries_unknown: bool = False,
) -> Epoch:
    """The next epoch: a regression of all rows so far, its scores played by the kernel for this sample size.

    `tries_unknown` is for kernels that would otherwise never try an action without data, or nothing else.
    """
    if len(log) == 0:
        return carried_over(epoch, schedule)
    state = fitted_state(epoch)
    scale, rows = state.scale.converted(log)
    oracle = oracle_for(state, model_class, rows)
    sums = Sums(oracle, summed(oracle, rows, state.active, penalised=True), None, len(log), scale)
    return refit_from_sums(epoch, sums, schedule=schedule, kernel=kernel, tries_unknown=tries_unknown)


def refit_from_sums(
    epoch: Epoch,
    sums: Sums,
    *,
    schedule: Schedule,
    kernel: Callable[[SampleSize], Kernel],
    tries_unknown: bool = False,
) -> Epoch:
    """The next epoch: a regression of these rows, its scores played by the kernel for this sample size."""
    state, oracle, (rows, _) = fitted_state(epoch), sums.oracle, sums.both()
    model, report = oracle.fit(rows, oracle.empty(), previous=state.model)
    chosen = kernel(
        SampleSize(rows.n, sums.n_new, state.problem.n_actions, oracle.n_parameters, epoch.index + 1)
    )
    tried = TryingKernel(chosen, model.known) if tries_unknown else chosen
    scale = sums.scale
    return epoch.successor(
        schedule,
        policy=KernelPolicy(in_spreads(model, scale), tried),
        state=replace(state, oracle=oracle, active=rows, model=model, scale=scale),
        report=in_units_of_log(replace(report, gamma=gamma_of(chosen)), scale),
    )


def in_units_of_log(report: FitReport, scale: RewardScale) -> FitReport:
    """A report of a fit with its squared errors in the log's units, and the unit of exploration."""
    square = (scale.unit or 1.0) ** 2
    literal = ("rewards are in units of the reward range, as the paper's constants need",)
    return replace(
        report,
        details=(*report.details, *(literal if scale.literal else ())),
        alpha=square * report.alpha,
        slack=square * report.slack,
        excess=square * report.excess,
        reward_unit=scale.reward_unit,
    )


def oracle_for(state: Fitted, model_class: ModelClass, log: Log) -> AnyOracle:
    """The oracle of the state, or a new one for the first rows."""
    return state.oracle or model_class.oracle(log.contexts, state.problem.n_actions)


def gamma_of(kernel: Kernel) -> float:
    """The gamma of a kernel that has one, else 0."""
    return kernel.gamma if isinstance(kernel, InverseGapWeighting | LogBarrierWeighting) else 0.0


def summed(oracle: AnyOracle, log: Log, onto: Summary | None, *, penalised: bool = False) -> Summary:
    """The summary of these rows on top of earlier ones; `penalised` if only a ridge fit is made."""
    if onto is not None and len(log) == 0:
        return onto
    if isinstance(oracle, LinearOracle) and (onto is None or isinstance(onto, Moments)):
        return oracle.summed(log, onto, penalised=penalised)
    new: Summary = oracle.summarise(log)
    return new if onto is None else onto + new

"""What learners that refit at epoch ends have in common: the state they carry and the epochs they open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.epochs import Epoch, PassiveDesign
from gyrfalcon.core.fit_report import FitReport
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, Policy, TryingKernel, UniformPolicy
from gyrfalcon.core.policies.kernels import InverseGapWeighting, Kernel, LogBarrierWeighting
from gyrfalcon.core.records import Log
from gyrfalcon.core.schedules import Schedule
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.learners.sums import Sums, summed
from gyrfalcon.oracles.protocol import AnyOracle, ModelClass, RewardModel, Summary

Data = Literal["last_epoch", "all"]
"""Which rows are fitted: those that came in since the last fit, or all so far."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """What a regression learner carries from epoch to epoch; the oracle is fixed by the first rows."""

    problem: Problem
    oracle: AnyOracle | None = None
    active: Summary | None = None
    passive: Summary | None = None
    scatter: Floats | None = None
    model: RewardModel | None = None


@dataclass(frozen=True, slots=True)
class Size:
    """What exploration is scaled by."""

    n: float
    """Rows of the fit."""
    n_new: int
    """Rows that came in since the fit before."""
    n_actions: int
    n_parameters: int
    index: int
    """m, the number of the epoch that will play the fit."""


def fitted_state(epoch: Epoch) -> Fitted:
    """The state of an epoch that one of these learners made."""
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
) -> Epoch:
    """Epoch 1: no model yet (f_1 = 0), so every action alike; a class that can't fit is refused at once."""
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
        state=Fitted(problem),
    )


def successor(
    epoch: Epoch, schedule: Schedule, *, policy: Policy, state: object, report: FitReport | None
) -> Epoch:
    """The next epoch: as long as the schedule says, starting where this one was planned to stop."""
    length = schedule.end(epoch.index + 1) - schedule.end(epoch.index)
    return replace(
        epoch,
        index=epoch.index + 1,
        start=epoch.stop,
        stop=epoch.stop + length,
        policy=policy,
        state=state,
        report=report,
    )


def unchanged(epoch: Epoch, schedule: Schedule, why: str = "no rewards came in") -> Epoch:
    """The next epoch when there is nothing to learn from: the same policy and state."""
    gamma = 0.0 if epoch.report is None else epoch.report.gamma
    note = f"{why}; the policy stays as it was"
    report = FitReport(n_active=0.0, n_passive=0.0, gamma=gamma, notes=(note,))
    return successor(epoch, schedule, policy=epoch.policy, state=epoch.state, report=report)


def started(learner: Learner, cold: Epoch, log: Log | None) -> Epoch:
    """Epoch 1: as it is, or with what the learner fits on a log, on the first epoch's clock."""
    if log is None or len(log) == 0:
        return cold
    warm = learner.next_epoch(cold, log)
    return replace(warm, index=cold.index, start=cold.start, stop=cold.stop)


def advanced(
    epoch: Epoch,
    log: Log,
    *,
    schedule: Schedule,
    model_class: ModelClass,
    kernel: Callable[[Size], Kernel],
    tries_unknown: bool = False,
) -> Epoch:
    """The next epoch: an ordinary regression of all rows so far, played by the kernel that its size asks for.

    `tries_unknown` is for kernels that would otherwise never try an action without data, or nothing else.
    """
    if len(log) == 0:
        return unchanged(epoch, schedule)
    state = fitted_state(epoch)
    oracle = oracle_for(state, model_class, log)
    sums = Sums(oracle, summed(oracle, log, state.active, penalised=True), None, len(log))
    return regressed(epoch, sums, schedule=schedule, kernel=kernel, tries_unknown=tries_unknown)


def regressed(
    epoch: Epoch,
    sums: Sums,
    *,
    schedule: Schedule,
    kernel: Callable[[Size], Kernel],
    tries_unknown: bool = False,
) -> Epoch:
    """The next epoch: an ordinary regression of these rows, played by the kernel that its size asks for."""
    state, oracle, (rows, _) = fitted_state(epoch), sums.oracle, sums.both()
    model, report = oracle.fit(rows, oracle.empty(), previous=state.model)
    played = kernel(Size(rows.n, sums.n_new, state.problem.n_actions, oracle.n_parameters, epoch.index + 1))
    tried = TryingKernel(played, model.known) if tries_unknown else played
    return successor(
        epoch,
        schedule,
        policy=KernelPolicy(model, tried),
        state=replace(state, oracle=oracle, active=rows, model=model),
        report=replace(report, gamma=gamma_of(played)),
    )


def oracle_for(state: Fitted, model_class: ModelClass, log: Log) -> AnyOracle:
    """The oracle that the first rows fixed, or the one that these rows fix."""
    return state.oracle or model_class.oracle(log.contexts, state.problem.n_actions)


def gamma_of(kernel: Kernel) -> float:
    """The gamma of a kernel that has one, else 0."""
    return kernel.gamma if isinstance(kernel, InverseGapWeighting | LogBarrierWeighting) else 0.0

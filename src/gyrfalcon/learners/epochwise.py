"""What learners that refit at epoch ends have in common: the state they carry and the epochs they open."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gyrfalcon.core.epochs import Epoch, PassiveDesign
from gyrfalcon.core.policies import KernelPolicy, Policy, Scorer, UniformPolicy
from gyrfalcon.core.problems import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.core.reports import FitReport
from gyrfalcon.core.schedules import Schedule
from gyrfalcon.core.types import Floats
from gyrfalcon.oracles.constrained import ConstrainedFit
from gyrfalcon.oracles.linear import Linear, LinearModel, LinearOracle
from gyrfalcon.oracles.models import JointModel, PerActionModel
from gyrfalcon.oracles.moments import Moments

Data = Literal["last epoch", "all"]


@dataclass(frozen=True, slots=True)
class Fitted:
    """What a regression learner carries from epoch to epoch; the oracle is fixed by the first rows."""

    problem: Problem
    oracle: LinearOracle | None = None
    active: Moments | None = None
    passive: Moments | None = None
    scatter: Floats | None = None
    model: LinearModel | None = None


def fitted_state(epoch: Epoch) -> Fitted:
    """The state of an epoch that one of these learners made."""
    if not isinstance(epoch.state, Fitted):
        raise TypeError(
            f"epoch {epoch.index} carries {type(epoch.state).__name__}; give the learner its own epochs."
        )
    return epoch.state


def first_epoch(
    problem: Problem, schedule: Schedule, share: float = 0.0, design: PassiveDesign = PassiveDesign.TAIL
) -> Epoch:
    """Epoch 1: no model yet (f_1 = 0), so every action alike."""
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


def unchanged(epoch: Epoch, schedule: Schedule) -> Epoch:
    """The next epoch when no reward has come in: the same policy and state."""
    report = FitReport(n_active=0.0, n_passive=0.0, notes=("no rewards came in; the policy stays as it was",))
    return successor(epoch, schedule, policy=epoch.policy, state=epoch.state, report=report)


def warmed(cold: Epoch, warm: Epoch) -> Epoch:
    """Epoch 1 of a warm start: what was fitted on the log, on the first epoch's clock."""
    return replace(warm, index=cold.index, start=cold.start, stop=cold.stop)


def oracle_for(state: Fitted, model_class: Linear, log: Log) -> LinearOracle:
    """The oracle that the first rows fixed, or the one that these rows fix."""
    return state.oracle or model_class.oracle(log.contexts, state.problem.n_actions)


def accumulated(data: Data, before: Moments | None, new: Moments) -> Moments:
    """The rows to fit on: the new ones, or all so far."""
    return new if data == "last epoch" or before is None else before + new


def report_of(fit: ConstrainedFit, gamma: float = 0.0) -> FitReport:
    """The fit report of a constrained fit."""
    notes: tuple[str, ...] = ()
    if not fit.accurate:
        notes = (
            f"condition {fit.condition:.1e}: predictions may be off by more than 1e-8; "
            "drop or rescale nearly collinear features, or set a ridge",
        )
    return FitReport(
        n_active=fit.n_active,
        n_passive=fit.n_passive,
        gamma=gamma,
        alpha=fit.alpha,
        slack=fit.slack,
        excess=fit.excess,
        multiplier=fit.multiplier,
        binding=fit.binding,
        condition=fit.condition,
        accurate=fit.accurate,
        notes=notes,
    )


def adapted(epoch: Epoch, problem: Problem) -> Epoch:
    """The epoch for a problem with actions added or retired: what is known of the others stays."""
    state = fitted_state(epoch)
    source = [_index_or_none(state.problem, label) for label in problem.actions]
    everyone = UniformPolicy(problem.n_actions)
    if state.oracle is None or state.model is None:
        return replace(epoch, policy=everyone, passive_policy=everyone, state=replace(state, problem=problem))
    oracle = state.oracle.reindexed(problem.n_actions)
    model = _reindexed_model(state.model, source, oracle)
    state = replace(
        state,
        problem=problem,
        oracle=oracle,
        model=model,
        active=_reindexed_moments(state.active, source, oracle),
        passive=_reindexed_moments(state.passive, source, oracle),
        scatter=None,
    )
    return replace(epoch, policy=_with_scorer(epoch.policy, model), passive_policy=everyone, state=state)


def _with_scorer(policy: Policy, model: Scorer) -> Policy:
    return replace(policy, scorer=model) if isinstance(policy, KernelPolicy) else policy


def _index_or_none(problem: Problem, label: object) -> int:
    """Where the action was, or -1 for a new one."""
    return problem.actions.index(label) if label in problem.actions else -1


def _reindexed_moments(moments: Moments | None, source: list[int], oracle: LinearOracle) -> Moments | None:
    if moments is None or oracle.design.n_blocks == 1:
        return moments if moments is None or moments.gram.shape[1] == oracle.design.block_width else None
    return moments.take(source)


def _reindexed_model(model: LinearModel, source: list[int], oracle: LinearOracle) -> LinearModel:
    old = np.array(source)
    was_known = np.ones(old.max() + 1, dtype=np.bool_) if model.known is None else model.known
    known = (old >= 0) & was_known[old]
    seen = None if known.all() else known
    if isinstance(model, PerActionModel):
        return replace(
            model,
            weights=np.ascontiguousarray(model.weights[old]),
            intercepts=np.ascontiguousarray(model.intercepts[old]),
            known=seen,
        )
    if model.joint.ndim == 1 and model.own is None:
        return replace(model, design=oracle.design)
    own = None if model.own is None else np.ascontiguousarray(model.own[old])
    joint = model.joint if model.joint.ndim == 1 else np.ascontiguousarray(model.joint[old])
    return JointModel(oracle.design, joint, own, seen)

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
from gyrfalcon.core.types import Bools, Floats, Ints
from gyrfalcon.oracles.constrained import ConstrainedFit
from gyrfalcon.oracles.features import Design, Layout
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
    gamma = 0.0 if epoch.report is None else epoch.report.gamma
    note = "no rewards came in; the policy stays as it was"
    report = FitReport(n_active=0.0, n_passive=0.0, gamma=gamma, notes=(note,))
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
    source = sources(state.problem, problem)
    everyone = UniformPolicy(problem.n_actions)
    if state.oracle is None or state.model is None:
        return replace(epoch, policy=everyone, passive_policy=everyone, state=replace(state, problem=problem))
    before, oracle = state.oracle, state.oracle.reindexed(problem.n_actions)
    model = reindexed_model(state.model, source, oracle)
    passive, scatter = _reindexed_passive(state, source)
    state = replace(
        state,
        problem=problem,
        oracle=oracle,
        model=model,
        active=None if state.active is None else reindexed_moments(state.active, source, before.design),
        passive=passive,
        scatter=scatter,
    )
    return replace(epoch, policy=_with_scorer(epoch.policy, model), passive_policy=everyone, state=state)


def sources(before: Problem, after: Problem) -> Ints:
    """Where each action was in the problem before, (K,); -1 for a new one."""
    return np.array([before.actions.index(a) if a in before.actions else -1 for a in after.actions])


def _with_scorer(policy: Policy, model: Scorer) -> Policy:
    return replace(policy, scorer=model) if isinstance(policy, KernelPolicy) else policy


def _reindexed_passive(state: Fitted, source: Ints) -> tuple[Moments | None, Floats | None]:
    """Passive rows and the scatter of their residuals, which goes through the same change of columns."""
    passive, scatter, oracle = state.passive, state.scatter, state.oracle
    if passive is None or oracle is None:
        return None, None
    moved = reindexed_moments(passive, source, oracle.design)
    if scatter is None or oracle.design.layout is Layout.SHARED:
        return moved, scatter
    if oracle.design.layout is Layout.PER_ACTION:
        return moved, scatter[source] * (source >= 0)[:, np.newaxis, np.newaxis]
    change, _ = _without_retired(passive, source, oracle.design)
    return moved, change @ scatter @ change.T


def reindexed_moments(moments: Moments, source: Ints, before: Design) -> Moments:
    """The rows as seen by a problem in which action k was action source[k] before, -1 if it is new."""
    if before.layout is Layout.SHARED:
        return moments
    if before.layout is Layout.PER_ACTION:
        return moments.take(source)
    change, level = _without_retired(moments, source, before)
    moved = moments.transformed(change)
    explained = np.einsum("bd,d->b", moments.cross, level)
    root = moved.root
    if root is not None and moments.root is not None:
        rewards = moments.root[:, :, -1:] - moments.root[:, :, :-1] @ level[:, np.newaxis]
        root = np.concatenate([root[:, :, :-1], rewards], axis=2)
    return replace(moved, squares=np.maximum(moved.squares - explained, 0.0), root=root)


def _without_retired(moments: Moments, source: Ints, before: Design) -> tuple[Floats, Floats]:
    """The change of columns that fits retired actions' own coefficients away, and their fit, (d',d) and (d,).

    Rows of a retired action still tell of the shared coefficients, once its own have taken what they explain.
    """
    columns = before.columns_from(source)
    select = (columns[:, np.newaxis] == np.arange(before.block_width)).astype(np.float64)
    gone = ~select.any(axis=0)
    gram = moments.gram[0]
    inverse = np.zeros_like(gram)
    inverse[np.ix_(gone, gone)] = np.linalg.pinv(gram[np.ix_(gone, gone)], rcond=1e-12, hermitian=True)
    return select - select @ gram @ inverse, inverse @ moments.cross[0]


def reindexed_model(model: LinearModel, source: Ints, oracle: LinearOracle) -> LinearModel:
    """The model in which action k scores as action source[k] did, and a new one (-1) is unknown."""
    if isinstance(model, PerActionModel):
        return replace(
            model,
            weights=_rows_from(model.weights, source),
            intercepts=_rows_from(model.intercepts, source),
            known=_still_known(model.known, source),
        )
    own = None if model.own is None else _rows_from(model.own, source)
    joint = model.joint if model.joint.ndim == 1 else _rows_from(model.joint, source)
    has_rows = own is not None or joint.ndim == 2
    return JointModel(oracle.design, joint, own, _still_known(model.known, source) if has_rows else None)


def _rows_from(rows: Floats, source: Ints) -> Floats:
    return np.ascontiguousarray(rows[source] * (source >= 0)[:, np.newaxis])


def _still_known(known: Bools | None, source: Ints) -> Bools | None:
    still = source >= 0 if known is None else (source >= 0) & known[source]
    return None if still.all() else still

"""What practical play carries from epoch to epoch, and what it says of each."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.fit_report import FitReport
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.learners import action_changes
from gyrfalcon.learners.adaptive.gate_fits import NAMES, Evidence
from gyrfalcon.learners.adaptive.value_gate import ValueGate
from gyrfalcon.oracles.linear.linear import LinearOracle
from gyrfalcon.oracles.linear.models import LinearModel
from gyrfalcon.oracles.solvers.constrained import ConstrainedFit
from gyrfalcon.oracles.solvers.least_squares import LinearFit


@dataclass(frozen=True, slots=True)
class Played:
    """What is carried from epoch to epoch."""

    problem: Problem
    oracle: LinearOracle | None = None
    evidence: Evidence | None = None
    model: LinearModel | None = None  # the pooled fit, by which the gate's gains are measured
    gate: ValueGate = field(default_factory=lambda: ValueGate(NAMES))
    n_seen: int = 0  # rows, forgotten or not
    passive_weights: Floats | None = None  # (K,) of the passive rows in the fit
    passive: Log | None = None  # the latest of the passive rows, kept where b is estimated
    n_passive: float = 0.0  # what they and earlier ones weigh
    asked: float | None = None  # the share that b asked for when it was estimated last
    why: str = ""


def played_state(epoch: Epoch) -> Played:
    """The state of an epoch that this learner made."""
    if not isinstance(epoch.state, Played):
        raise TypeError(
            f"epoch {epoch.index} carries {type(epoch.state).__name__}; give the learner its own epochs."
        )
    return epoch.state


def reindexed(state: Played, problem: Problem) -> Played:
    """What is known, for a problem with actions added or retired."""
    assert state.oracle is not None
    assert state.evidence is not None
    source, before = action_changes.sources(state.problem, problem), state.oracle
    oracle, given = before.reindexed(problem.n_actions), state.evidence
    gate = replace(
        state.gate, models=tuple(oracle.reindexed_model(model, source) for model in state.gate.models)
    )
    weights = state.passive_weights
    return replace(
        state,
        passive_weights=None if weights is None else np.where(source >= 0, weights[source], 0.0),
        problem=problem,
        oracle=oracle,
        evidence=Evidence(
            before.reindexed_summary(given.rows, source),
            before.reindexed_summary(given.passive, source),
            before.reindexed_summary(given.weighted, source),
            given.passive_squares,
        ),
        model=None if state.model is None else oracle.reindexed_model(state.model, source),
        gate=gate,
        passive=None if state.passive is None else action_changes.renumbered(state.passive, source),
    )


def report_of(
    after: Played, fit: LinearFit, constrained: ConstrainedFit | None, gamma: float, *, is_free: bool
) -> FitReport:
    """The report of an epoch that was fitted so; `constrained` is given where that fit was made anew.

    Passive rows are those of the constraint, where play is not free of it for good.
    """
    assert after.evidence is not None
    in_fit = 0.0 if after.passive_weights is None else float(after.passive_weights.sum())
    report = FitReport(
        n_active=after.evidence.rows.n - in_fit,
        n_passive=in_fit if is_free else after.evidence.passive.n,
        gamma=gamma,
        condition=fit.condition,
        accurate=fit.accurate,
        details=(*((after.why,) if after.why else ()), *after.gate.lines()),
    )
    if constrained is None:
        return report
    return replace(
        report,
        alpha=constrained.alpha,
        slack=constrained.slack,
        excess=constrained.excess,
        multiplier=constrained.multiplier,
        binding=constrained.binding,
    )

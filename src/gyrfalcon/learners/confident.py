"""Ridge regression on all rows with confidence widths: optimism, posterior draws, elimination share it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.problems import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.core.reports import FitReport
from gyrfalcon.learners import adapting, epochwise
from gyrfalcon.learners.epochwise import Fitted
from gyrfalcon.oracles.linear import Linear, LinearOracle
from gyrfalcon.oracles.models import OptimisticModel
from gyrfalcon.oracles.moments import Moments


@dataclass(frozen=True, slots=True)
class Confidence:
    """A ridge fit of every row so far, with its widths; the model has no bonus yet."""

    model: OptimisticModel
    rows: Moments
    oracle: LinearOracle
    state: Fitted
    report: FitReport


def refitted(epoch: Epoch, log: Log, model_class: Linear, ridge: float) -> Confidence:
    """The ridge fit of all rows up to and with this log."""
    state = epochwise.fitted_state(epoch)
    oracle = epochwise.oracle_for(state, replace(model_class, ridge=ridge), log)
    if not isinstance(oracle, LinearOracle) or not isinstance(state.active, Moments | None):
        raise TypeError(f"epoch {epoch.index} has no linear fit; give the learner its own epochs.")
    rows = epochwise.accumulated("all", state.active, oracle.summarise(log))
    model = oracle.optimistic(rows, 0.0)
    after = Fitted(state.problem, oracle, active=rows, model=model.model)
    return Confidence(model, rows, oracle, after, FitReport(n_active=rows.n, n_passive=0.0))


def adapted(
    epoch: Epoch, problem: Problem, model: OptimisticModel | None
) -> tuple[Epoch, OptimisticModel | None]:
    """The epoch with actions added or retired, and the model that it played by, to make its policy of.

    Nothing is refitted: another standardisation would move the scores of the actions that stay.
    """
    moved, state = adapting.adapted(epoch, problem), epochwise.fitted_state(epoch)
    oracle, rows = state.oracle, state.active
    if model is None or not isinstance(oracle, LinearOracle) or not isinstance(rows, Moments):
        return moved, None
    source = adapting.sources(state.problem, problem)
    after = oracle.reindexed(problem.n_actions)
    factors = np.ascontiguousarray(oracle.reindexed_factors(model.factors, rows, source))
    return moved, replace(
        model,
        model=after.reindexed_model(model.model, source),
        design=after.design,
        factors=factors,
    )

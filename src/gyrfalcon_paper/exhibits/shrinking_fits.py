"""What is behind each fit of Epsilon-FALCON on Section 1.1: passive rows alone, active rows alone, both."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.reward_scale import in_rewards
from gyrfalcon.learners.steps import fitted_state
from gyrfalcon.oracles.linear.linear import LinearOracle
from gyrfalcon.oracles.linear.models import JointModel, LinearModel, PerActionModel
from gyrfalcon.oracles.solvers.moments import Moments
from gyrfalcon.simulation.replications import simulate
from gyrfalcon_paper.linear_models import coefficients_of, distance

LEARNER = EpsilonFalcon()
C_BETA = LEARNER.c_beta
BEST = np.array(StepExample().best_coefficients)
"""Intercept and slope of the best linear model for each action."""
FITS = ("passive", "active", "played")


@dataclass(frozen=True, slots=True)
class Watched:
    """A learner that plays as another one does, and keeps its epochs with the rows behind them."""

    learner: EpsilonFalcon
    epochs: list[Epoch] = field(default_factory=list)

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        """The learner's own first epoch."""
        return self.learner.start(problem, log)

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        """The learner's own next epoch."""
        self.epochs.append(self.learner.next_epoch(epoch, log))
        return self.epochs[-1]

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The learner's own epoch for another problem."""
        return self.learner.adapt(epoch, problem)


def fits(n_rounds: int, first: int, last: int) -> list[dict[str, Any]]:
    """One row for each fit of replications first..last-1."""
    return [row for replication in range(first, last) for row in _fits_of(n_rounds, replication)]


def _fits_of(n_rounds: int, replication: int) -> list[dict[str, Any]]:
    watched = Watched(LEARNER)
    simulate(watched, StepExample(), n_rounds, checkpoints=1, first_replication=replication)
    return [_fit_of(epoch, replication) for epoch in watched.epochs]


def _fit_of(epoch: Epoch, replication: int) -> dict[str, Any]:
    """What the rows of the epoch before say alone, together, and about the best in-class model."""
    state, report = fitted_state(epoch), epoch.report
    oracle, active, passive, played = state.oracle, state.active, state.passive, state.model
    if not (
        isinstance(oracle, LinearOracle)
        and isinstance(active, Moments)
        and isinstance(passive, Moments)
        and isinstance(played, PerActionModel | JointModel)
        and report is not None
    ):
        raise TypeError(f"epoch {epoch.index} has no linear fit; watch a learner with a linear class.")
    alone: dict[str, LinearModel] = {
        "passive": oracle.fit(passive, oracle.empty())[0],
        "active": oracle.fit(active, oracle.empty())[0],
        "played": played,
    }
    found = {name: coefficients_of(in_rewards(model, state.scale)) for name, model in alone.items()}
    gram, missed = _raw_gram(passive, float(oracle.design.center[0])), BEST - found["passive"]
    return {
        "replication": replication,
        "epoch": epoch.index - 1,
        "round": epoch.start,
        "slack": report.slack,
        "multiplier": report.multiplier,
        "best_excess": float(np.einsum("ki,kij,kj->", missed, gram, missed)),
        **{f"{name}_distance": distance(found[name] - BEST) for name in FITS},
        **{
            f"{name}_{part}": float(found[name][0, i])
            for name in FITS
            for i, part in enumerate(("intercept", "slope"))
        },
        **{f"gram_{i}{j}": float(gram[0, i, j]) for i, j in ((0, 0), (0, 1), (1, 1))},
    }


def _raw_gram(passive: Moments, centre: float) -> Floats:
    """Mean squares of passive rows by intercept and slope, (K, 2, 2); the oracle's features are centred."""
    change = np.array([[1.0, centre], [0.0, 1.0]])
    gram: Floats = change.T @ (passive.gram / passive.n) @ change
    return gram

"""FALCON (Simchi-Levi, Xu 2020): inverse gap weighting on an ordinary regression, which it trusts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.kernels import InverseGapWeighting
from gyrfalcon.core.policies import KernelPolicy
from gyrfalcon.core.problems import Problem
from gyrfalcon.core.records import History, Log
from gyrfalcon.core.schedules import Doubling, Schedule
from gyrfalcon.learners import adapting, epochwise
from gyrfalcon.learners.checks import check_choice, check_delta, check_parts, check_positive
from gyrfalcon.learners.epochwise import Data
from gyrfalcon.oracles.linear import Linear
from gyrfalcon.oracles.oracle import ModelClass
from gyrfalcon.theory import unit_gamma


@dataclass(frozen=True, slots=True, kw_only=True)
class Falcon:
    """Epsilon-FALCON without passive share and constraint, for comparison.

    `data` "last epoch" fits each epoch alone, as published for general classes; "all" pools every row.
    gamma is c_gamma sqrt(K n / (d ln((m-1)/delta))) after an epoch of n rounds.

    >>> Falcon(data="all").c_gamma
    10.0
    """

    reads_history: ClassVar[bool] = False
    c_gamma: float = 10.0
    delta: float = 0.05
    data: Data = "last epoch"
    schedule: Schedule = Doubling(100)
    model_class: ModelClass = Linear()

    def __post_init__(self) -> None:
        check_parts(self.model_class, self.schedule)
        check_positive("c_gamma", self.c_gamma)
        check_delta(self.delta)
        check_choice("data", self.data, ("last epoch", "all"))

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        """Epoch 1, uniform unless a log warms it up."""
        return epochwise.started(self, epochwise.first_epoch(problem, self.schedule, self.model_class), log)

    def next_epoch(self, epoch: Epoch, log: Log, *, history: History) -> Epoch:
        """Ordinary least squares on the rows, then inverse gap weighting."""
        del history
        if len(log) == 0:
            return epochwise.unchanged(epoch, self.schedule)
        state, oracle, model, report = epochwise.refitted(epoch, log, self.model_class, self.data)
        n_actions, d = state.problem.n_actions, oracle.n_parameters
        gamma = self.c_gamma * unit_gamma(len(log), n_actions, d, epoch.index + 1, self.delta)
        return epochwise.successor(
            epoch,
            self.schedule,
            policy=KernelPolicy(model, InverseGapWeighting(gamma)),
            state=state,
            report=replace(report, gamma=gamma),
        )

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired."""
        return adapting.adapted(epoch, problem)

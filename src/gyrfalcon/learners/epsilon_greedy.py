"""Epsilon-greedy: the best estimated action, and a share of uniform play."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.kernels import EpsilonGreedyKernel
from gyrfalcon.core.policies import KernelPolicy
from gyrfalcon.core.problems import Problem
from gyrfalcon.core.records import History, Log
from gyrfalcon.core.schedules import Geometric, Schedule
from gyrfalcon.learners import adapting, epochwise
from gyrfalcon.learners.checks import check_choice, check_parts
from gyrfalcon.learners.epochwise import Data
from gyrfalcon.oracles.linear import Linear
from gyrfalcon.oracles.oracle import ModelClass


@dataclass(frozen=True, slots=True, kw_only=True)
class EpsilonGreedy:
    """Plays the action with the best estimate with probability 1 - epsilon, else any action alike.

    >>> EpsilonGreedy(epsilon=0.02).data
    'all'
    """

    reads_history: ClassVar[bool] = False
    epsilon: float = 0.1
    data: Data = "all"
    schedule: Schedule = Geometric(100, 1.5)
    model_class: ModelClass = Linear()

    def __post_init__(self) -> None:
        check_parts(self.model_class, self.schedule)
        if not 0.0 <= self.epsilon <= 1.0:
            raise ValueError(
                f"epsilon is {self.epsilon}; it is a share of play, so give a number from 0 to 1."
            )
        check_choice("data", self.data, ("last epoch", "all"))

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        """Epoch 1, uniform unless a log warms it up."""
        return epochwise.started(self, epochwise.first_epoch(problem, self.schedule, self.model_class), log)

    def next_epoch(self, epoch: Epoch, log: Log, *, history: History) -> Epoch:
        """Least squares on the rows."""
        del history
        if len(log) == 0:
            return epochwise.unchanged(epoch, self.schedule)
        state, _, model, report = epochwise.refitted(epoch, log, self.model_class, self.data)
        model = model.eagerly()
        return epochwise.successor(
            epoch,
            self.schedule,
            policy=KernelPolicy(model, EpsilonGreedyKernel(self.epsilon)),
            state=replace(state, model=model),
            report=report,
        )

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired."""
        return adapting.adapted(epoch, problem)

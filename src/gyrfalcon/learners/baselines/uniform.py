"""Uniform play: the baseline, and the design of an A/B/n test."""

from __future__ import annotations

from dataclasses import dataclass

from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.core.schedules import Doubling, Schedule
from gyrfalcon.core.validation import check_schedule
from gyrfalcon.learners import action_changes, steps
from gyrfalcon.oracles.linear.linear import Linear


@dataclass(frozen=True, slots=True, kw_only=True)
class Uniform:
    """Every eligible action alike, for ever.

    >>> Uniform().schedule
    Doubling(first=100)
    """

    schedule: Schedule = Doubling(100)

    def __post_init__(self) -> None:
        check_schedule(self.schedule)

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        """Uniform play."""
        del log
        return steps.first_epoch(problem, self.schedule, Linear())

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        """More of it."""
        del log
        return steps.successor(epoch, self.schedule, policy=epoch.policy, state=epoch.state, report=None)

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """Uniform play over the actions there are now."""
        return action_changes.adapted(epoch, problem)

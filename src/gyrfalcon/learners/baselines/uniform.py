"""Uniform play: the baseline, and the design of an A/B/n test."""

from __future__ import annotations

from dataclasses import dataclass

from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.core.schedules import Doubling, Schedule
from gyrfalcon.core.settings import changed_settings_repr
from gyrfalcon.core.validation import check_schedule
from gyrfalcon.learners import action_changes, steps
from gyrfalcon.oracles.linear.linear import Linear


@dataclass(frozen=True, slots=True, kw_only=True)
class Uniform:
    """Plays every eligible action with equal probability, and learns nothing.

    Parameters
    ----------
    schedule
        When epochs end.

    Examples
    --------
    >>> Uniform().schedule
    Doubling(first=100)
    """

    schedule: Schedule = Doubling(100)

    __repr__ = changed_settings_repr

    def __post_init__(self) -> None:
        check_schedule(self.schedule)

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        """Epoch 1, uniform whatever the log."""
        del log
        return steps.first_epoch(problem, self.schedule, Linear())

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        """The next epoch, still uniform."""
        del log
        return epoch.successor(self.schedule, policy=epoch.policy, state=epoch.state, report=None)

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired."""
        return action_changes.adapted(epoch, problem)

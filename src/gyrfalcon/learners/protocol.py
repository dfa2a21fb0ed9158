"""What a learner is: it turns an epoch and newly rewarded rows into the next epoch."""

from __future__ import annotations

from typing import Protocol

from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log


class Learner(Protocol):
    """Frozen keyword-only settings and three pure steps: the same inputs give the same epoch."""

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        """The first epoch; a log of earlier decisions warms it up."""
        ...

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        """The epoch after this one, given the rows that were settled since the last call.

        Rows may come from any earlier epoch, each with its own epoch, propensity and component.
        Where a propensity is unknown it is nan (`Log.has_propensity`): such rows may be fitted, not weighted.
        """
        ...

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch for a problem with actions added or retired."""
        ...

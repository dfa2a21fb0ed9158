"""How learners begin that refit at epoch ends, and what becomes of them when actions come and go."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.problems import Problem
from gyrfalcon.core.records import History, Log
from gyrfalcon.core.schedules import Schedule
from gyrfalcon.learners import adapting, epochwise
from gyrfalcon.oracles.oracle import ModelClass


class Refitting:
    """A learner with a schedule and a model class: uniform play first, then what `next_epoch` makes of it."""

    __slots__ = ()
    reads_history: ClassVar[bool] = False

    if TYPE_CHECKING:

        @property
        def schedule(self) -> Schedule:
            """When epochs end."""

        @property
        def model_class(self) -> ModelClass:
            """The models among which it fits."""

        def next_epoch(self, epoch: Epoch, log: Log, *, history: History) -> Epoch:
            """The algorithm itself."""

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        """A uniform epoch, unless a log warms it up."""
        return epochwise.started(self, epochwise.first_epoch(problem, self.schedule, self.model_class), log)

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired."""
        return adapting.adapted(epoch, problem)

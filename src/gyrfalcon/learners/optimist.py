"""What learners share that play the largest estimate plus a bonus for what is uncertain."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.problems import Problem
from gyrfalcon.core.records import History, Log
from gyrfalcon.core.types import Floats
from gyrfalcon.learners import confident, epochwise
from gyrfalcon.learners.refitting import Refitting
from gyrfalcon.oracles.linear import Linear
from gyrfalcon.oracles.moments import Moments


class Optimist(Refitting):
    """Ridge regression on all rows, and the action with the largest f(x, a) + bonus ||phi||."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def ridge(self) -> float:
            """The penalty of every coefficient."""

        @property
        def mixing(self) -> float:
            """The share of uniform play."""

        @property
        def model_class(self) -> Linear:
            """A linear class."""

        def bonus(self, rows: Moments) -> float | Floats:
            """The bonus after these rows, one for all actions or one each."""

    def next_epoch(self, epoch: Epoch, log: Log, *, history: History) -> Epoch:
        """Ridge regression on every row so far."""
        del history
        if len(log) == 0:
            return epochwise.unchanged(epoch, self.schedule)
        fit = confident.refitted(epoch, log, self.model_class, self.ridge)
        policy = confident.optimism(fit.model, self.bonus(fit.rows), self.mixing)
        return epochwise.successor(epoch, self.schedule, policy=policy, state=fit.state, report=fit.report)

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired."""
        moved, model = confident.adapted(epoch, problem, confident.optimist(epoch.policy))
        rows = epochwise.fitted_state(moved).active
        if model is None or not isinstance(rows, Moments):
            return moved
        return replace(moved, policy=confident.optimism(model, self.bonus(rows), self.mixing))

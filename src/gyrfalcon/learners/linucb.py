"""LinUCB (Li, Chu, Langford, Schapire 2010): ridge regression plus a bonus for what is uncertain."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.problems import Problem
from gyrfalcon.core.records import History, Log
from gyrfalcon.core.schedules import FixedBatch, Schedule
from gyrfalcon.learners import confident, epochwise
from gyrfalcon.learners.checks import check_not_negative
from gyrfalcon.learners.confident import check_settings
from gyrfalcon.learners.refitting import Refitting
from gyrfalcon.oracles.linear import Linear


@dataclass(frozen=True, slots=True, kw_only=True)
class LinUCB(Refitting):
    """The action with the largest f(x, a) + alpha ||phi||, refitted on all rows in batches.

    The first batch is uniform. `ridge` regularises every coefficient, the intercept too. Its propensities are
    0 and 1, which no log can be evaluated from: `mixing` plays uniformly in that share of rounds.

    >>> LinUCB(alpha=0.3).ridge
    1.0
    """

    alpha: float = 1.0
    ridge: float = 1.0
    mixing: float = 0.0
    schedule: Schedule = FixedBatch(100)
    model_class: Linear = Linear()

    def __post_init__(self) -> None:
        check_settings("LinUCB", self.model_class, self.schedule, self.ridge, self.mixing)
        check_not_negative("alpha", self.alpha)

    def next_epoch(self, epoch: Epoch, log: Log, *, history: History) -> Epoch:
        """Ridge regression on every row so far."""
        del history
        if len(log) == 0:
            return epochwise.unchanged(epoch, self.schedule)
        fit = confident.refitted(epoch, log, self.model_class, self.ridge)
        policy = confident.optimism(fit.model, self.alpha, self.mixing)
        return epochwise.successor(epoch, self.schedule, policy=policy, state=fit.state, report=fit.report)

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired."""
        moved, model = confident.adapted(epoch, problem, confident.optimist(epoch.policy))
        if model is None:
            return moved
        return replace(moved, policy=confident.optimism(model, self.alpha, self.mixing))

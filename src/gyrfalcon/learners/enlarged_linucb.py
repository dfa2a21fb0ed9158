"""LinUCB with a bonus for misspecification: rewards may be off a linear model by up to a known amount."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.policies import KernelPolicy
from gyrfalcon.core.problems import Problem
from gyrfalcon.core.records import History, Log
from gyrfalcon.core.schedules import FixedBatch, Schedule
from gyrfalcon.learners import confident, epochwise
from gyrfalcon.learners.checks import check_not_negative
from gyrfalcon.learners.confident import check_settings
from gyrfalcon.learners.refitting import Refitting
from gyrfalcon.oracles.linear import Linear
from gyrfalcon.oracles.models import OptimisticModel
from gyrfalcon.oracles.moments import Moments


@dataclass(frozen=True, slots=True, kw_only=True)
class EnlargedLinUCB(Refitting):
    """The action with the largest f(x, a) + (alpha + misspecification sqrt(n)) ||phi||.

    If every expected reward is within `misspecification` of some linear model, the estimate is off by at most
    that times sum_s |phi' V^-1 phi_s|, on top of the noise; sqrt(n) ||phi|| bounds the sum over the n rows of
    V, those of the action where each has its own coefficients. The base learner of masters over unknown
    misspecification (Pacchiano et al. 2020; Zanette et al. 2020).

    This part of the bonus does not vanish: over the rows it averages about misspecification sqrt(d), and
    regret of that order may remain in every round. 0 is LinUCB.

    >>> EnlargedLinUCB(misspecification=0.02).alpha
    1.0
    """

    misspecification: float = 0.05
    alpha: float = 1.0
    ridge: float = 1.0
    mixing: float = 0.0
    schedule: Schedule = FixedBatch(100)
    model_class: Linear = Linear()

    def __post_init__(self) -> None:
        check_settings("EnlargedLinUCB", self.model_class, self.schedule, self.ridge, self.mixing)
        check_not_negative("misspecification", self.misspecification)
        check_not_negative("alpha", self.alpha)

    def next_epoch(self, epoch: Epoch, log: Log, *, history: History) -> Epoch:
        """Ridge regression on every row so far."""
        del history
        if len(log) == 0:
            return epochwise.unchanged(epoch, self.schedule)
        fit = confident.refitted(epoch, log, self.model_class, self.ridge)
        policy = self._policy(fit.model, fit.rows)
        return epochwise.successor(epoch, self.schedule, policy=policy, state=fit.state, report=fit.report)

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired."""
        moved, model = confident.adapted(epoch, problem, confident.optimist(epoch.policy))
        rows = epochwise.fitted_state(moved).active
        if model is None or not isinstance(rows, Moments):
            return moved
        return replace(moved, policy=self._policy(model, rows))

    def _policy(self, model: OptimisticModel, rows: Moments) -> KernelPolicy:
        # One number of rows per block: each action's own, or that of all where they share coefficients.
        bonus = self.alpha + self.misspecification * np.sqrt(rows.weight)
        return confident.optimism(model, bonus, self.mixing)

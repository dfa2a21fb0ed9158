"""LinUCB (Li, Chu, Langford, Schapire 2010): ridge regression plus a bonus for what is uncertain."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.kernels import EpsilonGreedyKernel
from gyrfalcon.core.policies import KernelPolicy
from gyrfalcon.core.problems import Problem
from gyrfalcon.core.records import History, Log
from gyrfalcon.core.schedules import FixedBatch, Schedule
from gyrfalcon.learners import confident, epochwise
from gyrfalcon.learners.checks import check_parts, check_positive
from gyrfalcon.oracles.linear import Linear
from gyrfalcon.oracles.models import OptimisticModel


@dataclass(frozen=True, slots=True, kw_only=True)
class LinUCB:
    """The action with the largest f(x, a) + alpha ||phi||, refitted on all rows in batches.

    The first batch is uniform. `ridge` regularises every coefficient, the intercept too. Its propensities are
    0 and 1, which no log can be evaluated from: `mixing` plays uniformly in that share of rounds.

    >>> LinUCB(alpha=0.3).ridge
    1.0
    """

    reads_history: ClassVar[bool] = False
    alpha: float = 1.0
    ridge: float = 1.0
    mixing: float = 0.0
    schedule: Schedule = FixedBatch(100)
    model_class: Linear = Linear()

    def __post_init__(self) -> None:
        check_parts(self.model_class, self.schedule)
        if not (self.alpha >= 0.0 and math.isfinite(self.alpha)):
            raise ValueError(f"alpha is {self.alpha}; the bonus is scaled by a finite number of at least 0.")
        check_positive("ridge", self.ridge)
        if self.model_class.ridge not in (0.0, self.ridge):
            raise ValueError(
                f"ridge is {self.ridge} and model_class has {self.model_class.ridge}; give LinUCB's alone."
            )
        if not 0.0 <= self.mixing < 1.0:
            raise ValueError(f"mixing is {self.mixing}; give a share of uniform play in [0, 1).")

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        """A uniform batch unless a log warms it up."""
        return epochwise.started(self, epochwise.first_epoch(problem, self.schedule, self.model_class), log)

    def next_epoch(self, epoch: Epoch, log: Log, *, history: History) -> Epoch:
        """Ridge regression on every row so far."""
        del history
        if len(log) == 0:
            return epochwise.unchanged(epoch, self.schedule)
        fit = confident.refitted(epoch, log, self.model_class, self.ridge)
        return epochwise.successor(
            epoch,
            self.schedule,
            policy=self._policy(fit.model),
            state=fit.state,
            report=fit.report,
        )

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired."""
        scorer = epoch.policy.scorer if isinstance(epoch.policy, KernelPolicy) else None
        played = scorer if isinstance(scorer, OptimisticModel) else None
        adapted, model = confident.adapted(epoch, problem, played)
        return adapted if model is None else replace(adapted, policy=self._policy(model))

    def _policy(self, model: OptimisticModel) -> KernelPolicy:
        return KernelPolicy(replace(model, bonus=self.alpha), EpsilonGreedyKernel(self.mixing))

"""What learners share that play the largest estimate plus a bonus for what is uncertain."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.policies import KernelPolicy
from gyrfalcon.core.problems import Problem
from gyrfalcon.core.types import Floats
from gyrfalcon.learners import confident, epochwise
from gyrfalcon.learners.confident import Confident, Known
from gyrfalcon.oracles.moments import Moments
from gyrfalcon.oracles.stacked import AnyOptimist


class Optimist(Confident):
    """Ridge regression on all rows, and the action with the largest f(x, a) + bonus ||phi||."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def mixing(self) -> float:
            """The share of uniform play."""

        def bonus(self, weights: Floats) -> float | Floats:
            """The bonus after so many rows of each block, one for all actions or one each."""

    def policy_of(self, model: AnyOptimist, known: Known) -> KernelPolicy:
        """The largest estimate plus bonus."""
        return confident.optimism(model, self.bonus(known.weights), self.mixing)

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired."""
        moved, model = confident.adapted(epoch, problem, confident.optimist(epoch.policy))
        rows = epochwise.fitted_state(moved).active
        if model is None or not isinstance(rows, Moments):
            return moved
        return replace(moved, policy=confident.optimism(model, self.bonus(rows.weight), self.mixing))

"""Greedy play: the best estimate always, which is enough where contexts are diverse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gyrfalcon.core.policies.kernels import EpsilonGreedyKernel
from gyrfalcon.core.schedules import Geometric, Schedule
from gyrfalcon.core.validation import check_mixing, check_parts
from gyrfalcon.learners.regression_learner import Regressing
from gyrfalcon.learners.steps import Size
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.protocol import ModelClass


@dataclass(frozen=True, slots=True, kw_only=True)
class Greedy(Regressing):
    """The action with the best estimate by all rows so far, after a first epoch of uniform play.

    It never explores: contexts must make each action look best now and then, or a bad first estimate of one
    stays. Its propensities are 0 and 1, which no log can be evaluated from: `mixing` plays uniformly in that
    share of rounds.

    >>> Greedy().mixing
    0.0
    """

    tries_unknown: ClassVar[bool] = True
    mixing: float = 0.0
    schedule: Schedule = Geometric(100, 1.5)
    model_class: ModelClass = Linear()

    def __post_init__(self) -> None:
        check_parts(self.model_class, self.schedule)
        check_mixing(self.mixing)

    def kernel(self, size: Size) -> EpsilonGreedyKernel:
        """The best action, whatever the size."""
        del size
        return EpsilonGreedyKernel(self.mixing)

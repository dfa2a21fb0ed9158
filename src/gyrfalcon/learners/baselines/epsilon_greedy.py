"""Epsilon-greedy: the best estimated action, and a share of uniform play."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from gyrfalcon.core.policies.kernels import EpsilonGreedyKernel
from gyrfalcon.core.schedules import Geometric, Schedule
from gyrfalcon.core.settings import changed_settings_repr
from gyrfalcon.core.validation import check_choice, check_not_negative, check_parts
from gyrfalcon.learners.regression_learner import RegressionLearner
from gyrfalcon.learners.steps import Data, SampleSize
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.protocol import ModelClass


@dataclass(frozen=True, slots=True, kw_only=True)
class EpsilonGreedy(RegressionLearner):
    """Plays the action with the best estimate with probability 1 - epsilon, else uniformly.

    An epsilon of (K ln |Pi|)^(1/3) with decay 1/3 explores enough for regret of order T^(2/3) if the model
    class is right.

    Parameters
    ----------
    epsilon
        Share of uniform play; may exceed 1 where it decays.
    decay
        After a fit of n rows the share is min(1, epsilon n^-decay).
    data
        "all" rows are fitted, or those of the "last_epoch".
    schedule
        When epochs end and the model is refitted.
    model_class
        The class of reward models, with its features, basis and ridge.

    Examples
    --------
    >>> EpsilonGreedy(epsilon=0.02).data
    'all'
    """

    tries_unknown: ClassVar[bool] = True
    epsilon: float = 0.1
    decay: float = 0.0
    data: Data = "all"
    schedule: Schedule = Geometric(100, 1.5)
    model_class: ModelClass = Linear()

    __repr__ = changed_settings_repr

    def __post_init__(self) -> None:
        check_parts(self.model_class, self.schedule)
        check_not_negative("epsilon", self.epsilon)
        check_not_negative("decay", self.decay)
        if self.decay == 0.0 and self.epsilon > 1.0:
            raise ValueError(
                f"epsilon is {self.epsilon}; it is a share of play, so give a number from 0 to 1, or a decay."
            )
        check_choice("data", self.data, ("last_epoch", "all"))

    @property
    def fitted_data(self) -> Data:
        """Which rows are fitted."""
        return self.data

    def kernel(self, size: SampleSize) -> EpsilonGreedyKernel:
        """The best action, and a share of uniform play."""
        return EpsilonGreedyKernel(self._share(size))

    def _share(self, size: SampleSize) -> float:
        return min(1.0, self.epsilon * math.pow(size.n, -self.decay))

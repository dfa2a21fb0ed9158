"""Boltzmann exploration: better estimates are exponentially more likely."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gyrfalcon.core.policies.kernels import SoftmaxKernel
from gyrfalcon.core.schedules import Geometric, Schedule
from gyrfalcon.core.settings import changed_settings_repr
from gyrfalcon.core.validation import check_not_negative, check_parts, check_positive
from gyrfalcon.learners.regression_learner import RegressionLearner
from gyrfalcon.learners.steps import SampleSize
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.protocol import ModelClass


@dataclass(frozen=True, slots=True, kw_only=True)
class Softmax(RegressionLearner):
    """Plays action a with a probability in proportion to exp(f(x, a) / temperature).

    Actions that are nearly as good as the best are played nearly as often, and bad ones hardly ever, so that
    their propensities can be too small for off-policy evaluation.

    Parameters
    ----------
    temperature
        How evenly actions are played, in multiples of the spread of rewards, twice their standard deviation:
        the larger, the more.
    decay
        The temperature after n rows is `temperature` n^-decay: with decay 1/2 it falls as fast as the
        standard errors of estimates; with decay 0 it is constant, and so is the regret per round.
    schedule
        When epochs end and the model is refitted.
    model_class
        The class of reward models, with its features, basis and ridge.

    Examples
    --------
    >>> Softmax(temperature=0.05, decay=0.0).schedule
    Geometric(first=100, ratio=1.5, longest=None)
    """

    temperature: float = 1.0
    decay: float = 0.5
    schedule: Schedule = Geometric(100, 1.5)
    model_class: ModelClass = Linear()

    __repr__ = changed_settings_repr

    def __post_init__(self) -> None:
        check_parts(self.model_class, self.schedule)
        check_positive("temperature", self.temperature)
        check_not_negative("decay", self.decay)

    def kernel(self, size: SampleSize) -> SoftmaxKernel:
        """Softmax at the temperature of this size."""
        return SoftmaxKernel(self.temperature * math.pow(size.n, -self.decay))

"""Greedy play: the best estimate always, which is enough where contexts are diverse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gyrfalcon.core.policies.kernels import EpsilonGreedyKernel
from gyrfalcon.core.schedules import Geometric, Schedule
from gyrfalcon.core.settings import changed_settings_repr
from gyrfalcon.core.validation import check_mixing, check_parts
from gyrfalcon.learners.regression_learner import RegressionLearner
from gyrfalcon.learners.steps import SampleSize
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.protocol import ModelClass


@dataclass(frozen=True, slots=True, kw_only=True)
class Greedy(RegressionLearner):
    """The action with the best estimate by all rows so far, after a first epoch of uniform play.

    It never explores: contexts must be diverse enough that each action looks best in some of them, or a bad
    first estimate stays. Its propensities are 0 and 1, from which no other policy can be evaluated.

    Parameters
    ----------
    mixing
        Share of rounds with uniform play.
    schedule
        When epochs end and the model is refitted.
    model_class
        The class of reward models, with its features, basis and ridge.

    Examples
    --------
    >>> Greedy().mixing
    0.0
    """

    tries_unknown: ClassVar[bool] = True
    mixing: float = 0.0
    schedule: Schedule = Geometric(100, 1.5)
    model_class: ModelClass = Linear()

    __repr__ = changed_settings_repr

    def __post_init__(self) -> None:
        check_parts(self.model_class, self.schedule)
        check_mixing(self.mixing)

    def kernel(self, size: SampleSize) -> EpsilonGreedyKernel:
        """The greedy kernel, for any sample size."""
        del size
        return EpsilonGreedyKernel(self.mixing)

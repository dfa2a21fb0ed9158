"""FALCON (Simchi-Levi, Xu 2020): inverse gap weighting on an ordinary regression, which it trusts."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gyrfalcon.core.policies.kernels import InverseGapWeighting
from gyrfalcon.core.schedules import Doubling, Schedule
from gyrfalcon.core.settings import changed_settings_repr
from gyrfalcon.core.validation import check_choice, check_delta, check_parts, check_positive, is_number
from gyrfalcon.learners.regression_learner import RegressionLearner
from gyrfalcon.learners.steps import Data, SampleSize
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.protocol import ModelClass
from gyrfalcon.theory import unit_gamma


@dataclass(frozen=True, slots=True, kw_only=True)
class Falcon(RegressionLearner):
    """Inverse gap weighting on a regression of each epoch: Epsilon-FALCON without passive share.

    gamma is c_gamma sqrt(K n / (d ln((m-1)/delta))) after an epoch of n rounds, and with `class_size`
    c_gamma sqrt(K n / ln(|F| n / delta)) of the n rows fitted: FALCON as published for a finite class has
    `data` "all" and c_gamma 1/30.

    Parameters
    ----------
    c_gamma
        Scale of gamma, for gaps in multiples of the spread of rewards, twice their standard deviation: the
        larger, the greedier.
    delta
        Confidence (delta), in (0, 0.49].
    class_size
        Number of models |F| of a finite class; None for a class with d parameters, such as a linear one.
    data
        "last_epoch" fits each epoch alone, as published for general classes; "all" pools every row.
    schedule
        When epochs end and the model is refitted.
    model_class
        The class of reward models, with its features, basis and ridge.

    Examples
    --------
    >>> Falcon(data="all").c_gamma
    10.0
    """

    c_gamma: float = 10.0
    delta: float = 0.05
    class_size: float | None = None
    data: Data = "last_epoch"
    schedule: Schedule = Doubling(100)
    model_class: ModelClass = Linear()

    __repr__ = changed_settings_repr

    def __post_init__(self) -> None:
        check_parts(self.model_class, self.schedule)
        check_positive("c_gamma", self.c_gamma)
        check_delta(self.delta)
        size = self.class_size
        if size is not None and not (is_number(size) and 1.0 <= size < math.inf):
            raise ValueError(f"class_size is {size!r}; give the number of models, at least 1.")
        check_choice("data", self.data, ("last_epoch", "all"))

    @property
    def fitted_data(self) -> Data:
        """Which rows are fitted."""
        return self.data

    def kernel(self, size: SampleSize) -> InverseGapWeighting:
        """Inverse gap weighting with the gamma of this size."""
        return InverseGapWeighting(self._gamma(size))

    def _gamma(self, size: SampleSize) -> float:
        """gamma_m of epoch m."""
        if self.class_size is None:
            unit = unit_gamma(size.n_new, size.n_actions, size.n_parameters, size.index, self.delta)
            return self.c_gamma * unit
        log_models = math.log(self.class_size * size.n / self.delta)
        return self.c_gamma * math.sqrt(size.n_actions * size.n / log_models)

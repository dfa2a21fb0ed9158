"""FALCON (Simchi-Levi, Xu 2020): inverse gap weighting on an ordinary regression, which it trusts."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gyrfalcon.core.policies.kernels import InverseGapWeighting
from gyrfalcon.core.schedules import Doubling, Schedule
from gyrfalcon.core.validation import check_choice, check_delta, check_parts, check_positive, is_number
from gyrfalcon.learners.regression_learner import Regressing
from gyrfalcon.learners.steps import Data, Size
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.protocol import ModelClass
from gyrfalcon.theory import unit_gamma


@dataclass(frozen=True, slots=True, kw_only=True)
class Falcon(Regressing):
    """Epsilon-FALCON without passive share and constraint, for comparison.

    `data` "last_epoch" fits each epoch alone, as published for general classes; "all" pools every row.
    gamma is c_gamma sqrt(K n / (d ln((m-1)/delta))) after an epoch of n rounds. With `class_size`, it is
    c_gamma sqrt(K n / ln(|F| n / delta)) of the n rows fitted: FALCON as published for a finite class has
    `data` "all" and c_gamma 1/30.

    >>> Falcon(data="all").c_gamma
    10.0
    """

    c_gamma: float = 10.0
    delta: float = 0.05
    class_size: float | None = None
    data: Data = "last_epoch"
    schedule: Schedule = Doubling(100)
    model_class: ModelClass = Linear()

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

    def kernel(self, size: Size) -> InverseGapWeighting:
        """Inverse gap weighting with the gamma of this size."""
        return InverseGapWeighting(self._gamma(size))

    def _gamma(self, size: Size) -> float:
        """gamma_m of epoch m."""
        if self.class_size is None:
            unit = unit_gamma(size.n_new, size.n_actions, size.n_parameters, size.index, self.delta)
            return self.c_gamma * unit
        log_models = math.log(self.class_size * size.n / self.delta)
        return self.c_gamma * math.sqrt(size.n_actions * size.n / log_models)

"""FALCON+ (Simchi-Levi, Xu 2020): inverse gap weighting by the error bound of an offline regression."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gyrfalcon.core.policies.kernels import InverseGapWeighting
from gyrfalcon.core.schedules import Doubling, Schedule
from gyrfalcon.core.settings import changed_settings_repr
from gyrfalcon.core.validation import check_delta, check_optional, check_parts, check_positive, check_rates
from gyrfalcon.learners.regression_learner import RegressionLearner
from gyrfalcon.learners.steps import Data, SampleSize
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.protocol import ModelClass


@dataclass(frozen=True, slots=True, kw_only=True)
class FalconPlus(RegressionLearner):
    """Each epoch's model is fitted on the epoch before alone, and trusted as far as its error bound.

    gamma_m = 1/2 sqrt(K / E(n; delta / (2 m^2))) for a fit of n rows, where E bounds the squared error of
    its predictions: E(n; delta) = c_error comp ln(1/delta) ln^rho'(n) / n^rho.

    Parameters
    ----------
    c_error
        Scale of the bound, for rewards in multiples of their spread, twice their standard deviation. Proofs
        need their variance, which is 0.25 then and explores for very long; the default is as greedy as Falcon
        with its c_gamma of 10.
    delta
        Confidence (delta), in (0, 0.49].
    rho, rho_prime, comp
        How fast the class is learned; a linear one has rho 1, rho' 0 and comp d, which is None here: the
        coefficients of all actions, also as these come and go.
    schedule
        When epochs end: Doubling, or KnownHorizon, which refits about log log T times.
    model_class
        The class of reward models, with its features, basis and ridge.

    Examples
    --------
    >>> round(FalconPlus(c_error=0.25).error(1000, n_parameters=4, delta=0.05), 6)
    0.002996
    """

    c_error: float = 0.0025
    delta: float = 0.05
    rho: float = 1.0
    rho_prime: float = 0.0
    comp: float | None = None
    schedule: Schedule = Doubling(100)
    model_class: ModelClass = Linear()

    __repr__ = changed_settings_repr

    def __post_init__(self) -> None:
        check_parts(self.model_class, self.schedule)
        check_positive("c_error", self.c_error)
        check_delta(self.delta)
        check_optional("comp", self.comp)
        check_rates(self.rho, self.rho_prime)

    @property
    def fitted_data(self) -> Data:
        """Only the rows of the epoch, as published."""
        return "last_epoch"

    def kernel(self, size: SampleSize) -> InverseGapWeighting:
        """Inverse gap weighting with the gamma of this size."""
        return InverseGapWeighting(self._gamma(size))

    def error(self, n: float, n_parameters: int, delta: float) -> float:
        """E(n; delta): what the squared error of a fit of n rows exceeds with probability delta at most."""
        comp = n_parameters if self.comp is None else self.comp
        growth = math.pow(math.log(max(n, 2.0)), self.rho_prime) * math.log(1.0 / delta)
        return self.c_error * comp * growth / math.pow(n, self.rho)

    def _gamma(self, size: SampleSize) -> float:
        error = self.error(size.n, size.n_parameters, self.delta / (2.0 * size.index**2))
        return 0.5 * math.sqrt(size.n_actions / error)

"""SquareCB (Foster, Rakhlin 2020): inverse gap weighting on a regression of all rows so far."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from gyrfalcon.core.policies.kernels import InverseGapWeighting, Kernel, LogBarrierWeighting
from gyrfalcon.core.schedules import FixedBatch, Schedule
from gyrfalcon.core.settings import changed_settings_repr
from gyrfalcon.core.validation import (
    check_choice,
    check_delta,
    check_not_negative,
    check_optional,
    check_parts,
    check_positive,
    check_whole,
)
from gyrfalcon.learners.regression_learner import RegressionLearner
from gyrfalcon.learners.steps import SampleSize
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.protocol import ModelClass


@dataclass(frozen=True, slots=True, kw_only=True)
class SquareCB(RegressionLearner):
    """Inverse gap weighting by how well a regression of all rows so far can predict.

    With the schedule FixedBatch(1) it is the online form, a refit each round. Within a batch gamma is fixed.
    A basis that is fitted to the first contexts, like Splines, needs a first batch that is representative.

    Parameters
    ----------
    gamma
        "scheduled": gamma_scale n^gamma_exponent after n rows; exponent 0 is a constant gamma. "regret":
        sqrt(K n / (RegSq + ln(2/delta))), the proof's, with regret RegSq = comp ln(1 + n/comp) of the
        regression against the best model; it explores for much longer.
    gamma_scale, gamma_exponent
        Of the scheduled gamma, for gaps in multiples of the spread of rewards, twice their standard
        deviation: the larger, the greedier.
    delta
        Confidence (delta) of the regret rule, in (0, 0.49].
    horizon
        The T at which the regret rule is evaluated from the start on; None: at the rows so far.
    misspecification
        By how many spreads rewards may be off the best model everywhere: its square times n is added to
        RegSq.
    comp
        Complexity of the class; None means d, the coefficients of all actions, also as these come and go.
    weighting
        "inverse_gap", or "log_barrier", whose trade-off of regret and error is the best in the worst case.
    schedule
        When epochs end and the model is refitted.
    model_class
        The class of reward models, with its features, basis and ridge.

    Examples
    --------
    >>> SquareCB(gamma="regret", schedule=FixedBatch(1)).weighting
    'inverse_gap'
    """

    gamma: Literal["scheduled", "regret"] = "scheduled"
    gamma_scale: float = 10.0
    gamma_exponent: float = 0.5
    delta: float = 0.05
    horizon: int | None = None
    misspecification: float = 0.0
    comp: float | None = None
    weighting: Literal["inverse_gap", "log_barrier"] = "inverse_gap"
    schedule: Schedule = FixedBatch(100)
    model_class: ModelClass = Linear()

    __repr__ = changed_settings_repr

    def __post_init__(self) -> None:
        check_parts(self.model_class, self.schedule)
        check_choice("gamma", self.gamma, ("scheduled", "regret"))
        check_choice("weighting", self.weighting, ("inverse_gap", "log_barrier"))
        check_positive("gamma_scale", self.gamma_scale)
        check_not_negative("gamma_exponent", self.gamma_exponent)
        check_delta(self.delta)
        if self.horizon is not None:
            check_whole("horizon", self.horizon)
        check_not_negative("misspecification", self.misspecification)
        check_optional("comp", self.comp)

    def square_regret(self, n: float, n_parameters: int) -> float:
        """RegSq after n rows, with what a wrong model class adds to it."""
        comp = n_parameters if self.comp is None else self.comp
        return comp * math.log1p(n / comp) + self.misspecification**2 * n

    def kernel(self, size: SampleSize) -> Kernel:
        """Inverse gap weighting, or its log-barrier form, with the gamma of this size."""
        gamma = self._gamma(size)
        return InverseGapWeighting(gamma) if self.weighting == "inverse_gap" else LogBarrierWeighting(gamma)

    def _gamma(self, size: SampleSize) -> float:
        if self.gamma == "scheduled":
            return self.gamma_scale * math.pow(size.n, self.gamma_exponent)
        n = max(size.n, self.horizon or 0)
        regret = self.square_regret(n, size.n_parameters) + math.log(2.0 / self.delta)
        return math.sqrt(size.n_actions * n / regret)

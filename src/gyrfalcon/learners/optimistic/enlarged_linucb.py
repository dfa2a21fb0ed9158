"""LinUCB with a bonus for misspecification: rewards may be off a linear model by up to a known amount."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.schedules import FixedBatch, Schedule
from gyrfalcon.core.settings import changed_settings_repr
from gyrfalcon.core.validation import check_not_negative
from gyrfalcon.learners.optimistic.ridge_learner import OptimisticLearner, check_settings
from gyrfalcon.oracles.linear.linear import Linear


@dataclass(frozen=True, slots=True, kw_only=True)
class EnlargedLinUCB(OptimisticLearner):
    """The action with the largest f(x, a) + (alpha + misspecification sqrt(n)) ||phi||.

    If every expected reward is within `misspecification` of some linear model, the estimate is off by at most
    that times sum_s |phi' V^-1 phi_s|, on top of the noise; sqrt(n) ||phi|| bounds the sum over the n rows of
    V, those of the action where each has its own coefficients. The base learner of masters over unknown
    misspecification (Pacchiano et al. 2020; Zanette et al. 2020).

    `ridge` acts on features standardised anew at each refit, as in LinUCB; the bound on the sum holds for any
    of these V. The misspecification part of the bonus does not vanish: over the rows it averages about
    misspecification sqrt(d), and regret of that order may remain in every round. 0 is LinUCB.

    Parameters
    ----------
    misspecification
        How far expected rewards may be off the linear model, in multiples of the spread of rewards, twice
        their standard deviation.
    alpha
        Scale of the bonus for the noise, in units of the confidence width ||phi|| times that spread.
    ridge
        Penalty of every coefficient, the intercept too, on features that are standardised at each refit.
    mixing
        Share of rounds with uniform play.
    schedule
        When batches end and the model is refitted; the first one is uniform.
    model_class
        A linear class, with its features and basis.

    Examples
    --------
    >>> EnlargedLinUCB(misspecification=0.02).alpha
    1.0
    """

    misspecification: float = 0.05
    alpha: float = 1.0
    ridge: float = 1.0
    mixing: float = 0.0
    schedule: Schedule = FixedBatch(100)
    model_class: Linear = Linear()

    __repr__ = changed_settings_repr

    def __post_init__(self) -> None:
        check_settings("EnlargedLinUCB", self.model_class, self.schedule, self.ridge, self.mixing)
        check_not_negative("misspecification", self.misspecification)
        check_not_negative("alpha", self.alpha)

    def bonus(self, weights: Floats) -> Floats:
        """Alpha plus misspecification times the root of the rows, (K,) or (1,) where actions share them."""
        return np.asarray(self.alpha + self.misspecification * np.sqrt(weights))

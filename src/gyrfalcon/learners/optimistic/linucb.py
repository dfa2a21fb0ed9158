"""LinUCB (Li, Chu, Langford, Schapire 2010): ridge regression plus a bonus for what is uncertain."""

from __future__ import annotations

from dataclasses import dataclass

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.schedules import FixedBatch, Schedule
from gyrfalcon.core.settings import changed_settings_repr
from gyrfalcon.core.validation import check_not_negative
from gyrfalcon.learners.optimistic.ridge_learner import OptimisticLearner, check_settings
from gyrfalcon.oracles.linear.linear import Linear


@dataclass(frozen=True, slots=True, kw_only=True)
class LinUCB(OptimisticLearner):
    """The action with the largest f(x, a) + alpha ||phi||, refitted on all rows in batches.

    The first batch is uniform. `ridge` regularises every coefficient, the intercept too, of features that are
    standardised anew at each refit: in fixed units the penalty changes from batch to batch. The textbook's
    one penalty is that of `Linear(standardise=False)`. Propensities are 0 and 1, from which no other policy
    can be evaluated: `mixing` adds uniform play.

    Parameters
    ----------
    alpha
        Scale of the bonus, in units of the confidence width ||phi|| times the spread of rewards, twice
        their standard deviation.
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
    >>> LinUCB(alpha=0.3).ridge
    1.0
    """

    alpha: float = 1.0
    ridge: float = 1.0
    mixing: float = 0.0
    schedule: Schedule = FixedBatch(100)
    model_class: Linear = Linear()

    __repr__ = changed_settings_repr

    def __post_init__(self) -> None:
        check_settings("LinUCB", self.model_class, self.schedule, self.ridge, self.mixing)
        check_not_negative("alpha", self.alpha)

    def bonus(self, weights: Floats) -> float:
        """alpha, whatever the rows."""
        del weights
        return self.alpha

"""What estimators compute from: evaluated rows, a target, predictions, and limits of weights."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.evaluation.estimators.tuning import select_max_weight, select_shrinkage
from gyrfalcon.evaluation.intervals.validation import Bounds

Limit: TypeAlias = float | Literal["tuned"] | None
"""A limit of weights: a number, the one of the least estimated squared error, or the default."""
TUNED = "tuned"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EstimatorInputs:
    """Evaluated rows in the order of time, with the target, predictions and limits that an estimator needs.

    Parameters
    ----------
    table
        The rows.
    target
        Probabilities of all actions under the policy in question, (n, K).
    predictions
        Predicted rewards of all actions, (n, K); None for estimators without a model.
    mean_squared_weight
        Mean expected squared weight of the target on these rows.
    max_weight
        Largest weight that counts, for estimators that have such a limit; None is sqrt(n).
    shrinkage
        Shrinkage of weights, for estimators that have one; None is n for "dros", and the value that balances
        bias and variance for the sub-Gaussian ones.
    distribution
        Probabilities of all actions under the log, (n, K), where all rows have them; else None.
    bounds
        Lowest and highest reward; None where unknown.
    """

    table: DecisionTable
    target: Floats
    predictions: Floats | None
    mean_squared_weight: float = 1.0
    max_weight: float | None = None
    shrinkage: float | None = None
    distribution: Floats | None = None
    bounds: Bounds | None = None

    @property
    def logged(self) -> tuple[Floats, Ints, Floats, Floats]:
        """Rewards, actions, propensities and target: the first arguments of every estimator."""
        table = self.table
        return table.reward, table.action, table.propensity, self.target

    @property
    def model(self) -> Floats:
        """The predictions of a model, which the estimator needs."""
        if self.predictions is None:
            raise ValueError("this estimator needs predicted rewards; give predictions or a model_class.")
        return self.predictions

    @property
    def weight_limit(self) -> float:
        """The largest weight that counts: sqrt(n) by default, with which the bias vanishes (Ionides 2008)."""
        return math.sqrt(len(self.table)) if self.max_weight is None else self.max_weight

    @property
    def optimistic_shrinkage(self) -> float:
        """Shrinkage n by default, which limits weights to sqrt(n) / 2."""
        return float(len(self.table)) if self.shrinkage is None else self.shrinkage

    @property
    def sub_gaussian_shrinkage(self) -> float:
        """Shrinkage sqrt(ln(20) / (n E[w^2])), at most 1 (Metelli, Russo and Restelli 2021)."""
        if self.shrinkage is not None:
            return self.shrinkage
        return min(1.0, math.sqrt(math.log(20.0) / (len(self.table) * max(self.mean_squared_weight, 1.0))))

    def limited(self, setting: str, value: float) -> EstimatorInputs:
        """A copy with a number for the setting that limits weights."""
        changed: dict[str, float] = {setting: value}
        return replace(self, **changed)  # type: ignore[arg-type]  # names of settings are those of fields

    def tuned_max_weight(self, *, clipped: bool = False) -> float:
        """The limit of the least estimated squared error, of switch or clipped estimates."""
        distribution, width = self._bias_bound()
        return select_max_weight(
            *self.logged, self.predictions, distribution=distribution, reward_range=width, clipped=clipped
        )

    def tuned_shrinkage(self) -> float:
        """The shrinkage of the least estimated squared error of DR with optimistic shrinkage."""
        distribution, width = self._bias_bound()
        return select_shrinkage(*self.logged, self.model, distribution=distribution, reward_range=width)

    def _bias_bound(self) -> tuple[Floats | None, float | None]:
        """Distributions and the width of the range of rewards, where both are known."""
        if self.distribution is None or self.bounds is None:
            return None, None
        return self.distribution, self.bounds[1] - self.bounds[0]

"""Estimators by name, each one row: its title, what it needs, what to beware of, and its function."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.evaluation import importance_weighted as weighted
from gyrfalcon.evaluation import model_assisted as assisted
from gyrfalcon.evaluation.estimate import Estimate


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EstimatorInputs:
    """What estimators compute from: evaluated rows in the order of time, a target, and settings.

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
    """

    table: DecisionTable
    target: Floats
    predictions: Floats | None
    mean_squared_weight: float = 1.0
    max_weight: float | None = None
    shrinkage: float | None = None

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
    def sub_gaussian_shrinkage(self) -> float:
        """Shrinkage sqrt(ln(20) / (n E[w^2])), at most 1 (Metelli, Russo and Restelli 2021)."""
        if self.shrinkage is not None:
            return self.shrinkage
        return min(1.0, math.sqrt(math.log(20.0) / (len(self.table) * max(self.mean_squared_weight, 1.0))))


@dataclass(frozen=True, slots=True)
class EstimatorRow:
    """An estimator that `evaluate` offers by name.

    Parameters
    ----------
    title
        Its name in reports.
    estimate
        The value and influences from inputs.
    needs_model
        Whether it needs predicted rewards.
    needs_propensities
        Whether it needs propensities.
    is_biased
        Whether the value may be biased by more than the order of 1 / n with right propensities.
    caution
        What to beware of, as a sentence; "" if nothing.
    """

    title: str
    estimate: Callable[[EstimatorInputs], Estimate]
    needs_model: bool = False
    needs_propensities: bool = True
    is_biased: bool = False
    caution: str = ""


_BIASED = "Large weights are limited, which biases the value; the interval knows nothing of that bias."

ESTIMATORS: dict[str, EstimatorRow] = {
    "dr": EstimatorRow(
        "doubly robust", lambda given: assisted.doubly_robust(*given.logged, given.model), needs_model=True
    ),
    "sndr": EstimatorRow(
        "self-normalised doubly robust",
        lambda given: assisted.self_normalised_doubly_robust(*given.logged, given.model),
        needs_model=True,
    ),
    "switch": EstimatorRow(
        "SWITCH doubly robust",
        lambda given: assisted.switch_doubly_robust(
            *given.logged, given.model, max_weight=given.weight_limit
        ),
        needs_model=True,
        is_biased=True,
        caution=_BIASED,
    ),
    "dros": EstimatorRow(
        "doubly robust with optimistic shrinkage",
        lambda given: assisted.shrunk_doubly_robust(
            *given.logged,
            given.model,
            shrinkage=float(len(given.table)) if given.shrinkage is None else given.shrinkage,
        ),
        needs_model=True,
        is_biased=True,
        caution=_BIASED,
    ),
    "sub_gaussian_dr": EstimatorRow(
        "sub-Gaussian doubly robust",
        lambda given: assisted.sub_gaussian_doubly_robust(
            *given.logged, given.model, shrinkage=given.sub_gaussian_shrinkage
        ),
        needs_model=True,
        is_biased=True,
        caution=_BIASED,
    ),
    "ips": EstimatorRow(
        "inverse propensity scoring",
        lambda given: weighted.inverse_propensity(*given.logged),
        caution="Values depend on where the zero of rewards is, and vary more than doubly robust ones.",
    ),
    "snips": EstimatorRow(
        "self-normalised inverse propensity scoring",
        lambda given: weighted.self_normalised_inverse_propensity(*given.logged),
        caution="Few rows of large weight may carry the value; it is biased by the order of 1 / n.",
    ),
    "clipped": EstimatorRow(
        "clipped inverse propensity scoring",
        lambda given: weighted.clipped_inverse_propensity(*given.logged, max_weight=given.weight_limit),
        is_biased=True,
        caution=_BIASED,
    ),
    "sub_gaussian": EstimatorRow(
        "sub-Gaussian inverse propensity scoring",
        lambda given: weighted.sub_gaussian_inverse_propensity(
            *given.logged, shrinkage=given.sub_gaussian_shrinkage
        ),
        is_biased=True,
        caution=_BIASED,
    ),
    "dm": EstimatorRow(
        "direct method",
        lambda given: assisted.direct_method(given.target, given.model),
        needs_model=True,
        needs_propensities=False,
        is_biased=True,
        caution="The value is as wrong as the reward model is, and the interval knows nothing of that error.",
    ),
}
"""By the names that `evaluate(estimator=...)` takes; a further estimator is one more row."""


def on_policy(table: DecisionTable) -> Estimate:
    """The mean reward of the rows: the value of the play that was logged."""
    return Estimate.of_contributions(np.asarray(table.reward, dtype=np.float64))

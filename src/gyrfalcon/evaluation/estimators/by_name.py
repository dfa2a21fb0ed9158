"""Estimators by name, each one row: its title, what it needs, what to beware of, and its function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.evaluation.estimators import importance_weighted as weighted
from gyrfalcon.evaluation.estimators import model_assisted as assisted
from gyrfalcon.evaluation.estimators.estimate import Estimate
from gyrfalcon.evaluation.estimators.inputs import EstimatorInputs
from gyrfalcon.evaluation.estimators.reweighting import (
    Reweighting,
    optimistic_weights,
    sub_gaussian_weights,
    truncated_weights,
    unchanged_weights,
)


@dataclass(frozen=True, slots=True)
class WeightLimit:
    """A setting of `evaluate` that limits weights.

    Parameters
    ----------
    name
        Its name.
    value
        Its value, or the default.
    tuned
        The value of the least estimated squared error; None where that is not estimated.
    """

    name: Literal["max_weight", "shrinkage"]
    value: Callable[[EstimatorInputs], float]
    tuned: Callable[[EstimatorInputs], float] | None = None


@dataclass(frozen=True, slots=True)
class EstimatorRow:
    """An estimator that `evaluate` offers by name.

    Parameters
    ----------
    title
        Its name in reports.
    estimate
        The value and influences from inputs.
    reweighting
        What it makes of importance weights, as a function of inputs; None where contributions are no
        function of their own row alone.
    needs_model
        Whether it needs predicted rewards.
    needs_propensities
        Whether it needs propensities.
    limit
        The setting that limits weights; None if there is none.
    is_biased
        Whether the value may be biased by more than the order of 1 / n with right propensities.
    caution
        What to beware of, as a sentence; "" if nothing.
    """

    title: str
    estimate: Callable[[EstimatorInputs], Estimate]
    reweighting: Callable[[EstimatorInputs], Reweighting] | None = None
    needs_model: bool = False
    needs_propensities: bool = True
    limit: WeightLimit | None = None
    is_biased: bool = False
    caution: str = ""


_BIASED = "Large weights are limited, which biases the value; the interval knows nothing of that bias."

_SUB_GAUSSIAN = WeightLimit("shrinkage", lambda given: given.sub_gaussian_shrinkage)


ESTIMATORS: dict[str, EstimatorRow] = {
    "dr": EstimatorRow(
        "doubly robust",
        lambda given: assisted.doubly_robust(*given.logged, given.model),
        lambda _: unchanged_weights,
        needs_model=True,
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
        lambda given: partial(truncated_weights, max_weight=given.weight_limit),
        needs_model=True,
        limit=WeightLimit(
            "max_weight", lambda given: given.weight_limit, lambda given: given.tuned_max_weight()
        ),
        is_biased=True,
        caution=_BIASED,
    ),
    "dros": EstimatorRow(
        "doubly robust with optimistic shrinkage",
        lambda given: assisted.shrunk_doubly_robust(
            *given.logged, given.model, shrinkage=given.optimistic_shrinkage
        ),
        lambda given: partial(optimistic_weights, shrinkage=given.optimistic_shrinkage),
        needs_model=True,
        limit=WeightLimit(
            "shrinkage", lambda given: given.optimistic_shrinkage, lambda given: given.tuned_shrinkage()
        ),
        is_biased=True,
        caution=_BIASED,
    ),
    "sub_gaussian_dr": EstimatorRow(
        "sub-Gaussian doubly robust",
        lambda given: assisted.sub_gaussian_doubly_robust(
            *given.logged, given.model, shrinkage=given.sub_gaussian_shrinkage
        ),
        lambda given: partial(sub_gaussian_weights, shrinkage=given.sub_gaussian_shrinkage),
        needs_model=True,
        limit=_SUB_GAUSSIAN,
        is_biased=True,
        caution=_BIASED,
    ),
    "ips": EstimatorRow(
        "inverse propensity scoring",
        lambda given: weighted.inverse_propensity(*given.logged),
        lambda _: unchanged_weights,
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
        lambda given: partial(np.minimum, given.weight_limit),
        limit=WeightLimit(
            "max_weight", lambda given: given.weight_limit, lambda given: given.tuned_max_weight(clipped=True)
        ),
        is_biased=True,
        caution=_BIASED,
    ),
    "sub_gaussian": EstimatorRow(
        "sub-Gaussian inverse propensity scoring",
        lambda given: weighted.sub_gaussian_inverse_propensity(
            *given.logged, shrinkage=given.sub_gaussian_shrinkage
        ),
        lambda given: partial(sub_gaussian_weights, shrinkage=given.sub_gaussian_shrinkage),
        limit=_SUB_GAUSSIAN,
        is_biased=True,
        caution=_BIASED,
    ),
    "dm": EstimatorRow(
        "direct method",
        lambda given: assisted.direct_method(given.target, given.model),
        lambda _: np.zeros_like,
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

"""Linear models of one feature on (0, 1): coefficients, crossings, and distances."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, Policy, Scorer
from gyrfalcon.oracles.linear.models import JointModel, OptimisticModel, PerActionModel


def interval_contexts(x: Floats) -> Contexts:
    """Contexts of one feature, from its values (n,)."""
    return Contexts(np.ascontiguousarray(x[:, np.newaxis]))


def heights_of(model: Scorer) -> Floats:
    """Predictions at x = 0 and at x = 1 for each action, without any bonus, (K, 2)."""
    estimates = model.model if isinstance(model, OptimisticModel) else model
    return estimates.scores(interval_contexts(np.array([0.0, 1.0]))).T


def coefficients_of(model: Scorer) -> Floats:
    """Intercept and slope of each action, without any bonus, (K, 2)."""
    at_0, at_1 = heights_of(model).T
    return np.stack([at_0, at_1 - at_0], axis=1)


def played_model(policy: Policy | None) -> Scorer | None:
    """The model that a policy plays by, of rewards; None if there is none, as in uniform play."""
    scorer = policy.scorer if isinstance(policy, KernelPolicy) else None
    if isinstance(scorer, PerActionModel | JointModel | OptimisticModel):
        return scorer.restored()
    return scorer


def crossing(model: Scorer) -> float:
    """Where the predictions for two actions are equal; nan if their slopes are."""
    at_0, at_1 = heights_of(model)[0] - heights_of(model)[1]
    return float(at_0 / (at_0 - at_1)) if at_0 != at_1 else float("nan")


def distance(coefficients: Floats) -> float:
    """The root mean square of linear functions, over contexts uniform on (0, 1) and actions.

    >>> round(distance(np.array([[0.0, 1.0], [0.0, 0.0]])), 6)  # x for one of two actions
    0.408248
    """
    intercept, slope = coefficients.T
    return float(np.sqrt(np.mean(intercept**2 + intercept * slope + slope**2 / 3.0)))

"""Estimators that weight logged rewards: w = target's probability of the logged action over its propensity.

They need no reward model. `rewards`, `actions` and `propensities` are (n,), `target` is (n, K).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.validation import check_positive
from gyrfalcon.evaluation.estimators.estimate import Estimate
from gyrfalcon.evaluation.estimators.logged_rows import LoggedRows
from gyrfalcon.evaluation.estimators.reweighting import sub_gaussian_weights


def inverse_propensity(
    rewards: ArrayLike, actions: ArrayLike, propensities: ArrayLike, target: ArrayLike
) -> Estimate:
    """Inverse propensity scoring (IPS), the mean of w r: unbiased where propensities are right.

    Parameters
    ----------
    rewards
        Rewards as they were logged, (n,).
    actions
        Positions of the logged actions, (n,).
    propensities
        Probabilities with which they were chosen, (n,).
    target
        Probabilities of all actions under the policy to be evaluated, (n, K).

    Returns
    -------
    Estimate
        The policy's estimated value.

    Examples
    --------
    >>> inverse_propensity([1, 0, 0, 1], [0, 1, 0, 1], [0.5, 0.2, 0.8, 0.5], [[0.25, 0.75]] * 4)
    Estimate(0.5, standard error 0.3062, 4 rows)
    """
    rows = LoggedRows.of(rewards, actions, propensities, target)
    return _weighted(rows.weights, rows.rewards)


def clipped_inverse_propensity(
    rewards: ArrayLike,
    actions: ArrayLike,
    propensities: ArrayLike,
    target: ArrayLike,
    *,
    max_weight: float,
) -> Estimate:
    """Clipped IPS, the mean of min(w, max_weight) r: biased downwards where rewards are positive.

    Parameters
    ----------
    rewards
        Rewards as they were logged, (n,).
    actions
        Positions of the logged actions, (n,).
    propensities
        Probabilities with which they were chosen, (n,).
    target
        Probabilities of all actions under the policy to be evaluated, (n, K).
    max_weight
        Weight above which none counts; infinity is `inverse_propensity`.

    Returns
    -------
    Estimate
        The policy's estimated value. Its standard error knows nothing of the bias.
    """
    check_limit("max_weight", max_weight)
    rows = LoggedRows.of(rewards, actions, propensities, target)
    return _weighted(np.minimum(rows.weights, max_weight, out=rows.weights), rows.rewards)


def self_normalised_inverse_propensity(
    rewards: ArrayLike, actions: ArrayLike, propensities: ArrayLike, target: ArrayLike
) -> Estimate:
    """Self-normalised IPS (SNIPS), the sum of w r over that of w: within the range of the rewards.

    Its bias vanishes as 1 / n, and rewards that are all higher by a constant shift it by just that.

    Parameters
    ----------
    rewards
        Rewards as they were logged, (n,).
    actions
        Positions of the logged actions, (n,).
    propensities
        Probabilities with which they were chosen, (n,).
    target
        Probabilities of all actions under the policy to be evaluated, (n, K).

    Returns
    -------
    Estimate
        The policy's estimated value, influenced by each row with w (r - value) over the mean weight.
    """
    rows = LoggedRows.of(rewards, actions, propensities, target)
    return weighted_mean(rows.weights, rows.rewards)


def sub_gaussian_inverse_propensity(
    rewards: ArrayLike,
    actions: ArrayLike,
    propensities: ArrayLike,
    target: ArrayLike,
    *,
    shrinkage: float,
) -> Estimate:
    """IPS with weights w / (1 - shrinkage + shrinkage w), whose errors are sub-Gaussian.

    Metelli, Russo and Restelli (2021): weights shrink towards 1 in the harmonic mean.

    Parameters
    ----------
    rewards
        Rewards as they were logged, (n,).
    actions
        Positions of the logged actions, (n,).
    propensities
        Probabilities with which they were chosen, (n,).
    target
        Probabilities of all actions under the policy to be evaluated, (n, K).
    shrinkage
        A number from 0, which is `inverse_propensity`, to 1, where all positive weights are 1.

    Returns
    -------
    Estimate
        The policy's estimated value. Its standard error knows nothing of the bias.
    """
    rows = LoggedRows.of(rewards, actions, propensities, target)
    return _weighted(sub_gaussian_weights(rows.weights, shrinkage), rows.rewards)


def weighted_mean(weights: Floats, values: Floats) -> Estimate:
    """The sum of weighted values over that of weights, with the influence of a ratio of two means."""
    mean_weight = float(weights.mean())
    if mean_weight == 0.0:
        raise ValueError(
            f"all {len(weights)} weights are 0, as the target never takes a logged action; "
            "the log says nothing of this policy, so evaluate another one."
        )
    value = float(np.dot(weights, values)) / float(weights.sum())
    return Estimate(value, weights * (values - value) / mean_weight)


def _weighted(weights: Floats, rewards: Floats) -> Estimate:
    """The mean of weighted rewards; the weights are overwritten, as memory takes longer than arithmetic."""
    weights *= rewards
    return Estimate.of_own_contributions(weights)


def check_limit(name: str, value: float) -> None:
    """Refuse a limit of weights that is neither positive and finite nor infinity."""
    if value != np.inf:
        check_positive(name, value)

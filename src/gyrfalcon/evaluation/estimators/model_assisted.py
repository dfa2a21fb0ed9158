"""Estimators with a reward model: its predictions, corrected by weighted residuals of the logged rewards.

`rewards`, `actions` and `propensities` are (n,), `target` and `predictions` (n, K). Predictions of a row are
those of a model that was fitted without it, in a log of an adaptive learner from earlier rows alone; see
`predictions_by_time`.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.validation import check_at_least
from gyrfalcon.evaluation.estimators.estimate import Estimate
from gyrfalcon.evaluation.estimators.importance_weighted import weighted_mean
from gyrfalcon.evaluation.estimators.logged_rows import (
    ModelledRows,
    corrected_contributions,
    sums_over_actions,
)
from gyrfalcon.evaluation.estimators.reweighting import (
    optimistic_weights,
    sub_gaussian_weights,
    truncated_weights,
    unchanged_weights,
)
from gyrfalcon.evaluation.estimators.validation import finite_predictions, target_probabilities


def direct_method(target: ArrayLike, predictions: ArrayLike) -> Estimate:
    """The direct method (DM), the mean predicted reward of the policy: as wrong as the model is.

    Parameters
    ----------
    target
        Probabilities of all actions under the policy to be evaluated, (n, K).
    predictions
        Predicted rewards of all actions, (n, K).

    Returns
    -------
    Estimate
        The policy's estimated value. Its standard error is that of the contexts, and knows nothing of the
        model's error.

    Examples
    --------
    >>> direct_method([[0.25, 0.75]] * 4, [[0.5, 0.5]] * 4).value
    0.5
    """
    probabilities = target_probabilities(target)
    table = finite_predictions(predictions, probabilities)
    return Estimate.of_own_contributions(sums_over_actions(probabilities, table))


def doubly_robust(
    rewards: ArrayLike,
    actions: ArrayLike,
    propensities: ArrayLike,
    target: ArrayLike,
    predictions: ArrayLike,
) -> Estimate:
    """The doubly robust estimate (DR), unbiased where propensities are right, however wrong the model.

    Dudik, Langford and Li (2011): the mean of sum_a pi(a) f(a) + w (r - f(logged action)).

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
    predictions
        Predicted rewards of all actions, (n, K).

    Returns
    -------
    Estimate
        The policy's estimated value.

    Examples
    --------
    >>> log = [1, 0, 0, 1], [0, 1, 0, 1], [0.5, 0.2, 0.8, 0.5]
    >>> doubly_robust(*log, target=[[0.25, 0.75]] * 4, predictions=[[0.5, 0.5]] * 4)
    Estimate(0.242188, standard error 0.4937, 4 rows)
    """
    log = rewards, actions, propensities, target, predictions
    return Estimate.of_own_contributions(corrected_contributions(*log, unchanged_weights))


def self_normalised_doubly_robust(
    rewards: ArrayLike,
    actions: ArrayLike,
    propensities: ArrayLike,
    target: ArrayLike,
    predictions: ArrayLike,
) -> Estimate:
    """Self-normalised DR: the direct method plus the weighted mean of the residuals.

    Rewards that are all higher by a constant shift it by just that, also where predictions stay.

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
    predictions
        Predicted rewards of all actions, (n, K).

    Returns
    -------
    Estimate
        The policy's estimated value.
    """
    rows = ModelledRows.of(rewards, actions, propensities, target, predictions)
    return self_normalised_correction(rows.weights, rows.residuals, rows.expected)


def self_normalised_correction(weights: Floats, residuals: Floats, expected: Floats) -> Estimate:
    """The mean predicted reward plus the weighted mean of residuals; overwrites what was expected."""
    model, correction = Estimate.of_own_contributions(expected), weighted_mean(weights, residuals)
    return Estimate(model.value + correction.value, model.influence + correction.influence)


def switch_doubly_robust(
    rewards: ArrayLike,
    actions: ArrayLike,
    propensities: ArrayLike,
    target: ArrayLike,
    predictions: ArrayLike,
    *,
    max_weight: float,
) -> Estimate:
    """SWITCH-DR: residuals correct the model only in rows whose weight is at most `max_weight`.

    Wang, Agarwal and Dudik (2017). Where weights are larger the model is believed, and so is its error.

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
    predictions
        Predicted rewards of all actions, (n, K).
    max_weight
        Largest weight that counts: 0 is `direct_method`, infinity `doubly_robust`.

    Returns
    -------
    Estimate
        The policy's estimated value. Its standard error knows nothing of the bias.
    """
    check_at_least("max_weight", max_weight, 0.0)
    log = rewards, actions, propensities, target, predictions
    return Estimate.of_own_contributions(
        corrected_contributions(*log, lambda weights: truncated_weights(weights, max_weight))
    )


def shrunk_doubly_robust(
    rewards: ArrayLike,
    actions: ArrayLike,
    propensities: ArrayLike,
    target: ArrayLike,
    predictions: ArrayLike,
    *,
    shrinkage: float,
) -> Estimate:
    """DR with optimistic shrinkage (DRos), of weights shrinkage w / (w^2 + shrinkage).

    Su, Dimakopoulou, Krishnamurthy and Dudik (2020): the weights that minimise a bound of the mean squared
    error. None is larger than sqrt(shrinkage) / 2.

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
    predictions
        Predicted rewards of all actions, (n, K).
    shrinkage
        Lambda in the paper, at least 0: 0 is `direct_method`, infinity `doubly_robust`.

    Returns
    -------
    Estimate
        The policy's estimated value. Its standard error knows nothing of the bias.
    """
    check_at_least("shrinkage", shrinkage, 0.0)
    log = rewards, actions, propensities, target, predictions
    return Estimate.of_own_contributions(
        corrected_contributions(*log, lambda weights: optimistic_weights(weights, shrinkage))
    )


def sub_gaussian_doubly_robust(
    rewards: ArrayLike,
    actions: ArrayLike,
    propensities: ArrayLike,
    target: ArrayLike,
    predictions: ArrayLike,
    *,
    shrinkage: float,
) -> Estimate:
    """DR with weights w / (1 - shrinkage + shrinkage w), whose errors are sub-Gaussian.

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
    predictions
        Predicted rewards of all actions, (n, K).
    shrinkage
        A number from 0, which is `doubly_robust`, to 1, where all positive weights are 1.

    Returns
    -------
    Estimate
        The policy's estimated value. Its standard error knows nothing of the bias.
    """
    log = rewards, actions, propensities, target, predictions
    return Estimate.of_own_contributions(
        corrected_contributions(*log, lambda weights: sub_gaussian_weights(weights, shrinkage))
    )

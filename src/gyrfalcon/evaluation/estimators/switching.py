"""SWITCH: importance weighting where weights are small, and a reward model where they are large."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.validation import check_at_least
from gyrfalcon.evaluation.estimators.estimate import Estimate
from gyrfalcon.evaluation.estimators.logged_rows import LoggedRows
from gyrfalcon.evaluation.estimators.reweighting import truncated_weights
from gyrfalcon.evaluation.estimators.validation import as_positions, finite_predictions, target_probabilities


def switch(
    rewards: ArrayLike,
    actions: ArrayLike,
    distribution: ArrayLike,
    target: ArrayLike,
    predictions: ArrayLike,
    *,
    max_weight: float,
) -> Estimate:
    """SWITCH of Wang, Agarwal and Dudik (2017): IPS for actions of small weights, DM for the others.

    `switch_doubly_robust` corrects the model by residuals as well, and needs no full distributions.

    Parameters
    ----------
    rewards
        Rewards as they were logged, (n,).
    actions
        Positions of the logged actions, (n,).
    distribution
        Probabilities of all actions under the policy that was logged, (n, K); an action of probability 0
        has an infinite weight.
    target
        Probabilities of all actions under the policy to be evaluated, (n, K).
    predictions
        Predicted rewards of all actions, (n, K).
    max_weight
        Largest weight that counts: 0 is `direct_method`, infinity `inverse_propensity`; see
        `select_max_weight`.

    Returns
    -------
    Estimate
        The policy's estimated value. Its standard error knows nothing of the bias.

    Examples
    --------
    >>> distribution = [[0.5, 0.5], [0.8, 0.2], [0.8, 0.2], [0.5, 0.5]]
    >>> log = [1, 0, 0, 1], [0, 1, 0, 1], distribution
    >>> switch(*log, [[0.25, 0.75]] * 4, [[0.5, 0.5]] * 4, max_weight=2.0).value
    0.6875
    """
    check_at_least("max_weight", max_weight, 0.0)
    wanted = target_probabilities(target)
    logged = target_probabilities(distribution, len(wanted), "distribution")
    chosen = as_positions(actions, *wanted.shape)
    rows = LoggedRows.of(rewards, chosen, logged[np.arange(len(chosen)), chosen], wanted)
    table = finite_predictions(predictions, wanted)
    small = action_weights(logged, wanted) <= min(max_weight, np.finfo(np.float64).max)
    modelled = np.where(small, 0.0, wanted)
    weighted = truncated_weights(rows.weights, max_weight) * rows.rewards
    return Estimate.of_contributions(weighted + np.einsum("nk,nk->n", modelled, table))


def action_weights(distribution: Floats, target: Floats) -> Floats:
    """Weights of all actions, (n, K): 0 where the target does not act, infinite where it alone does."""
    with np.errstate(divide="ignore"):
        return np.divide(target, distribution, out=np.zeros(target.shape), where=target > 0.0)

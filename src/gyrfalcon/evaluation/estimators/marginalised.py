"""Marginalised inverse propensity scoring: weights of what actions have in common, not of single actions.

Saito and Joachims (2022), "Off-policy evaluation for large action spaces via embeddings". If rewards depend
on an action only through its embedding e (a category, a brand, a length), the weight of a row may be
p(e | x, target) / p(e | x, log), which varies less than that of its action.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gyrfalcon.core.arrays import Floats
from gyrfalcon.evaluation.estimators.estimate import Estimate
from gyrfalcon.evaluation.estimators.importance_weighted import weighted_mean
from gyrfalcon.evaluation.estimators.logged_rows import sums_over_actions
from gyrfalcon.evaluation.estimators.validation import finite_rewards, matching_table, target_probabilities


def marginalised_inverse_propensity(
    rewards: ArrayLike,
    distribution: ArrayLike,
    target: ArrayLike,
    likelihoods: ArrayLike,
    *,
    self_normalised: bool = False,
) -> Estimate:
    """Marginalised IPS (MIPS), the mean of w(x, e) r: unbiased if rewards depend on actions through e alone.

    The target may take actions that the log never took, as long as others have the embedding.

    Parameters
    ----------
    rewards
        Rewards as they were logged, (n,).
    distribution
        Probabilities of all actions under the policy that was logged, (n, K).
    target
        Probabilities of all actions under the policy to be evaluated, (n, K).
    likelihoods
        Probability of each row's embedding under each action, (n, K), up to a factor of the row:
        see `embedding_likelihoods` and `logistic_embedding_likelihoods`.
    self_normalised
        Whether to divide by the mean weight, as `self_normalised_inverse_propensity` does.

    Returns
    -------
    Estimate
        The policy's estimated value. Its standard error knows nothing of the bias where an action matters
        beyond its embedding.

    Examples
    --------
    Actions 0 and 1 have the embedding 0, which was seen in the first row; action 2 has the embedding 1:

    >>> distribution, target = [[0.5, 0.25, 0.25]] * 2, [[0.0, 0.5, 0.5]] * 2
    >>> marginalised_inverse_propensity([1, 0], distribution, target, [[1, 1, 0], [0, 0, 1]]).value
    0.3333333333333333
    """
    earned = finite_rewards(rewards)
    weights = marginal_weights(distribution, target, likelihoods)
    if len(weights) != len(earned):
        raise ValueError(
            f"there are {len(earned)} rewards and {len(weights)} rows of probabilities; give both per row."
        )
    return weighted_mean(weights, earned) if self_normalised else Estimate.of_contributions(weights * earned)


def marginal_weights(distribution: ArrayLike, target: ArrayLike, likelihoods: ArrayLike) -> Floats:
    """Probability of each row's embedding under the target over that under the log, (n,)."""
    wanted = target_probabilities(target)
    logged = target_probabilities(distribution, len(wanted), "distribution")
    table = matching_table("likelihoods", likelihoods, wanted)
    possible = (wanted > 0.0) | (logged > 0.0)
    valid = (np.isfinite(table) & (table >= 0.0)) | ~possible
    if not valid.all():
        row, action = np.argwhere(~valid)[0].tolist()
        raise ValueError(
            f"row {row}: the likelihood of action {action} is {table[row, action]}, and one of the policies "
            "may take it; give the probability of the row's embedding under that action."
        )
    table = np.where(possible, table, 0.0)
    seen = sums_over_actions(logged, table)
    impossible = np.flatnonzero(~(seen > 0.0))
    if len(impossible):
        raise ValueError(
            f"row {impossible[0]}: no action that the log could take has the row's embedding; correct "
            "likelihoods or distribution, or leave the row out."
        )
    return sums_over_actions(wanted, table) / seen

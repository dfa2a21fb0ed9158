"""Scores of the difference between two policies' values, bounded below whatever the propensities.

With Delta = pi - pi_0 and w(a) = Delta(a) / q(a), the doubly robust score of a row with a reward r in [0, 1]
is sum_a Delta(a) g(a) + w(A) (r - g(A)): unbiased for v(pi) - v(pi_0), whatever function g of context and
action, chosen before the action, stands for the rewards. Where w(a) > 0 the row can lose w(a) g(a), and where
w(a) < 0 it can lose |w(a)| (1 - g(a)). So predictions are cut to at most k / w(a), and to at least
1 - k / |w(a)|: then no score is below -1 - k. The cut depends on the weight of each action, not on which one
was played: that would be biased.
"""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints

TRUNCATION = 4.0
"""k: what a row can lose beyond 1. Larger ones keep more of the predictions, and allow smaller bets."""


def contrast_scores(
    difference: Floats,
    propensities: Floats,
    action: Ints,
    propensity: Floats,
    reward: Floats,
    predictions: Floats,
    truncation: Floats | float = TRUNCATION,
) -> Floats:
    """Scores of the value of `difference`, (n,), which are unbiased and at least -1 - truncation.

    Where the played policy never takes an action that `difference` has a part on, the score counts the worst
    for it, so that its mean is no larger than the value.

    Parameters
    ----------
    difference : array (n, K)
        Probabilities of a policy less those of another; or those of one alone, for its value.
    propensities : array (n, K)
        Probabilities by which the actions were played; nan in rows where only the played one's is known.
    action, propensity, reward : array (n,)
        The played action, by number, its probability, and its reward in [0, 1].
    predictions : array (n, K)
        Predicted rewards in [0, 1], from earlier rows only.
    truncation : float or array (n,)
        At least 0; 0 uses no predictions. Each row's may depend on earlier rows.

    Examples
    --------
    >>> difference, half = np.array([[1.0, -1.0], [1.0, -1.0]]), np.full((2, 2), 0.5)
    >>> contrast_scores(difference, half, np.array([0, 1]), half[:, 0], np.ones(2), half, 0.0).tolist()
    [1.0, -1.0]
    """
    played = np.arange(len(action)), action
    with np.errstate(divide="ignore", invalid="ignore"):
        limits = np.asarray(truncation)[..., np.newaxis] * propensities / np.abs(difference)
    limits = np.where(np.isnan(limits), 0.0, limits)
    lowest = np.where(difference < 0.0, 1.0 - limits, 0.0)
    highest = np.where(difference > 0.0, limits, 1.0)
    kept = np.clip(predictions, np.maximum(lowest, 0.0), np.minimum(highest, 1.0))
    weight = difference[played] / propensity
    return np.asarray((difference * kept).sum(axis=1) + weight * (reward - kept[played]))

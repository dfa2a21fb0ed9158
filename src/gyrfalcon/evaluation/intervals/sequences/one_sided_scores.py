"""Off-policy scores that are bounded below, whatever the propensities.

Waudby-Smith, Wu, Ramdas, Karampatziakis and Mineiro (2022), "Anytime-valid off-policy inference for
contextual bandits".
"""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints


def one_sided_scores(
    target: Floats,
    propensities: Floats,
    action: Ints,
    reward: Floats,
    model_scores: Floats,
    truncation: Floats | float = 0.0,
) -> Floats:
    """Doubly robust scores of rewards in [0, 1], (n,), that are unbiased and at least -truncation.

    Predictions are cut at truncation / w(a), with w(a) = pi(a) / e(a) of each action a, not of the one that
    was played: that would be biased. A truncation of 0 gives inverse propensity scores.

    Parameters
    ----------
    target, propensities : array (n, K)
        Probabilities of actions under the evaluated policy, and under the one that was played.
    action, reward : array (n,)
        The played action, by number, and its reward in [0, 1]. For scores of 1 - reward, which bound the
        value from above, give 1 - reward and 1 - model_scores.
    model_scores : array (n, K)
        Predicted rewards in [0, 1], from earlier rows only.
    truncation : float or array (n,)
        At least 0; each row's may depend on earlier rows.

    Examples
    --------
    >>> half = np.full((2, 2), 0.5)
    >>> one_sided_scores(half, half, np.array([0, 1]), np.array([1.0, 0.0]), half, 1.0).tolist()
    [1.0, 0.0]
    """
    check_unit("reward", reward)
    check_unit("model_scores", model_scores)
    check_covered(target, propensities)
    played = np.arange(len(action)), action
    weights = np.divide(target, propensities, out=np.zeros(target.shape), where=target > 0.0)
    floor = np.broadcast_to(np.asarray(truncation, dtype=float), len(action))[:, None]
    caps = np.divide(floor, weights, out=np.full(target.shape, np.inf), where=weights > 0.0)
    capped = np.minimum(model_scores, caps)
    return np.asarray(weights[played] * (reward - capped[played]) + (target * capped).sum(axis=1))


def check_unit(name: str, values: Floats) -> None:
    """Refuse numbers outside of [0, 1]."""
    wrong = np.argwhere(~((values >= 0.0) & (values <= 1.0)))
    if len(wrong):
        place = tuple(wrong[0].tolist())
        raise ValueError(f"row {place[0]}: {name} is {values[place]:g}; map rewards to [0, 1] first.")


def check_covered(target: Floats, propensities: Floats) -> None:
    """Refuse a target that may take actions without a propensity."""
    wrong = np.argwhere((target > 0.0) & ~(propensities > 0.0))
    if len(wrong):
        row, column = wrong[0].tolist()
        raise ValueError(
            f"row {row}: action {column} has a propensity of {propensities[row, column]:g}, and the target "
            "may take it; choose a target within the logged actions."
        )

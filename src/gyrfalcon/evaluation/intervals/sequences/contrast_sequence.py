"""Confidence sequence of the difference in value between two policies, however small propensities are.

The score of a row is at least -1 - k (see `contrast_scores`; Waudby-Smith, Wu, Ramdas, Karampatziakis and
Mineiro 2022). Half of the score plus 1 has the mean (1 + difference) / 2, in [0, 1], and is at least -k / 2,
as bounds from scores that are bounded below require.
"""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.evaluation.intervals.sequences.confidence_sequence import ConfidenceSequence
from gyrfalcon.evaluation.intervals.sequences.contrast_scores import contrast_scores
from gyrfalcon.evaluation.intervals.sequences.off_policy_sequence import off_policy_sequence
from gyrfalcon.evaluation.intervals.sequences.one_sided_scores import check_covered, check_unit
from gyrfalcon.evaluation.intervals.validation import Bounds, check_bounds


def contrast_sequence(
    first: Floats,
    second: Floats,
    propensities: Floats,
    action: Ints,
    reward: Floats,
    model_scores: Floats,
    truncation: Floats | float = 0.0,
    level: float = 0.95,
    *,
    bounds: Bounds = (0.0, 1.0),
    method: str = "betting",
    resolution: int = 500,
    largest_loss: float = 0.25,
) -> ConfidenceSequence:
    """Bounds of the first policy's value less the second one's that hold after all rows at once.

    Parameters
    ----------
    first, second : array (n, K)
        Probabilities of actions under the two policies.
    propensities : array (n, K)
        Probabilities of actions under the policy that was logged.
    action, reward : array (n,)
        The logged action, by position, and its reward in [0, 1], in order of time.
    model_scores : array (n, K)
        Predicted rewards in [0, 1], from earlier rows only.
    truncation : float or array (n,)
        At least 0: larger ones use more of the predictions, and bet less; each row's may depend on earlier
        rows.
    level : float
        The probability of covering after all rows at once.
    bounds : pair of floats
        The rewards that 0 and 1 stand for, in the units of the result.
    method, resolution, largest_loss
        As in `off_policy_sequence`.

    Examples
    --------
    Rewards of action 0 are 1 and those of action 1 are 0, each taken half of the time:

    >>> played, action = np.full((1000, 2), 0.5), np.arange(1000) % 2
    >>> always, never = np.tile([1.0, 0.0], (1000, 1)), np.tile([0.0, 1.0], (1000, 1))
    >>> contrast_sequence(always, never, played, action, 1.0 - action, played).last
    Interval(0.970865, 1, level=0.95, method='one-sided betting')
    """
    check_bounds(bounds)
    arguments = propensities, action, reward, model_scores, truncation
    scores = one_sided_contrast_scores(first, second, *arguments)
    flipped = one_sided_contrast_scores(second, first, *arguments)
    width = bounds[1] - bounds[0]
    return off_policy_sequence(
        scores,
        flipped,
        np.asarray(truncation) / 2.0,
        level,
        bounds=(-width, width),
        method=method,
        resolution=resolution,
        largest_loss=largest_loss,
    )


def one_sided_contrast_scores(
    first: Floats,
    second: Floats,
    propensities: Floats,
    action: Ints,
    reward: Floats,
    model_scores: Floats,
    truncation: Floats | float = 0.0,
) -> Floats:
    """Scores (n,) of at least -truncation / 2 whose mean is (1 + difference in value) / 2.

    Those of the difference's opposite, with the policies exchanged, bound it from above.

    >>> half, one = np.full((2, 2), 0.5), np.tile([1.0, 0.0], (2, 1))
    >>> one_sided_contrast_scores(one, half, half, np.array([0, 1]), np.array([1.0, 0.0]), half).tolist()
    [0.75, 0.75]
    """
    check_unit("reward", reward)
    check_unit("model_scores", model_scores)
    difference = first - second
    check_covered(np.abs(difference), propensities)
    propensity = propensities[np.arange(len(action)), action]
    scores = contrast_scores(difference, propensities, action, propensity, reward, model_scores, truncation)
    return np.asarray((1.0 + scores) / 2.0)

"""Betting confidence sequence of a target policy's value, in the units of its rewards."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.evaluation.intervals.sequences.confidence_sequence import ConfidenceSequence
from gyrfalcon.evaluation.intervals.sequences.off_policy_sequence import off_policy_sequence
from gyrfalcon.evaluation.intervals.sequences.one_sided_scores import one_sided_scores
from gyrfalcon.evaluation.rows.evaluated_rows import EvaluatedRows
from gyrfalcon.evaluation.rows.weighting import TargetWeights

_TRUNCATION = 1.0
"""Scores are at least -1 in units of the reward range, so that predictions help."""


def value_sequence(
    weights: TargetWeights,
    rows: EvaluatedRows,
    bounds: tuple[float, float],
    level: float = 0.95,
    *,
    predictions: Floats | None = None,
    resolution: int = 1,
) -> ConfidenceSequence:
    """Bounds of a target's value that hold after all rows at once, however the log was collected.

    Where the target may take actions of propensity 0, the lower bound takes their rewards as the lowest, and
    the upper one as the highest. Predictions count only where the distribution of every row is known.

    Parameters
    ----------
    weights
        The target on the evaluated rows.
    rows
        The rows in the order of time, with rewards within the bounds: see `check_reward_range`.
    bounds
        Lowest and highest possible reward.
    level
        Probability of covering after all rows at once.
    predictions
        Predicted rewards of all actions from earlier rows, (n, K), in units of the rewards.
    resolution
        Candidates among which bounds before the last row are rounded outward; see `off_policy_sequence`.
    """
    low, high = bounds
    table, exact = rows.table, bool(rows.known.all())
    # Rounding may leave a reward at the end of its range just outside of the unit interval.
    unit = np.clip((table.reward - low) / (high - low), 0.0, 1.0)
    model, truncation = np.zeros(weights.target.shape), 0.0
    chances = np.ones(weights.target.shape)
    if exact and rows.distribution is not None:
        chances = np.where(rows.distribution > 0.0, rows.distribution, 1.0)
    chosen = np.arange(len(table)), table.action
    chances[chosen] = table.propensity
    flipped_model = model
    if exact and rows.distribution is not None and predictions is not None:
        truncation = _TRUNCATION
        possible = rows.distribution > 0.0
        scaled = np.clip((predictions - low) / (high - low), 0.0, 1.0)
        model, flipped_model = np.where(possible, scaled, 0.0), np.where(possible, 1.0 - scaled, 0.0)
    logged = weights.target, chances, table.action
    return off_policy_sequence(
        one_sided_scores(*logged, unit, model, truncation),
        one_sided_scores(*logged, 1.0 - unit, flipped_model, truncation),
        truncation,
        level,
        bounds=bounds,
        resolution=resolution,
    )

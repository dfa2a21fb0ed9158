"""The standard error that logged distributions lead to expect, whatever rows happened to be drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.evaluation.rows.evaluated_rows import EvaluatedRows
from gyrfalcon.evaluation.rows.weighting import TargetWeights

_PRIOR_ROWS = 10.0
"""Rows that the variance of all rewards counts as, beside those of an action."""
_BINS_PER_OCTAVE = 4
_OCTAVES = 60


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ExpectedSpread:
    """Expected error of a weighted mean of contributions, with its rarest rows as a possible bias.

    A row of propensity 0.0001 adds as much variance as 100 of 0.01 and is hardly ever drawn: what it does to
    an estimate is not spread, but that its residual is missing. So weights above some limit count with the
    probability that the target gives to their rows, times the spread of a reward, and the others with their
    variance. The limit is the one that makes the error least.

    Parameters
    ----------
    variance
        Expected sum of the squared errors of rows within the limit.
    bias
        The most that rows beyond the limit add to the error.
    limit
        Largest weight of a row, share times importance weight, that is expected to be seen; inf for all.
    seen
        Expected sum of squared weights within the limit.
    """

    variance: float
    bias: float
    limit: float
    seen: float

    @property
    def error(self) -> float:
        """Expected standard error, with the bias."""
        return math.hypot(math.sqrt(self.variance), self.bias)


def expected_spread(
    weights: TargetWeights, rows: EvaluatedRows, share: Floats, predictions: Floats | None = None
) -> ExpectedSpread:
    """The expected spread of a weighted mean of contributions.

    Parameters
    ----------
    weights
        The target and its weights. Rows of unknown distribution count with the squared weight that was drawn.
    rows
        The evaluated rows.
    share
        Weights of rows in the mean, (n,), whose sum is 1.
    predictions
        Predicted rewards of all actions, (n, K); None without a model.
    """
    deviations = np.sqrt(_reward_variances(rows, predictions))
    chosen = deviations[rows.table.action]
    drawn = np.where(weights.exact, 0.0, share * weights.weights)
    certain = float(np.dot(drawn**2, chosen**2))
    if rows.distribution is None:
        return ExpectedSpread(variance=certain, bias=0.0, limit=math.inf, seen=float(np.dot(drawn, drawn)))
    known = weights.exact
    target, chances = weights.target[known], rows.distribution[known]
    counted = (target > 0.0) & (chances > 0.0)
    places, actions = np.nonzero(counted)
    mass = share[known][places] * target[counted]
    weight = mass / chances[counted]
    squares, deviation = mass * weight, deviations[actions]
    bins = _bins(weight)
    k = _least_error(bins, squares * deviation**2, mass * deviation, certain)
    limit = math.inf if k == 0 else float(weight.max()) * 2.0 ** (-k / _BINS_PER_OCTAVE)
    within = bins >= k
    return ExpectedSpread(
        variance=certain + float(np.dot(squares[within], deviation[within] ** 2)),
        bias=float(np.dot(mass[~within], deviation[~within])),
        limit=limit,
        seen=float(squares[within].sum()) + float(np.dot(drawn, drawn)),
    )


def _reward_variances(rows: EvaluatedRows, predictions: Floats | None) -> Floats:
    """Mean squared residual of logged rewards by action, (K,), near that of all where rows are few."""
    table = rows.table
    center: Floats | float = float(table.reward.mean())
    if predictions is not None:
        center = predictions[np.arange(len(table)), table.action]
    squares = (table.reward - center) ** 2
    counts = np.bincount(table.action, minlength=table.n_actions)
    sums = np.bincount(table.action, weights=squares, minlength=table.n_actions)
    return np.asarray((sums + _PRIOR_ROWS * float(squares.mean())) / (counts + _PRIOR_ROWS))


def _bins(weight: Floats) -> Ints:
    """Numbers of bins from the largest weight down, a quarter of an octave each."""
    if not len(weight):
        return np.zeros(0, dtype=np.int64)
    depth = _BINS_PER_OCTAVE * np.log2(weight.max() / weight)
    return np.asarray(np.minimum(depth, _BINS_PER_OCTAVE * _OCTAVES).astype(np.int64))


def _least_error(bins: Ints, variances: Floats, biases: Floats, certain: float) -> int:
    """How many of the first bins to leave out for the least variance plus squared bias."""
    if not len(bins):
        return 0
    beyond = np.concatenate([[0.0], np.cumsum(np.bincount(bins, weights=biases))])
    gone = np.concatenate([[0.0], np.cumsum(np.bincount(bins, weights=variances))])
    return int(np.argmin(certain + np.maximum(gone[-1] - gone, 0.0) + beyond**2))

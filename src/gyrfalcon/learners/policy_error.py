"""Bound on the regret of a model's greedy policy, from rows that the model has not seen.

The value of a policy pi is the model's, R_f(pi), and its error err(pi), of which 1{a = A} (r - f(x, A)) / p
is an unbiased score of a row. A policy with a value above that of the greedy one has R_f(greedy) - R_f(pi)
below the difference of their errors: what bounds that difference over such policies bounds their gain. So the
bound is a fixed point: the largest upper limit of err(pi) less the lower limit of err(greedy), over policies
whose value by the model is within the bound of the greedy one's.

Limits are Student's, so they hold for many rows. Policies are those that a search in the model class finds:
greedy ones of the model when it is corrected by a regression of its errors, by less or more than these.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.special import stdtrit

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.policies.action_columns import best_and_gaps
from gyrfalcon.core.records import Log
from gyrfalcon.oracles.protocol import AnyOracle, RewardModel

_CORRECTIONS = (0.5, 1.0, 2.0, 4.0, 8.0, 1e6)
"""Multiples of the estimated errors by which adversaries correct the model; the last sees nothing else."""
_MIN_ROWS = 4
"""Rows without which there are no limits worth the name."""


def policy_error(model: RewardModel, oracle: AnyOracle, log: Log, delta: float) -> float:
    """How much more than the greedy policy of a model another policy may earn; infinite for few rows.

    Parameters
    ----------
    model
        The model, fitted on other rows than these.
    oracle
        The class in which errors of the model are looked for.
    log
        Rows with known propensities; rewards and bound are in the model's units.
    delta
        Probability of an error of each limit, on two sides.
    """
    if len(log) < _MIN_ROWS:
        return math.inf
    scores, rows = model.scores(log.contexts), np.arange(len(log))
    residuals = log.reward - scores[rows, log.action]
    greedy = _best(scores, log)
    weights = residuals / log.propensity
    quantile = float(stdtrit(len(log) - 1, 1.0 - delta / 2.0))
    low, high = _limits(np.where(greedy == log.action, weights, 0.0), quantile)
    losses, uppers = [0.0], [high]
    for chosen in _adversaries(scores, oracle, log, residuals):
        losses.append(float((scores[rows, greedy] - scores[rows, chosen]).mean()))
        uppers.append(_limits(np.where(chosen == log.action, weights, 0.0), quantile)[1])
    return _fixed_point(np.array(losses), np.array(uppers) - low)


def _fixed_point(losses: Floats, bounds: Floats) -> float:
    """The bound over policies that lose no more than the bound by the model, from above.

    >>> _fixed_point(np.array([0.0, 0.1, 0.5]), np.array([0.2, 0.3, 0.4]))
    0.3
    """
    bound = float(bounds.max())
    while True:
        shrunk = float(bounds[losses <= max(bound, 0.0)].max())
        if shrunk >= bound:
            return max(bound, 0.0)
        bound = shrunk


def _limits(scores: Floats, quantile: float) -> tuple[float, float]:
    """Student's limits of the mean of scores."""
    mean, radius = float(scores.mean()), quantile * float(scores.std(ddof=1)) / math.sqrt(len(scores))
    return mean - radius, mean + radius


def _adversaries(scores: Floats, oracle: AnyOracle, log: Log, residuals: Floats) -> Iterator[Ints]:
    """Actions of policies that may earn more than the greedy one, (n,) each."""
    errors, _ = oracle.fit(
        oracle.summarise(replace(log, reward=residuals), 1.0 / log.propensity), oracle.empty()
    )
    estimated = errors.scores(log.contexts)
    for factor in _CORRECTIONS:
        yield _best(scores + factor * estimated, log)


def _best(scores: Floats, log: Log) -> Ints:
    """The first best eligible action of each row."""
    eligible = log.contexts.eligible
    best, _ = best_and_gaps(scores.T, None if eligible is None else eligible.T)
    return best

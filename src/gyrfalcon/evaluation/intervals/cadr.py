"""Contextual adaptive doubly robust (CADR) interval of a policy's value.

Bibaut, Dimakopoulou, Kallus, Chambaz and van der Laan (2021), "Post-contextual-bandit inference".
"""

from __future__ import annotations

import math

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.validation import check_level, check_positive
from gyrfalcon.evaluation.intervals.adaptive_weights import past_means
from gyrfalcon.evaluation.intervals.epoch_policies import EpochPolicies
from gyrfalcon.evaluation.intervals.interval import Interval
from gyrfalcon.evaluation.intervals.normal import normal_quantile
from gyrfalcon.evaluation.intervals.validation import checked_column


def cadr_interval(
    rewards: Floats,
    action: Ints,
    target: Floats,
    predictions: Floats,
    policies: EpochPolicies,
    level: float = 0.95,
    *,
    reward_deviation: float = 0.5,
    prior_rows: float = 10.0,
) -> Interval:
    """Normal interval of doubly robust scores D, each over its standard deviation given the past.

    The deviation s of scores under an epoch's policy is estimated from all earlier rows, weighted by the
    epoch's probability of the logged action over its propensity. The value is sum(D / s) / sum(1 / s), and
    the radius z sqrt(n) / sum(1 / s). While rows are few, s^2 leans on `reward_deviation`^2 times the past
    mean of variance proxies, as of so many rows: without it, early rows whose rewards happen to be alike
    would have weights without limit. With many prior rows the weights are those of StableVar.

    Parameters
    ----------
    rewards, action : array (n,)
        Rewards in order of time, and the logged actions, by position.
    target, predictions : array (n, K)
        Probabilities of the policy to be evaluated, or the difference of two, and predicted rewards of models
        fitted to earlier rows.
    policies : EpochPolicies
        What every epoch's policy would have done in every row.
    level : float
        The probability of covering.
    reward_deviation : float
        The standard deviation of rewards given context and action as far as it is known beforehand: half the
        range of rewards is the largest possible.
    prior_rows : float
        The number of rows that `reward_deviation` counts as.

    Examples
    --------
    >>> target, predictions = np.tile([0.25, 0.75], (4, 1)), np.full((4, 2), 0.5)
    >>> one, other = np.full((4, 2), 0.5), np.tile([0.8, 0.2], (4, 1))
    >>> rewards, action = np.array([1.0, 0.0, 0.0, 1.0]), np.array([0, 1, 0, 1])
    >>> policies = EpochPolicies.of([one, other], np.array([0, 1, 1, 0]), action, target)
    >>> cadr_interval(rewards, action, target, predictions, policies)
    Interval(-0.262299, 0.927418, level=0.95, method='CADR')
    """
    check_level(level)
    value, errors = cadr_errors(
        rewards,
        action,
        target,
        predictions,
        policies,
        reward_deviation=reward_deviation,
        prior_rows=prior_rows,
    )
    return Interval.around(value, normal_quantile(level) * float(np.linalg.norm(errors)), level, "CADR")


def cadr_errors(
    rewards: Floats,
    action: Ints,
    target: Floats,
    predictions: Floats,
    policies: EpochPolicies,
    *,
    reward_deviation: float = 0.5,
    prior_rows: float = 10.0,
) -> tuple[float, Floats]:
    """The value of `cadr_interval`, and errors of rows, (n,), whose norm is its standard error."""
    check_positive("reward_deviation", reward_deviation)
    check_positive("prior_rows", prior_rows)
    column = checked_column(rewards, "rewards")
    n, rows = len(column), np.arange(len(column))
    if len(policies.epoch) != n:
        raise ValueError(
            f"there are {n} rewards, and policies of {len(policies.epoch)} rows; give both of the same rows."
        )
    direct = np.einsum("nk,nk->n", target, predictions)
    corrections = target[rows, action] * (column - predictions[rows, action])
    prior = reward_deviation**2 * past_means(policies.proxies, policies.epoch, prior=1.0)
    variances = (prior_rows * prior + rows * _past_variances(direct, corrections, policies)) / (
        prior_rows + rows
    )
    scores = direct + corrections / policies.logged[policies.epoch, rows]
    share = 1.0 / np.sqrt(variances)
    error, share = math.sqrt(n) / float(share.sum()), share / share.sum()
    value = float(share @ scores)
    errors = share * (scores - value)
    # Scores over their deviations have variance 1, so that the standard error is known without them.
    observed = float(np.linalg.norm(errors))
    return value, errors * (error / observed) if observed > 0.0 else np.full(n, error / math.sqrt(n))


def _past_variances(direct: Floats, corrections: Floats, policies: EpochPolicies) -> Floats:
    """Variances of scores under each row's policy, (n,), estimated from earlier rows; 0 for the first."""
    n, epoch = len(direct), policies.epoch
    propensities = policies.logged[epoch, np.arange(n)]
    variances = np.zeros(n)
    for number in np.unique(epoch):
        own = np.flatnonzero(epoch == number)
        own = own[own > 0]
        if not len(own):
            continue
        past = slice(0, int(own[-1]))
        logged = policies.logged[number, past]
        weights = logged / propensities[past]
        # Where the epoch never takes an action, the target does not either, and the row says nothing.
        ratio = np.divide(corrections[past], logged, out=np.zeros(past.stop), where=logged > 0.0)
        scores = direct[past] + ratio
        first, second = (np.cumsum(weights * moment)[own - 1] / own for moment in (scores, scores**2))
        variances[own] = np.maximum(second - first**2, 0.0)
    return variances

"""p-values for sums of martingale differences with known variances, and control of many tests.

Whether an action is chosen, less its logged probability p, has mean 0 given everything before, and variance
p (1 - p), however the probabilities depend on the past. So its sums can be tested in logs of any learner.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from gyrfalcon.core.arrays import Bools, Floats, Ints

_SHARES = 0.5 ** np.arange(1, 15)
"""Stakes of the bets against propensities, as shares of the largest that can't lose everything."""


def two_sided(deviation: Floats, variance: Floats, largest: Floats | float = 1.0) -> Floats:
    """p-values of sums of martingale differences, by the tail of a Poisson variable of this variance.

    Its tail is heavier than the normal one where the variance is small in terms of the largest step, as that
    of a sum of rare events is, and approaches it otherwise.

    Parameters
    ----------
    deviation
        Sums, whose expectation is 0.
    variance
        Sums of the variances of the terms.
    largest
        Bound on the absolute terms.

    Returns
    -------
    Floats
        Probabilities of sums at least as far from 0, in either direction.

    Examples
    --------
    >>> two_sided(np.array([0.0, 30.0, 3.0]), np.array([100.0, 100.0, 0.25])).round(4).tolist()
    [1.0, 0.0046, 0.0022]
    """
    scale = np.asarray(largest, dtype=np.float64)
    size = np.where(np.abs(deviation) > 1e-6 * scale, np.abs(deviation) / scale, 0.0)
    spread = np.maximum(variance, 0.0) / scale**2
    with np.errstate(invalid="ignore"):
        tail = 2.0 * special.gammainc(spread + size, np.maximum(spread, 1e-300))
    return np.where(size == 0.0, 1.0, np.minimum(tail, 1.0))


def bets_against_propensities(
    propensity: Floats, group: Ints, n_possible: Ints, floor: Floats | None = None
) -> Floats:
    """p-values of E[1{a} / p] = 1 where only propensities of logged actions are known, by betting.

    A gambler who stakes a fixed share on 1{a} / p being above 1, or below, multiplies the capital by a factor
    of mean 1 (at most) in each row, so that by Ville's inequality it exceeds 1 / alpha with probability
    alpha at most, whatever the policy does.

    Parameters
    ----------
    propensity
        Propensities of the rows, (n,).
    group
        Group of each row, such as its action within an epoch, (n,).
    n_possible
        Number of rows in which the group's action could have been chosen, (G,).
    floor
        Smallest propensity of each group's action, (G,), which bounds bets on propensities that are too high;
        None for bets on propensities that are too low.
    """
    n_groups = len(n_possible)
    drawn = np.bincount(group, minlength=n_groups)
    others = np.maximum(n_possible - drawn, 0)
    capital = []
    for share in _SHARES:
        stake = np.full(n_groups, share) if floor is None else -share * floor
        rows = np.log1p(stake[group] * (1.0 / propensity - 1.0))
        capital.append(np.bincount(group, weights=rows, minlength=n_groups) + others * np.log1p(-stake))
    mean = special.logsumexp(np.array(capital), axis=0) - np.log(len(_SHARES))
    return np.asarray(np.exp(np.minimum(-mean, 0.0)))


def holm(p_values: Floats, alpha: float) -> Bools:
    """Which hypotheses Holm's method rejects: with probability alpha at most, any true one.

    A p-value of nan is of a test that was not made.

    >>> holm(np.array([0.001, 0.04, 0.02]), 0.05).tolist()
    [True, True, True]
    >>> holm(np.array([0.02, 0.04, 0.02]), 0.05).tolist()
    [False, False, False]
    """
    flat = p_values.ravel()
    order = np.argsort(flat, kind="stable")  # nan last
    n_tests = int((~np.isnan(flat)).sum())
    within = flat[order[:n_tests]] <= alpha / np.arange(n_tests, 0, -1)
    rejected = np.zeros(len(flat), np.bool_)
    rejected[order[: int(np.append(within, False).argmin())]] = True
    return rejected.reshape(p_values.shape)

"""Weights for scores of adaptively collected rows, which keep their weighted mean normal.

`min_var_weights` and `stable_var_weights` are those of Zhan, Hadad, Hirshberg and Athey (2021) without
contexts; allocations are those of Hadad, Hirshberg, Zhan, Wager and Athey (2021).
"""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.validation import check_level, check_share
from gyrfalcon.evaluation.intervals.interval import Interval
from gyrfalcon.evaluation.intervals.normal import normal_quantile
from gyrfalcon.evaluation.intervals.validation import checked_column


def variance_proxies(target: Floats, propensities: Floats) -> Floats:
    """sum_a pi(a)^2 / e(a), (..., n): what the variance of a doubly robust score is proportional to.

    `target` and `propensities` are distributions over actions, (..., n, K). For a contrast of two policies,
    `target` is their difference.
    """
    if np.shape(target)[-2:] != np.shape(propensities)[-2:] or np.ndim(target) < 2:
        raise ValueError(
            f"target has shape {np.shape(target)}, propensities {np.shape(propensities)}; give (..., n, K)."
        )
    valid = (np.asarray(propensities) > 0.0) | (
        (np.asarray(propensities) == 0.0) & (np.asarray(target) == 0.0)
    )
    if not valid.all():
        *_, row, action = np.argwhere(~valid)[0].tolist()
        raise ValueError(
            f"row {row}: action {action} has no positive propensity, and the target may take it; choose a "
            "target within the logged actions, or leave out the rows of that epoch."
        )
    squares = np.divide(
        np.square(target), propensities, out=np.zeros(valid.shape), where=np.not_equal(target, 0.0)
    )
    return np.asarray(squares.sum(axis=-1))


def past_means(proxies: Floats, epoch: Ints, *, prior: float | None = None) -> Floats:
    """Means (n,) of the proxies of each row's epoch over the contexts of earlier rows.

    Parameters
    ----------
    proxies : array (n_epochs, n)
        Variance proxies of every epoch's policy on every row's context.
    epoch : array (n,)
        The epoch in which each row was decided.
    prior : float, optional
        A proxy that counts as one more earlier row. Give 1 for contrasts: proxies of a policy are at least 1,
        but those of a contrast may be as good as 0 in the first rows, whose weights then are without limit.

    Returns
    -------
    array (n,)
        One number per row, known before its context; that of the first row, which has no past, is its own
        proxy.
    """
    n_epochs, n = np.shape(proxies)
    checked = checked_epochs(epoch, n_epochs, n)
    sums, rows = np.cumsum(proxies, axis=1), np.arange(1, n)
    later = sums[checked[1:], rows - 1]
    if prior is not None:
        return np.concatenate([np.full(min(n, 1), float(prior)), (prior + later) / (rows + 1)])
    return np.concatenate([np.asarray(proxies)[checked[:1], 0], later / rows])


def checked_epochs(epoch: Ints, n_epochs: int, n: int) -> Ints:
    """Numbers of epochs (n,), refused where no policy has them."""
    numbers = np.asarray(epoch)
    whole = np.issubdtype(numbers.dtype, np.integer)
    if not whole or numbers.shape != (n,) or numbers.min(initial=0) < 0 or numbers.max(initial=0) >= n_epochs:
        raise ValueError(f"epoch must be {n} whole numbers from 0 to {n_epochs - 1}, one per row.")
    return numbers


def min_var_weights(proxies: Floats) -> Floats:
    """Inverse variance proxies, (n,): the weighted mean of least variance."""
    return np.asarray(1.0 / _positive(proxies, "proxies"))


def stable_var_weights(proxies: Floats) -> Floats:
    """Inverse roots of variance proxies, (n,): every weighted score has about the same variance."""
    return np.asarray(1.0 / np.sqrt(_positive(proxies, "proxies")))


def constant_allocation(n: int) -> Floats:
    """Share of the remaining variance that each row gets, (n,), when all get the same."""
    return np.asarray(1.0 / np.arange(n, 0, -1))


def two_point_allocation(propensity: Floats, decay: float = 0.7) -> Floats:
    """Share of the remaining variance that each row gets, (n,), where propensities may go to 0 or stay.

    Parameters
    ----------
    propensity : array (n,)
        The propensity of the action whose value is estimated.
    decay : float
        The exponent a of the floor t^-a on propensities, below 1.
    """
    check_share("decay", decay, 0.0, np.nextafter(1.0, 0.0))
    column = _positive(propensity, "propensity")
    n, done = len(column), np.arange(1, len(column) + 1)
    staying = 1.0 / (n - done + 1)
    vanishing = (1.0 - decay) / ((1.0 - decay) + n * (done / n) ** decay - done)
    rates = column * staying + (1.0 - column) * vanishing
    rates[-1] = 1.0
    return np.asarray(rates)


def allocation_weights(propensity: Floats, allocation: Floats) -> Floats:
    """Weights h (n,) whose h^2 / e take the allocated shares of what remains of 1: they sum to 1.

    >>> allocation_weights(np.full(4, 0.25), constant_allocation(4)).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    column, rates = _positive(propensity, "propensity"), checked_column(allocation, "allocation")
    remaining = np.concatenate([[1.0], np.cumprod(1.0 - rates[:-1])])
    return np.asarray(np.sqrt(rates * remaining * column))


def weighted_interval(contributions: Floats, weights: Floats, level: float = 0.95) -> Interval:
    """Normal interval of the weighted mean Q of contributions (n,), studentised by sum h^2 (G - Q)^2.

    Weights must be known before their row's action, and only their ratios matter.

    >>> weighted_interval(np.array([1.5, 0.5, -0.125, 0.5]), np.array([1.0, 2.0, 2.0, 1.0]))
    Interval(-0.0534785, 0.970145, level=0.95, method='adaptive weights')
    """
    check_level(level)
    column, weight = checked_column(contributions), _positive(weights, "weights")
    if len(column) != len(weight):
        raise ValueError(
            f"there are {len(column)} contributions and {len(weight)} weights; give one per row."
        )
    share = weight / weight.sum()
    value = float(share @ column)
    error = float(np.linalg.norm(share * (column - value)))
    return Interval.around(value, normal_quantile(level) * error, level, "adaptive weights")


def _positive(values: Floats, name: str) -> Floats:
    """A column of positive finite numbers, (n,)."""
    column = checked_column(values, name)
    wrong = np.flatnonzero(column <= 0.0)
    if len(wrong):
        raise ValueError(f"row {wrong[0]}: {name} is {column[wrong[0]]:g}; give positive numbers.")
    return column

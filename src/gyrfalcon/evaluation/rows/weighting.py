"""Importance weights of a target policy on a log, and how variable they are expected to be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.evaluation.rows.evaluated_rows import EvaluatedRows

_PRIOR_ROWS = 10.0
"""Rows that the prior counts as, and the mean of earlier epochs when an epoch begins."""
_LEAST_CHANCE = 1e-9
"""Least probability that variance proxies of rows to be weighted tell from smaller ones."""
_IMPOSSIBLE_CHANCE = 1e-6
"""What an impossible action counts as: its epochs have a weight only where no others support the target."""
_MOST_CONTEXTS = 500
"""Earlier contexts on which an epoch's policy is computed."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TargetWeights:
    """A target policy on evaluated rows, with importance weights and variance proxies.

    Parameters
    ----------
    target
        Probabilities of all actions, (n, K).
    weights
        The target's probability of the logged action over its propensity, (n,).
    proxies
        Expected squared weights given the context, sum_a pi(a)^2 / e(a), (n,); the squared weight itself in
        rows whose distribution is unknown.
    exact
        In which rows the proxy is the expected squared weight, (n,).
    unsupported
        Probability that the target gives to actions of propensity 0, (n,).
    """

    target: Floats
    weights: Floats
    proxies: Floats
    exact: Bools
    unsupported: Floats

    @staticmethod
    def of(target: Floats, rows: EvaluatedRows) -> TargetWeights:
        """The weights of a target's probabilities (n, K) on these rows."""
        table = rows.table
        chosen = target[np.arange(len(target)), table.action]
        weights = np.divide(chosen, table.propensity, out=np.zeros(len(target)), where=chosen > 0.0)
        exact, proxies, unsupported = rows.known, weights**2, np.zeros(len(target))
        if rows.distribution is not None:
            chances = rows.distribution
            proxies = np.where(exact, supported_proxies(target, chances), proxies)
            unsupported = np.where(exact, (target * ~(chances > 0.0)).sum(axis=1), 0.0)
        return TargetWeights(
            target=target, weights=weights, proxies=proxies, exact=exact, unsupported=unsupported
        )

    def bounded(self, rows: EvaluatedRows) -> Floats:
        """Variance proxies that tell how much rows should count, (n,): large where support is missing."""
        bounded = np.minimum(self.proxies, 1.0 / _LEAST_CHANCE)
        if rows.distribution is None:
            return bounded
        return np.where(self.exact, bounded_proxies(self.target, rows.distribution), bounded)

    @staticmethod
    def of_logged_play(rows: EvaluatedRows) -> TargetWeights:
        """Weights of 1: the logged play evaluated by its own rewards."""
        target = np.zeros((len(rows.table), rows.table.n_actions))
        target[np.arange(len(target)), rows.table.action] = 1.0
        if rows.distribution is not None:
            target = np.where(rows.known[:, np.newaxis], rows.distribution, target)
        return TargetWeights.unweighted(target)

    @staticmethod
    def unweighted(target: Floats) -> TargetWeights:
        """Weights of 1 for a target (n, K) whose rows count alike."""
        n = len(target)
        return TargetWeights(
            target=target,
            weights=np.ones(n),
            proxies=np.ones(n),
            exact=np.ones(n, dtype=np.bool_),
            unsupported=np.zeros(n),
        )


def supported_proxies(target: Floats, chances: Floats) -> Floats:
    """sum_a pi(a)^2 / e(a) over actions of positive propensity, (n,)."""
    squares = np.divide(target**2, chances, out=np.zeros(target.shape), where=chances > 0.0)
    return np.asarray(squares.sum(axis=1))


def bounded_proxies(target: Floats, chances: Floats) -> Floats:
    """sum_a pi(a)^2 / e(a) with e(a) bounded below, (n,), large where the target takes impossible actions.

    >>> bounded_proxies(np.array([[0.5, 0.5], [0.0, 1.0]]), np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [1.0, 1000000.0]
    """
    possible = np.where(chances > 0.0, np.maximum(chances, _LEAST_CHANCE), _IMPOSSIBLE_CHANCE)
    return np.asarray((target**2 / possible).sum(axis=1))


def epochs_of(rows: EvaluatedRows) -> Ints | None:
    """Number of the policy in play in each row, (n,), counted from 0; None if neither is logged.

    Policies are distinguished by their content hashes, or by the numbers of epochs. Planned uniform play
    within an epoch is a policy of its own.
    """
    table = rows.table
    if table.model is not None and all(isinstance(model, str) for model in table.model):
        numbers = _numbered(table.model.astype(str))
    elif table.epoch is not None:
        numbers = _numbered(table.epoch)
    else:
        return None
    return _numbered(2 * numbers + planned_uniform(rows))


def planned_uniform(rows: EvaluatedRows) -> Bools:
    """Which passive rows were planned, and not drawn by a coin: their distribution is uniform, (n,).

    Where a coin decides, the logged distribution is that of both outcomes, and rows alike in it count alike.
    """
    table = rows.table
    if table.passive is None or rows.distribution is None:
        return np.zeros(len(table), dtype=np.bool_)
    even = table.eligible / table.eligible.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        return np.asarray(table.passive & (np.abs(rows.distribution - even) <= 1e-9).all(axis=1))


def _numbered(values: NDArray[Any]) -> Ints:
    return np.asarray(np.unique(values, return_inverse=True)[1], dtype=np.int64)


EpochProxies: TypeAlias = Callable[[int, Ints], Floats | None]
"""Variance proxies of an epoch's policy on the contexts of some rows; None where the policy is unknown."""


def expected_proxies(
    proxies: Floats, epochs: Ints | None, prior: float, under: EpochProxies | None = None
) -> Floats:
    """Means of variance proxies over earlier contexts, (n,), which are known before each row's context.

    A row's mean is over all earlier contexts under its own epoch's policy, where that is known. Otherwise it
    is over the earlier rows of its epoch and what was expected when the epoch began; where no epochs are
    logged, over the later half of all earlier rows.

    Parameters
    ----------
    proxies
        Variance proxies of the rows, each under the policy that decided it, (n,).
    epochs
        Number of the policy in play in each row, (n,); None where unknown.
    prior
        What is expected before any row, such as the number of actions.
    under
        Variance proxies of an epoch's policy on the contexts of other rows; None where policies are unknown.

    Examples
    --------
    >>> expected_proxies(np.array([2.0, 2.0, 4.0, 4.0]), np.array([0, 0, 1, 1]), 2.0).round(3).tolist()
    [2.0, 2.0, 2.0, 2.182]
    """
    n, sums = len(proxies), np.concatenate([[0.0], np.cumsum(proxies)])
    if epochs is None:
        return _recent_means(sums, np.arange(n), prior)
    expected = np.empty(n)
    for epoch, own in _rows_by_epoch(epochs):
        first = int(own[0])
        before = float(_recent_means(sums, own[:1], prior)[0])
        weight = _PRIOR_ROWS
        # Evenly spaced contexts stand for all earlier ones, so that epochs cost the same.
        places = np.unique(np.linspace(0, first - 1, _MOST_CONTEXTS).astype(np.int64)) if first else own[:0]
        earlier = under(epoch, places) if under is not None and len(places) else None
        if earlier is not None:
            before = (_PRIOR_ROWS * prior + first * float(earlier.mean())) / (_PRIOR_ROWS + first)
            weight += first
        within = np.concatenate([[0.0], np.cumsum(proxies[own])[:-1]])
        expected[own] = (weight * before + within) / (weight + np.arange(len(own)))
    return expected


def _rows_by_epoch(epochs: Ints) -> Iterator[tuple[int, Ints]]:
    """Rows of each epoch, in the order of the log."""
    order = np.argsort(epochs, kind="stable")
    starts = np.flatnonzero(np.diff(epochs[order], prepend=epochs[order[:1]] - 1))
    for rows in np.split(order, starts[1:]) if len(order) else []:
        yield int(epochs[rows[0]]), rows


def _recent_means(sums: Floats, rows: Ints, prior: float) -> Floats:
    """Means over the later half of the rows before each of these, with some rows of the prior."""
    start = rows // 2
    return np.asarray((_PRIOR_ROWS * prior + sums[rows] - sums[start]) / (_PRIOR_ROWS + rows - start))

"""Importance weights of a target policy on a log, and how variable they are expected to be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.evaluation.evaluated_rows import EvaluatedRows

_PRIOR_ROWS = 10.0
"""Rows that the mean of earlier epochs counts as when an epoch begins."""


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
            possible = chances > 0.0
            squares = np.divide(target**2, chances, out=np.zeros(target.shape), where=possible)
            proxies = np.where(exact, squares.sum(axis=1), proxies)
            unsupported = np.where(exact, (target * ~possible).sum(axis=1), 0.0)
        return TargetWeights(
            target=target, weights=weights, proxies=proxies, exact=exact, unsupported=unsupported
        )

    @staticmethod
    def of_logged_play(rows: EvaluatedRows) -> TargetWeights:
        """Weights of 1: the logged play evaluated by its own rewards."""
        n = len(rows.table)
        ones = np.ones(n)
        target = np.zeros((n, rows.table.n_actions))
        target[np.arange(n), rows.table.action] = 1.0
        if rows.distribution is not None:
            target = np.where(rows.known[:, np.newaxis], rows.distribution, target)
        return TargetWeights(
            target=target,
            weights=ones,
            proxies=ones,
            exact=np.ones(n, dtype=np.bool_),
            unsupported=np.zeros(n),
        )


def epochs_of(rows: EvaluatedRows) -> Ints | None:
    """Number of the policy in play in each row, (n,), where epochs or content hashes are logged."""
    table = rows.table
    if table.model is not None and all(isinstance(model, str) for model in table.model):
        return np.asarray(np.unique(table.model.astype(str), return_inverse=True)[1], dtype=np.int64)
    return table.epoch


def expected_proxies(proxies: Floats, epochs: Ints | None, prior: float) -> Floats:
    """Means of the variance proxies of earlier rows, (n,), which are known before each row's context.

    A row's mean is over the earlier rows of its own epoch, on top of what was expected when the epoch
    began; where no epochs are logged, over the later half of all earlier rows.

    >>> expected_proxies(np.array([2.0, 2.0, 4.0, 4.0]), np.array([0, 0, 1, 1]), 2.0).round(3).tolist()
    [2.0, 2.0, 2.0, 2.182]
    """
    n = len(proxies)
    sums = np.concatenate([[0.0], np.cumsum(proxies)])
    if epochs is None:
        row = np.arange(n)
        start = row // 2
        return np.asarray((_PRIOR_ROWS * prior + sums[row] - sums[start]) / (_PRIOR_ROWS + row - start))
    expected = np.empty(n)
    before = prior
    starts = np.flatnonzero(np.concatenate([[True], epochs[1:] != epochs[:-1]])) if n else np.zeros(0, int)
    for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), n], strict=True):
        done = np.arange(stop - start + 1)
        means = (_PRIOR_ROWS * before + sums[start : stop + 1] - sums[start]) / (_PRIOR_ROWS + done)
        expected[start:stop], before = means[:-1], float(means[-1])
    return expected

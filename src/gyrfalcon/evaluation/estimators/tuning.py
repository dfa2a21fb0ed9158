"""Limits of weights chosen from the log: those of the least estimated mean squared error.

Weights v in place of w make an estimate less variable and biased. What the bias is at most follows from full
distributions (Wang, Agarwal and Dudik 2017, section 4): the range of rewards times the mean over contexts of
sum_a e(a) |w(a) - v(a)|, for predictions within that range. Without them it is estimated from what the
difference of weights makes of the logged residuals, as Su, Dimakopoulou, Krishnamurthy and Dudik (2020) do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.validation import check_at_least, check_positive
from gyrfalcon.evaluation.estimators.logged_rows import LoggedRows, ModelledRows
from gyrfalcon.evaluation.estimators.reweighting import (
    Reweighting,
    optimistic_weights,
    truncated_weights,
)
from gyrfalcon.evaluation.estimators.switching import action_weights
from gyrfalcon.evaluation.estimators.validation import target_probabilities

_N_CANDIDATES = 21


def select_max_weight(
    rewards: ArrayLike,
    actions: ArrayLike,
    propensities: ArrayLike,
    target: ArrayLike,
    predictions: ArrayLike | None = None,
    *,
    distribution: ArrayLike | None = None,
    reward_range: float | None = None,
    clipped: bool = False,
    candidates: Sequence[float] | None = None,
) -> float:
    """The `max_weight` of the least estimated squared error of SWITCH, SWITCH-DR or clipped IPS.

    Parameters
    ----------
    rewards
        Rewards as they were logged, (n,).
    actions
        Positions of the logged actions, (n,).
    propensities
        Probabilities with which they were chosen, (n,).
    target
        Probabilities of all actions under the policy to be evaluated, (n, K).
    predictions
        Predicted rewards of all actions, (n, K); None for `clipped_inverse_propensity`.
    distribution
        Probabilities of all actions under the policy that was logged, (n, K). With `reward_range` the bias is
        bounded; without both it is estimated, which misses the bias of rows that were not drawn yet.
    reward_range
        The largest possible reward less the smallest one.
    clipped
        Whether larger weights are cut at the limit, as in clipped IPS, instead of left out.
    candidates
        Limits to choose from; None means 21 quantiles of the weights, 0 if there are predictions, and
        infinity.

    Returns
    -------
    float
        The best candidate, of several the largest.

    Examples
    --------
    >>> distribution, target = [[0.999, 0.001]] * 4, [[0.75, 0.25]] * 4
    >>> log = [1, 0, 0, 1], [0, 1, 0, 0], [0.999, 0.001, 0.999, 0.999], target
    >>> select_max_weight(*log, [[0.5, 0.5]] * 4, distribution=distribution, reward_range=1.0)
    0.7507507507507507
    """
    log = _Candidates.of(rewards, actions, propensities, target, predictions, distribution, reward_range)
    if candidates is None:
        positive = log.weights[log.weights > 0.0]
        shares = np.linspace(0.0, 1.0, _N_CANDIDATES)
        quantiles = np.quantile(positive, shares, method="lower").tolist() if len(positive) else []
        candidates = [*([] if predictions is None else [0.0]), *quantiles, math.inf]

    def limited(limit: float) -> Reweighting:
        check_at_least("max_weight", limit, 0.0)
        if clipped:
            return lambda weights: np.minimum(weights, limit)
        return lambda weights: truncated_weights(weights, limit)

    return log.best(candidates, limited)


def select_shrinkage(
    rewards: ArrayLike,
    actions: ArrayLike,
    propensities: ArrayLike,
    target: ArrayLike,
    predictions: ArrayLike,
    *,
    distribution: ArrayLike | None = None,
    reward_range: float | None = None,
    candidates: Sequence[float] | None = None,
) -> float:
    """The `shrinkage` of the least estimated squared error of `shrunk_doubly_robust`.

    Parameters
    ----------
    rewards
        Rewards as they were logged, (n,).
    actions
        Positions of the logged actions, (n,).
    propensities
        Probabilities with which they were chosen, (n,).
    target
        Probabilities of all actions under the policy to be evaluated, (n, K).
    predictions
        Predicted rewards of all actions, (n, K).
    distribution
        Probabilities of all actions under the policy that was logged, (n, K). With `reward_range` the bias is
        bounded; without both it is estimated, which misses the bias of rows that were not drawn yet.
    reward_range
        The largest possible reward less the smallest one.
    candidates
        Numbers to choose from; None means 21 from 0.01 of the smallest squared weight to 100 times the
        largest one, 0 and infinity.

    Returns
    -------
    float
        The best candidate, of several the largest.
    """
    log = _Candidates.of(rewards, actions, propensities, target, predictions, distribution, reward_range)
    if candidates is None:
        squares = np.square(log.weights[log.weights > 0.0])
        low, high = (float(squares.min()), float(squares.max())) if len(squares) else (1.0, 1.0)
        candidates = [0.0, *np.geomspace(0.01 * low, 100.0 * high, _N_CANDIDATES).tolist(), math.inf]

    def shrunk(shrinkage: float) -> Reweighting:
        check_at_least("shrinkage", shrinkage, 0.0)
        return lambda weights: optimistic_weights(weights, shrinkage)

    return log.best(candidates, shrunk)


@dataclass(frozen=True, slots=True)
class _Candidates:
    """What estimated errors of candidates are computed from."""

    weights: Floats
    """(n,)."""
    direct: Floats
    """(n,) predicted rewards of the target."""
    residuals: Floats
    """(n,) what weights multiply."""
    bound: _BiasBound | None

    @staticmethod
    def of(
        rewards: ArrayLike,
        actions: ArrayLike,
        propensities: ArrayLike,
        target: ArrayLike,
        predictions: ArrayLike | None,
        distribution: ArrayLike | None,
        reward_range: float | None,
    ) -> _Candidates:
        bound = _BiasBound.of(target, distribution, reward_range)
        if predictions is None:
            plain = LoggedRows.of(rewards, actions, propensities, target)
            return _Candidates(plain.weights, np.zeros(len(plain.rewards)), plain.rewards, bound)
        rows = ModelledRows.of(rewards, actions, propensities, target, predictions)
        return _Candidates(rows.weights, rows.expected, rows.residuals, bound)

    def best(self, candidates: Sequence[float], reweighting: Callable[[float], Reweighting]) -> float:
        """The candidate of the least estimated error, of several the largest."""
        if not len(candidates):
            raise ValueError("candidates is empty; give at least one, or None.")
        return min(sorted(candidates, reverse=True), key=lambda one: self._error(reweighting(one)))

    def _error(self, reweighted: Reweighting) -> float:
        n, used = len(self.weights), reweighted(self.weights)
        variance = float(np.var(self.direct + used * self.residuals)) / n
        if self.bound is not None:
            return variance + self.bound.bias(reweighted) ** 2
        difference = (self.weights - used) * self.residuals
        # The squared mean exceeds the squared bias by the variance of that mean.
        return variance + max(0.0, float(difference.mean()) ** 2 - float(np.var(difference)) / n)


@dataclass(frozen=True, slots=True)
class _BiasBound:
    """The largest bias that other weights may cause."""

    target: Floats
    distribution: Floats
    weights: Floats
    """(n, K), 0 where the log never takes the action."""
    unseen: Bools
    """(n, K): actions that the log never takes."""
    reward_range: float

    @staticmethod
    def of(
        target: ArrayLike, distribution: ArrayLike | None, reward_range: float | None
    ) -> _BiasBound | None:
        if distribution is None and reward_range is None:
            return None
        if distribution is None or reward_range is None:
            raise ValueError(
                "distribution and reward_range bound the bias together; give both, or neither to estimate it."
            )
        check_positive("reward_range", reward_range)
        wanted = target_probabilities(target)
        logged = target_probabilities(distribution, len(wanted), "distribution")
        weights = action_weights(logged, wanted)
        unseen = np.isinf(weights)
        return _BiasBound(wanted, logged, np.where(unseen, 0.0, weights), unseen, reward_range)

    def bias(self, reweighted: Reweighting) -> float:
        changed = self.distribution * np.abs(self.weights - reweighted(self.weights))
        lost = np.where(self.unseen, self.target, changed)
        return self.reward_range * float(lost.sum(axis=1).mean())

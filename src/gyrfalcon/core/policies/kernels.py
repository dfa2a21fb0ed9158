"""Action selection kernels: scores (..., K) and eligible actions -> probabilities (..., K).

A row gets the same bits alone and in any batch. Ties at the best score go to the lowest index. K is the
number of eligible actions of the row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.policies.action_columns import (
    barrier_level,
    best_and_gaps,
    best_of_row,
    blank,
    by_action,
    n_eligible,
    rest_to_best,
    rows_of,
    sequential_sum,
    uniform_columns,
)
from gyrfalcon.core.validation import check_share


def inverse_gap_weighting(scores: ArrayLike, gamma: float, eligible: ArrayLike | None = None) -> Floats:
    """Inverse gap weighting: 1 / (K + gamma gap), and the remainder for the best action.

    The paper's action selection kernel.

    Parameters
    ----------
    scores : array_like
        (n, K) or (K,) scores of the actions.
    gamma : float
        Learning rate gamma: the larger, the greedier.
    eligible : array_like, optional
        Mask of the scores' shape; False marks actions that may not be chosen.

    Examples
    --------
    >>> inverse_gap_weighting([[0.7, 0.4, 0.1]], gamma=10).round(8).tolist()
    [[0.72222222, 0.16666667, 0.11111111]]
    >>> inverse_gap_weighting([0.7, 0.4, 0.1], gamma=10, eligible=[True, False, True]).round(3).tolist()
    [0.875, 0.0, 0.125]
    """
    _check_gamma(gamma)
    columns, mask = by_action(scores, eligible)
    if gamma == 0.0:
        return rows_of(uniform_columns(columns, mask))
    best, gaps = best_and_gaps(columns, mask)
    with np.errstate(over="ignore"):  # an endless gap has probability 0
        gaps *= gamma
    gaps += n_eligible(columns, mask)
    return rows_of(rest_to_best(np.reciprocal(gaps, out=gaps), best, mask))


def log_barrier_weighting(scores: ArrayLike, gamma: float, eligible: ArrayLike | None = None) -> Floats:
    """Log-barrier weighting: 1 / (lam + gamma gap) with the lam in [1, K] that makes the row sum to 1.

    No other weighting has a smaller worst-case trade-off of regret and estimation error.

    Parameters
    ----------
    scores : array_like
        (n, K) or (K,) scores of the actions.
    gamma : float
        Learning rate gamma: the larger, the greedier.
    eligible : array_like, optional
        Mask of the scores' shape; False marks actions that may not be chosen.

    Examples
    --------
    >>> log_barrier_weighting([[0.7, 0.4, 0.1]], gamma=10).round(8).tolist()
    [[0.64741395, 0.22004104, 0.13254501]]
    """
    _check_gamma(gamma)
    columns, mask = by_action(scores, eligible)
    if gamma == 0.0:
        return rows_of(uniform_columns(columns, mask))
    best, gaps = best_and_gaps(columns, mask)
    with np.errstate(over="ignore"):
        gaps *= gamma
    weights = 1.0 / (gaps + barrier_level(gaps, mask))
    return rows_of(rest_to_best(weights, best, mask))


def epsilon_greedy(scores: ArrayLike, epsilon: float, eligible: ArrayLike | None = None) -> Floats:
    """Epsilon-greedy probabilities: epsilon / K for every action, and 1 - epsilon more for the best.

    Parameters
    ----------
    scores : array_like
        (n, K) or (K,) scores of the actions.
    epsilon : float
        Share of uniform exploration; 0 is greedy.
    eligible : array_like, optional
        Mask of the scores' shape; False marks actions that may not be chosen.

    Examples
    --------
    >>> epsilon_greedy([[0.2, 0.9]], epsilon=0.1).tolist()
    [[0.05, 0.95]]
    """
    check_share("epsilon", epsilon)
    columns, mask = by_action(scores, eligible)
    best, _ = best_and_gaps(columns, mask)
    weights = epsilon * uniform_columns(columns, mask)
    return rows_of(rest_to_best(weights, best, mask))


def softmax(scores: ArrayLike, temperature: float, eligible: ArrayLike | None = None) -> Floats:
    """Boltzmann probabilities: exp(score / temperature), normalised over the eligible actions.

    Parameters
    ----------
    scores : array_like
        (n, K) or (K,) scores of the actions.
    temperature : float
        Scale of the scores: the larger, the more uniform.
    eligible : array_like, optional
        Mask of the scores' shape; False marks actions that may not be chosen.

    Examples
    --------
    >>> softmax([[1.0, 1.0]], temperature=0.5).tolist()
    [[0.5, 0.5]]
    """
    _check_temperature(temperature)
    columns, mask = by_action(scores, eligible)
    best, gaps = best_and_gaps(columns, mask)
    with np.errstate(over="ignore", under="ignore"):
        weights = np.exp(-(gaps / temperature))
        blank(weights, mask)
        weights /= sequential_sum(weights)
    return rows_of(rest_to_best(weights, best, mask))


def uniform(n_actions: int, n: int, eligible: Bools | None = None) -> Floats:
    """Uniform probabilities: 1 / K for every eligible action of each row.

    Parameters
    ----------
    n_actions : int
        Number of actions K.
    n : int
        Number of rows.
    eligible : array of bool, optional
        (n, K) mask; False marks actions that may not be chosen.

    Examples
    --------
    >>> uniform(2, 1).tolist()
    [[0.5, 0.5]]
    """
    columns, mask = by_action(np.zeros((n, n_actions)), eligible)
    return rows_of(uniform_columns(columns, mask))


def mixture(parts: Sequence[Floats], weights: Sequence[float]) -> Floats:
    """Weighted mean of probability tables, summed in the order given.

    Parameters
    ----------
    parts : Sequence[array of float]
        Tables of probabilities, each (n, K).
    weights : Sequence[float]
        Weight of each table; they sum to 1.

    Examples
    --------
    >>> mixture([np.array([[1.0, 0.0]]), np.array([[0.5, 0.5]])], [0.9, 0.1]).tolist()
    [[0.9500000000000001, 0.05]]
    """
    total = weights[0] * parts[0]
    for weight, part in zip(weights[1:], parts[1:], strict=True):
        total += weight * part
    return total


class Kernel(Protocol):
    """How scores become probabilities."""

    def probabilities(self, scores: Floats, eligible: Bools | None) -> Floats:
        """(n, K) scores to (n, K) probabilities."""
        ...


@dataclass(frozen=True, slots=True)
class InverseGapWeighting:
    """The kernel of FALCON, SquareCB and Epsilon-FALCON: inverse gap weighting.

    Parameters
    ----------
    gamma : float
        Learning rate gamma: the larger, the greedier.
    """

    gamma: float

    def __post_init__(self) -> None:
        _check_gamma(self.gamma)

    def probabilities(self, scores: Floats, eligible: Bools | None) -> Floats:
        """Probabilities of actions for these scores: see `inverse_gap_weighting`."""
        return inverse_gap_weighting(scores, self.gamma, eligible)

    def row(self, scores: list[float]) -> list[float]:
        """One row in plain floats, bit-identical: NumPy's calls cost several times a row's arithmetic."""
        best, top = best_of_row(scores)
        gamma, n_actions = self.gamma, float(len(scores))
        if gamma == 0.0:  # as in arrays, where an endless gap would make 0 times infinity
            return [1.0 / n_actions] * len(scores)
        weights = [1.0 / (n_actions + gamma * (top - score)) for score in scores]
        weights[best] = 0.0
        total = 0.0
        for weight in weights:
            total += weight
        weights[best] = 1.0 - total
        return weights


@dataclass(frozen=True, slots=True)
class LogBarrierWeighting:
    """Inverse gap weighting normalised by a log barrier, as a kernel.

    Parameters
    ----------
    gamma : float
        Learning rate gamma: the larger, the greedier.
    """

    gamma: float

    def __post_init__(self) -> None:
        _check_gamma(self.gamma)

    def probabilities(self, scores: Floats, eligible: Bools | None) -> Floats:
        """Probabilities of actions for these scores: see `log_barrier_weighting`."""
        return log_barrier_weighting(scores, self.gamma, eligible)


@dataclass(frozen=True, slots=True)
class EpsilonGreedyKernel:
    """Epsilon-greedy exploration as a kernel: the best action, mixed with uniform play.

    Parameters
    ----------
    epsilon : float, default 0.0
        Share of uniform exploration; 0 is greedy.
    """

    epsilon: float = 0.0

    def __post_init__(self) -> None:
        check_share("epsilon", self.epsilon)

    def probabilities(self, scores: Floats, eligible: Bools | None) -> Floats:
        """Probabilities of actions for these scores: see `epsilon_greedy`."""
        return epsilon_greedy(scores, self.epsilon, eligible)


@dataclass(frozen=True, slots=True)
class SoftmaxKernel:
    """Boltzmann exploration as a kernel: softmax of the scores.

    Parameters
    ----------
    temperature : float
        Scale of the scores: the larger, the more uniform.
    """

    temperature: float

    def __post_init__(self) -> None:
        _check_temperature(self.temperature)

    def probabilities(self, scores: Floats, eligible: Bools | None) -> Floats:
        """Probabilities of actions for these scores: see `softmax`."""
        return softmax(scores, self.temperature, eligible)


def _check_gamma(gamma: float) -> None:
    if not (gamma >= 0.0 and math.isfinite(gamma)):
        raise ValueError(f"gamma is {gamma}; give a finite number of at least 0 (0 is uniform play).")


def _check_temperature(temperature: float) -> None:
    if not (temperature > 0.0 and math.isfinite(temperature)):
        raise ValueError(f"temperature is {temperature}; give a positive number (small is greedy).")

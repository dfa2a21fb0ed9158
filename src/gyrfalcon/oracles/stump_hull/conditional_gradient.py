"""Least squares over the hull of all stumps, by fully corrective conditional gradient to a certified gap.

Each correction admits the stumps that correlate best with the residuals, found in one pass over the sorted
columns, and then settles the weights of all stumps in use at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.oracles.stump_hull.active_set import descended
from gyrfalcon.oracles.stump_hull.thresholds import Cuts

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True)
class Task:
    """Least squares over the hull with targets shifted and scaled into [-1, 1], and the budget with them."""

    cuts: Cuts
    targets: Floats
    shares: Floats
    budget: float
    centred: bool
    shift: float
    scale: float

    @classmethod
    def of(cls, cuts: Cuts, targets: Floats, shares: Floats, budget: float, centred: bool) -> Self:
        """The task in its own units; shares sum to 1."""
        # The mean of equal numbers can be rounded away from them, which would leave something to fit.
        shift = float(np.clip(shares @ targets, targets.min(), targets.max())) if centred else 0.0
        # Beside a budget of any size, targets may be so small that it would overflow in their units.
        scale = max(float(np.abs(targets - shift).max()), 1e-100 * budget) or 1.0
        return cls(cuts, (targets - shift) / scale, shares, budget / scale, centred, shift, scale)

    def constant(self, weights: Floats) -> float:
        """The best constant beside the weighted stumps; 0 if there is to be none."""
        return float(self.shares @ (self.targets - self.cuts.values(weights))) if self.centred else 0.0

    def correlations(self, weights: Floats) -> Floats:
        """(Q,): half the fall of the mean squared error per weight on each stump."""
        residuals = self.targets - self.cuts.values(weights)
        if self.centred:
            residuals -= self.shares @ residuals
        return self.cuts.sums(self.shares * residuals)

    def gram(self, places: Ints) -> Floats:
        """(k, k): mean products of stumps, about their means if a constant is fitted."""
        gram = self.cuts.gram(places, self.shares)
        if not self.centred:
            return gram
        means = np.diag(gram)
        return gram - np.outer(means, means)


@dataclass(frozen=True, slots=True)
class Solution:
    """Weights (Q,) in the task's units, and a bound on their mean squared error above the minimum."""

    weights: Floats
    gap: float
    n_iter: int
    converged: bool


def solved(task: Task, weights: Floats, tolerance: float, max_iter: int) -> Solution:
    """Corrections from these weights until the gap certifies them, or is all rounding.

    >>> cuts, shares = Cuts.of(np.array([[0.0], [1.0], [2.0]])), np.full(3, 1 / 3)
    >>> task = Task.of(cuts, np.array([-1.0, 0.0, 1.0]), shares, budget=1.5, centred=True)
    >>> solution = solved(task, np.zeros(2), tolerance=1e-10, max_iter=9)
    >>> solution.weights.round(9), solution.converged
    (array([0.75, 0.75]), True)
    """
    variance = float(task.shares @ task.targets**2)
    allowed, rounding = tolerance * variance, 16.0 * _EPS * task.budget * math.sqrt(variance)
    for n_iter in range(max_iter + 1):
        correlations = task.correlations(weights)
        earned = float(weights @ correlations)
        gap = 2.0 * max(task.budget * float(np.abs(correlations).max(initial=0.0)) - earned, 0.0)
        if gap <= max(allowed, rounding) or n_iter == max_iter:
            break
        # Weights from another task are settled among themselves first: only then is their price a measure.
        price = np.inf if n_iter == 0 and weights.any() else earned / task.budget
        weights = _corrected(task, weights, correlations, price)
    return Solution(weights, gap, n_iter, gap <= allowed)


def _corrected(task: Task, weights: Floats, correlations: Floats, price: float) -> Floats:
    """Weights no worse, after stumps that correlate above the price were admitted."""
    places = np.union1d(np.flatnonzero(weights), _admitted(task.cuts, weights, np.abs(correlations), price))
    slope, start = correlations[places], weights[places]
    signs = np.sign(np.where(start == 0.0, slope, start))
    corrected = np.zeros_like(weights)
    corrected[places] = descended(task.gram(places), slope, start, signs, task.budget)
    return within(corrected, task.budget)


def _admitted(cuts: Cuts, weights: Floats, sizes: Floats, price: float) -> Ints:
    """The places of the best new cuts, one for each stretch between cuts in use.

    Neighbouring cuts are nearly the same stump, so the best of a stretch stands for all of it. There are at
    most half as many as in use, or one per column, to keep down what the descent would give up again.
    """
    in_use = weights != 0.0
    sizes = np.where(in_use, 0.0, sizes)
    first = in_use.copy()
    first[cuts.starts[:-1][np.diff(cuts.starts) > 0]] = True
    best = np.maximum.reduceat(sizes, np.flatnonzero(first))[np.cumsum(first) - 1]
    found = np.flatnonzero((sizes == best) & (sizes > max(price, 0.0)))
    most = max(len(cuts.ranks), np.count_nonzero(in_use) // 2)
    return found[np.argsort(-sizes[found], kind="stable")[:most]]


def within(weights: Floats, budget: float) -> Floats:
    """The weights, shrunk onto the budget if they exceed it.

    >>> within(np.array([3.0, -1.0]), 2.0)
    array([ 1.5, -0.5])
    """
    spent = float(np.abs(weights).sum())
    return weights * (budget / spent) if spent > budget else weights

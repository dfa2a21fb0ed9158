"""Least squares under a budget of absolute weights: one descent, which gives up atoms on its way."""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dtrsv

from gyrfalcon.core.arrays import Floats

# Curvature about the start, so that atoms which the rows cannot tell apart still have a unique minimum. It
# moves nothing once the start is optimal: repeated descents converge to the minimum without it.
NEARNESS = 1e-12


def descended(gram: Floats, slope: Floats, start: Floats, signs: Floats, budget: float) -> Floats:
    """Weights (k,), each 0 or of its sign, sum |w| <= budget, that are optimal among those with their zeros.

    Lessens (w - start)' gram (w - start) / 2 - slope'(w - start) from a `start` within the budget and of
    these `signs`. Each leg heads for the minimum over the atoms left, regardless of signs; where a weight
    would change its sign on the way, the leg ends and the atom is given up (the minor cycles of Wolfe,
    "Finding the nearest point in a polytope", 1976).

    >>> descended(np.eye(2), np.array([3.0, 1.0]), np.zeros(2), np.ones(2), 1.0).round(6)
    array([1., 0.])
    """
    factor = _factor(gram)
    free, relief = start + _solve(factor, slope), _solve(factor, signs)
    weights, given_up = start, dict[int, Floats]()
    while True:
        target = _affordable(free, relief, signs, budget)
        if not (signs * target < 0.0).any():
            return target
        leaver, leg = _first_to_vanish(signs * weights, signs * target)
        weights = weights + leg * (target - weights)
        weights[leaver] = 0.0
        column = _without(given_up, _solve(factor, np.eye(1, start.size, leaver)[0]))
        # No less in exact arithmetic; after many eliminations among nearly equal atoms rounding could be.
        given_up[leaver] = column / max(column[leaver], 1.0 / (gram[leaver, leaver] + NEARNESS))
        free, relief = (_without({leaver: given_up[leaver]}, vector) for vector in (free, relief))


def _factor(gram: Floats) -> Floats:
    """The lower Cholesky factor of the Gram matrix with as much more curvature as its rounding demands."""
    nearness = NEARNESS
    while True:
        try:
            return np.asfortranarray(np.linalg.cholesky(gram + nearness * np.eye(len(gram))))
        except np.linalg.LinAlgError:
            nearness *= 100.0


def _solve(factor: Floats, vector: Floats) -> Floats:
    # One vector at a time: calls made for many share it among threads, which costs more than the solution.
    solution: Floats = dtrsv(factor, dtrsv(factor, vector, lower=1), lower=1, trans=1)
    return solution


def _without(given_up: dict[int, Floats], vector: Floats) -> Floats:
    """The solution when given-up atoms are held at zero, by eliminating their columns of the inverse Gram."""
    for atom, column in given_up.items():
        vector = vector - vector[atom] * column
        vector[atom] = 0.0
    return vector


def _affordable(free: Floats, relief: Floats, signs: Floats, budget: float) -> Floats:
    """The minimum with sum signs w <= budget, given the free minimum and the inverse Gram times the signs."""
    excess = signs @ free - budget
    return free - excess / (signs @ relief) * relief if excess > 0.0 else free


def _first_to_vanish(sizes: Floats, targets: Floats) -> tuple[int, float]:
    """The index that reaches 0 first from sizes >= 0 to targets, and the share of the way to there."""
    falling = np.flatnonzero(targets < 0.0)
    legs = sizes[falling] / (sizes[falling] - targets[falling])
    first = falling[legs == legs.min()]
    # Among several that are at 0 already, the one that would go furthest below is the least likely to return.
    return int(first[targets[first].argmin()]), float(legs.min())

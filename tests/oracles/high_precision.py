"""The constrained fit in 50-digit arithmetic: exact normal equations, explicit null spaces, bisection.

Written from the problem's definition alone and sharing no step with the library: Gaussian elimination instead
of eigenvectors, bisection instead of Newton. The sums over rows of doubles are exact to all 50 digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np

from gyrfalcon.core.arrays import Floats, Ints

DIGITS = 50
_ZERO = mp.mpf(10) ** -38
_BISECTIONS = 50

Matrix = Any
Number = Any


@dataclass
class Side:
    """Sums of one block's rows divided by the number of rows of all blocks."""

    gram: Matrix
    cross: Matrix


@dataclass
class Reference:
    """The exact answer; coefficients keep their digits, for rounding them already moves predictions."""

    exact: list[Matrix]
    multiplier: float
    excess: float
    alpha: float

    @property
    def coefficients(self) -> Floats:
        """(B, d) doubles."""
        rows = [[float(value) for value in block] for block in self.exact]
        return np.array(rows).reshape(len(rows), -1)


def reference_fit(
    X: Floats,
    r: Floats,
    X_passive: Floats,
    r_passive: Floats,
    slack: float,
    ridge: float = 0.0,
    blocks: Ints | None = None,
    blocks_passive: Ints | None = None,
    n_blocks: int = 1,
) -> Reference:
    """The fit as the definition has it; blocks as in the library, coefficients always (B, d)."""
    with mp.workdps(DIGITS):
        active = _sides(X, r, blocks, n_blocks)
        passive = _sides(X_passive, r_passive, blocks_passive, n_blocks)
        n, n_passive = max(len(X), 1), max(len(X_passive), 1)
        passive_ridge = [_plus_ridge(side, ridge, n_passive) for side in passive]
        penalised = [_plus_ridge(side, ridge, n) for side in active]
        problem = Problem(penalised, passive)
        offset = problem.excess_of([_lexicographic([side]) for side in passive_ridge])
        multiplier = problem.multiplier(mp.mpf(slack) + offset)
        theta = problem.fit(multiplier)
        squares = mp.fsum(mp.mpf(float(value)) ** 2 for value in r_passive) / n_passive
        alpha = squares - problem.explained() + offset
        return Reference(theta, float(multiplier), float(problem.excess_of(theta) - offset), float(alpha))


class Problem:
    """Blocks of both sides; the passive fits that excesses are measured from are computed once."""

    def __init__(self, active: list[Side], passive: list[Side]) -> None:
        self.active, self.passive = active, passive
        self.passive_fits = [_lexicographic([side]) for side in passive]

    def fit(self, multiplier: Number) -> list[Matrix]:
        """The minimisers of active + multiplier passive error, block by block."""
        return [self._block_fit(a, p, multiplier) for a, p in zip(self.active, self.passive, strict=True)]

    @staticmethod
    def _block_fit(a: Side, p: Side, multiplier: Number) -> Matrix:
        if multiplier == 0:
            return _lexicographic([a, p])
        if multiplier == mp.inf:
            return _lexicographic([p, a])
        return _lexicographic([Side(a.gram + multiplier * p.gram, a.cross + multiplier * p.cross)])

    def excess_of(self, theta: list[Matrix]) -> Number:
        """Mean passive error above the least one."""
        total = mp.mpf(0)
        for side, fit, block in zip(self.passive, self.passive_fits, theta, strict=True):
            total += _form(side.gram, block - fit)
        return total

    def explained(self) -> Number:
        """Mean square that the passive fits explain."""
        pairs = zip(self.passive, self.passive_fits, strict=True)
        return mp.fsum((side.cross.T * fit)[0] if len(fit) else mp.mpf(0) for side, fit in pairs)

    def multiplier(self, level: Number) -> Number:
        """0 if the active fit is feasible, inf without slack, else by bisection of the excess."""
        if self.excess_of(self.fit(0)) <= level + _ZERO:
            return mp.mpf(0)
        if level < _ZERO:
            return mp.inf
        high = mp.mpf(1)
        while self.excess_of(self.fit(high)) > level:
            high *= 64
        while self.excess_of(self.fit(high / 64)) <= level:
            high /= 64
        low = high / 64
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.excess_of(self.fit(middle)) > level else (low, middle)
        return high


def _sides(X: Floats, r: Floats, blocks: Ints | None, n_blocks: int) -> list[Side]:
    chosen = np.zeros(len(X), dtype=int) if blocks is None else blocks
    n = max(len(X), 1)
    sides = []
    for block in range(n_blocks):
        rows = [[mp.mpf(float(value)) for value in row] for row in X[chosen == block]]
        rewards = [mp.mpf(float(value)) for value in r[chosen == block]]
        d = X.shape[1]
        gram, cross = mp.zeros(d, d), mp.zeros(d, 1)
        for i in range(d):
            cross[i] = mp.fsum(row[i] * reward for row, reward in zip(rows, rewards, strict=True)) / n
            for j in range(d):
                gram[i, j] = mp.fsum(row[i] * row[j] for row in rows) / n
        sides.append(Side(gram, cross))
    return sides


def _plus_ridge(side: Side, ridge: float, n: int) -> Side:
    return Side(side.gram + mp.mpf(ridge) / n * mp.eye(side.gram.rows), side.cross)


def _form(gram: Matrix, x: Matrix) -> Number:
    return (x.T * gram * x)[0] if len(x) else mp.mpf(0)


def _lexicographic(sides: list[Side]) -> Matrix:
    """The minimiser of the first error, among those of the next one, ..., then of the norm."""
    d = sides[0].gram.rows
    theta, free = _solved(sides[0].gram, sides[0].cross)
    identity = Side(mp.eye(d), mp.zeros(d, 1))
    for side in [*sides[1:], identity]:
        if free.cols == 0:
            break
        target = free.T * (side.cross - side.gram * theta)
        step, null = _solved(_without_rounding(side.gram, free), target)
        theta = theta + free * step
        free = free * null if null.cols else mp.zeros(d, 0)
    return theta


def _without_rounding(gram: Matrix, free: Matrix) -> Matrix:
    """The form on the free directions, zero in those where only the 50th digit is left of it."""
    reduced, size = free.T * gram * free, free.apply(abs).T * gram.apply(abs) * free.apply(abs)
    for i in range(free.cols):
        if reduced[i, i] <= _ZERO * size[i, i]:
            for j in range(free.cols):
                reduced[i, j] = reduced[j, i] = mp.mpf(0)
    return reduced


def _solved(gram: Matrix, target: Matrix) -> tuple[Matrix, Matrix]:
    """One solution of a consistent symmetric system and a basis of the null space, by full elimination."""
    d = gram.rows
    scale = [1 / mp.sqrt(gram[i, i]) if gram[i, i] > 0 else mp.mpf(1) for i in range(d)]
    rows = [[gram[i, j] * scale[i] * scale[j] for j in range(d)] + [target[i] * scale[i]] for i in range(d)]
    pivots: list[int] = []
    left = list(range(d))
    while left:
        best = max(left, key=lambda i: abs(rows[i][i]))
        if abs(rows[best][best]) < _ZERO:
            break
        left.remove(best)
        pivots.append(best)
        pivot = rows[best][best]
        rows[best] = [value / pivot for value in rows[best]]
        for i in range(d):
            if i != best and rows[i][best] != 0:
                factor = rows[i][best]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[best], strict=True)]
    solution = mp.zeros(d, 1)
    for i in pivots:
        solution[i] = rows[i][d] * scale[i]
    null = mp.zeros(d, len(left))
    for column, free in enumerate(left):
        null[free, column] = scale[free]
        for i in pivots:
            null[i, column] = -rows[i][free] * scale[i]
    return solution, null


def prediction_error(coefficients: Floats, exact: Reference, rows: Floats, blocks: Ints | None) -> float:
    """Largest difference of predictions on the rows, relative to the largest exact prediction."""
    if not np.isfinite(coefficients).all():
        return math.inf
    chosen = np.zeros(len(rows), dtype=int) if blocks is None else blocks
    given = coefficients.reshape(len(exact.exact), -1)
    difference = largest = mp.mpf(0)
    with mp.workdps(DIGITS):
        for row, block in zip(rows, chosen, strict=True):
            x = [mp.mpf(float(value)) for value in row]
            truth = mp.fdot(x, list(exact.exact[block]))
            fitted = mp.fdot(x, [mp.mpf(float(value)) for value in given[block]])
            difference, largest = max(difference, abs(fitted - truth)), max(largest, abs(truth))
    return float(difference / largest) if largest > 0 else float(difference)

"""The paper's Algorithm 2 in 40-digit arithmetic, where differences of the dual are not lost in rounding."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cached_property
from typing import NamedTuple

from gyrfalcon.core.arrays import Floats

DIGITS = 40

Vector = list[Decimal]
Matrix = list[Vector]


class Moments(NamedTuple):
    """Means over rows: of x x', of x r and of r^2."""

    gram: Matrix
    cross: Vector
    square: Decimal


class Fit(NamedTuple):
    """The weighted regression at one multiplier: value of the dual, and passive risk above its least."""

    dual: Decimal
    excess: Decimal


@dataclass
class Problem:
    """A constrained linear regression by its moments, which decide all risks."""

    active: Moments
    passive: Moments
    slack: Decimal

    @cached_property
    def alpha(self) -> Decimal:
        """The least passive risk."""
        return self.passive.square - dot(self.passive.cross, solved(self.passive.gram, self.passive.cross))

    @cached_property
    def fits(self) -> dict[Decimal, Fit]:
        """Regressions that were made, by multiplier."""
        return {}

    def fit(self, multiplier: Decimal) -> Fit:
        """The regression of least active risk + multiplier passive risk."""
        if multiplier not in self.fits:
            gram = [
                [u + multiplier * v for u, v in zip(*rows, strict=True)]
                for rows in zip(self.active.gram, self.passive.gram, strict=True)
            ]
            cross = [u + multiplier * v for u, v in zip(self.active.cross, self.passive.cross, strict=True)]
            theta = solved(gram, cross)
            squares = self.active.square + multiplier * (self.passive.square - self.alpha - self.slack)
            self.fits[multiplier] = Fit(squares - dot(cross, theta), risk(self.passive, theta) - self.alpha)
        return self.fits[multiplier]


@dataclass(frozen=True)
class Ends:
    """Where Algorithm 2 ends: the middle and the right end of its last bracket."""

    problem: Problem
    middle: Decimal
    right: Decimal

    @classmethod
    def of(
        cls, X: Floats, r: Floats, X_passive: Floats, r_passive: Floats, slack: float, kappa: float
    ) -> Ends:
        """Play Algorithm 2 as printed."""
        with localcontext(prec=DIGITS):
            problem = Problem(moments(X, r), moments(X_passive, r_passive), Decimal(slack))
            return cls(problem, *_searched(problem, Decimal(kappa)))

    def excess(self, multiplier: Decimal | float) -> float:
        """Passive risk above its least at a multiplier."""
        with localcontext(prec=DIGITS):
            return float(self.problem.fit(Decimal(multiplier)).excess)

    def keeps(self, multiplier: Decimal | float) -> bool:
        """Whether the regression at a multiplier keeps the constraint."""
        with localcontext(prec=DIGITS):
            return self.problem.fit(Decimal(multiplier)).excess <= self.problem.slack

    def within(self, distance: float) -> bool:
        """Whether the optimal multiplier is this near the middle: the excess meets the slack in between."""
        with localcontext(prec=DIGITS):
            off = Decimal(distance)
            return not self.keeps(max(self.middle - off, Decimal(0))) and self.keeps(self.middle + off)


def _searched(problem: Problem, kappa: Decimal) -> tuple[Decimal, Decimal]:
    left, middle, right = Decimal(0), Decimal(1), Decimal(2)
    while problem.fit(middle).dual < problem.fit(right).dual:
        middle, right = 2 * middle, 2 * right
    while abs(right - left) >= kappa:
        if problem.fit(middle + kappa).dual > problem.fit(middle).dual:
            left = middle
        else:
            right = middle
        middle = (left + right) / 2
    return middle, right


def moments(X: Floats, r: Floats) -> Moments:
    """The moments of rows of doubles, which are decimals themselves."""
    columns = [[Decimal(value) for value in column] for column in X.T.tolist()]
    target = [Decimal(value) for value in r.tolist()]
    n = len(target)
    gram = [[dot(first, second) / n for second in columns] for first in columns]
    return Moments(gram, [dot(column, target) / n for column in columns], dot(target, target) / n)


def risk(side: Moments, theta: Vector) -> Decimal:
    """The mean squared error of a linear model."""
    curved = dot(theta, [dot(row, theta) for row in side.gram])
    return side.square - 2 * dot(side.cross, theta) + curved


def dot(first: Vector, second: Vector) -> Decimal:
    """The inner product of two vectors."""
    return sum(map(Decimal.__mul__, first, second), Decimal(0))


def solved(matrix: Matrix, target: Vector) -> Vector:
    """The solution of a positive definite system, by elimination.

    >>> one, two = Decimal(1), Decimal(2)
    >>> solved([[two, one], [one, two]], [one + two, Decimal(0)]) == [two, -one]
    True
    """
    rows = [[*row, value] for row, value in zip(matrix, target, strict=True)]
    for place, pivot in enumerate(rows):
        for other in range(place + 1, len(rows)):
            factor = rows[other][place] / pivot[place]
            rows[other] = [u - factor * v for u, v in zip(rows[other], pivot, strict=True)]
    solution: Vector = []
    for place in range(len(rows) - 1, -1, -1):
        known = dot(rows[place][place + 1 : -1], solution)
        solution.insert(0, (rows[place][-1] - known) / rows[place][place])
    return solution

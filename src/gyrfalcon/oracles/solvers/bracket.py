"""A bracket around the multiplier at which an excess meets its slack: where it is, and where to look next.

It knows multipliers and excesses alone, and expects the excess to fall; where it jumps or rises, the bracket
still closes, around some place at which the constraint begins to be kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

_EPS = 2.0**-52
_LEAST, _GREATEST = 1e-10, 1e16
"""Multipliers that count as 0 and as infinity: at these, one of both risks has no digits left to say."""
_MAX_POINTS = 5
"""Points of an interpolation: with 3 of them hard cases take a regression or two more, with 6 no fewer."""


@dataclass(frozen=True, slots=True)
class Point:
    """A multiplier and the excess of its regression."""

    multiplier: float
    excess: float


@dataclass(frozen=True, slots=True)
class Target:
    """Where a search ends: at an excess in [least, slack], or in a bracket of this relative width."""

    least: float
    slack: float
    width: float

    @staticmethod
    def of(slack: float, tolerance: float, alpha: float) -> Target:
        """The target to a tolerance; an excess is a difference from alpha, and rounded as that."""
        least = slack * (1.0 - tolerance) - 4.0 * _EPS * alpha
        return Target(least, slack, max(0.01 * tolerance, 4.0 * _EPS))

    @property
    def aim(self) -> float:
        """The middle of what is good enough, so that a small miss on either side does no harm."""
        return 0.5 * (max(self.least, 0.0) + self.slack)


@dataclass(frozen=True, slots=True)
class Bracket:
    """Two points with the multiplier between them, and how the search has gone."""

    low: Point
    """Breaks the constraint."""
    high: Point
    """Keeps it."""
    scale: float
    """A multiplier at which both sides have about the same say."""
    target: Target
    past: tuple[Point, ...] = ()
    """Former ends, the latest first and infinity last."""
    missed: bool = False
    """Whether the last interpolation brought little."""
    owed: int = 0
    """Halvings to come before the next interpolation."""
    price: int = 1
    """Halvings that two misses in a row cost; it doubles, so that a jump is found by halving alone."""

    @property
    def converged(self) -> bool:
        """Whether the upper end meets the slack, or its multiplier is as good as 0.

        At a multiplier m of the upper end, no fit has an active risk lower by more than m times the fall of
        the passive risk over the bracket: the lower end at 0 is the least active risk of all.
        """
        at_zero = self.low.multiplier == 0.0 and self.high.multiplier <= _LEAST
        return at_zero or self.high.excess >= self.target.least

    @property
    def finished(self) -> bool:
        """Whether the upper end is what was sought, or nothing but a jump is left between the ends."""
        closed = self.width <= (self.target.width if self.missed else 4.0 * _EPS)
        return self.converged or closed or self.low.multiplier >= _GREATEST

    @property
    def width(self) -> float:
        """Logarithm of the ratio of both ends, where 0 and infinity have finite stand-ins."""
        low = max(self.low.multiplier, 0.01 * _LEAST)
        high = min(self.high.multiplier, 100.0 * _GREATEST)
        return math.log(high / low) if high > low else 0.0

    def contains(self, multiplier: float) -> bool:
        """Whether a multiplier is inside, and neither as good as 0 nor as infinity."""
        inside = self.low.multiplier < multiplier < self.high.multiplier
        return inside and _LEAST < multiplier < _GREATEST

    def narrowed(self, point: Point) -> Bracket:
        """The bracket with a point from within in place of one end."""
        keeps = point.excess <= self.target.slack
        low, high, left = (self.low, point, self.high) if keeps else (point, self.high, self.low)
        past = sorted((left, *self.past), key=lambda former: former.multiplier == math.inf)
        inner = replace(self, low=low, high=high, past=tuple(past[:_MAX_POINTS]))
        if self.owed:
            return replace(inner, owed=self.owed - 1)
        nearer = self._distance(point) <= 0.1 * min(self._distance(self.low), self._distance(self.high))
        if nearer or inner.width <= 0.5 * self.width:
            return replace(inner, missed=False, price=1)
        if not self.missed:
            return replace(inner, missed=True)
        return replace(inner, owed=self.price, price=2 * self.price)

    def proposal(self) -> float:
        """The multiplier to try next."""
        return min(max(self._interpolated() or self._halfway(), _LEAST), _GREATEST)

    def _interpolated(self) -> float | None:
        """Where the points put the multiplier, by as many of them as put it inside; None between halvings."""
        for n_points in () if self.owed else (_MAX_POINTS, 3, 2):
            multiplier = self._interpolated_by(n_points)
            if self.low.multiplier < multiplier < self.high.multiplier:
                return multiplier
        return None

    def _interpolated_by(self, n_points: int) -> float:
        """Where the excess meets its aim if its square root is a ratio of polynomials in the multiplier.

        In a linear class the excess is a sum of squares of 1 / (b + c multiplier), one for each direction. A
        ratio stays one in terms of 1 / (anchor + multiplier), where 0 and infinity are points like others.
        """
        ends = sorted((self.low, self.high), key=self._distance)
        points = (*ends, *self.past)[:n_points]
        anchor = self.low.multiplier or min(self.scale, self.high.multiplier)
        # Twice, as the lowest point so far is hardly the lowest there is.
        offset = 2.0 * max(0.0, -min(point.excess for point in points))
        aim = math.sqrt(self.target.aim + offset)
        heights = [math.sqrt(point.excess + offset) - aim for point in points]
        place = _crossing([1.0 / (anchor + point.multiplier) for point in points], heights)
        return 1.0 / place - anchor if place > 0.0 else math.nan

    def _halfway(self) -> float:
        """The geometric mean of both ends; from 0 or infinity, steps whose logarithms double each time."""
        low, high = self.low.multiplier / self.scale, self.high.multiplier / self.scale
        if high == math.inf:
            return self.scale * max(low, 2.0) ** 2
        if low > 0.0:
            return self.scale * math.sqrt(low) * math.sqrt(high)
        lower = math.sqrt(1.0 + high) - 1.0 if high > 2.0 else min(high, 0.25) ** 2
        return min(self.scale * lower, 0.5 * self.high.multiplier)

    def _distance(self, point: Point) -> float:
        return abs(math.sqrt(max(point.excess, 0.0)) - math.sqrt(self.target.aim))


def _crossing(places: Sequence[float], heights: Sequence[float]) -> float:
    """The place of height 0 on Thiele's continued fraction through the points; nan if it has none."""
    column, fractions = list(places), [places[0]]
    try:
        for order in range(1, len(places)):
            column = [
                (height - heights[order - 1]) / (value - column[0])
                for height, value in zip(heights[order:], column[1:], strict=True)
            ]
            fractions.append(column[0])
        place = fractions.pop()
        while fractions:
            place = fractions.pop() - heights[len(fractions)] / place
    except ZeroDivisionError:
        return math.nan
    return place

"""The multiplier at which the passive excess of the weighted fit meets its level: one scalar equation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats

_MAX_STEPS = 100
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True)
class Secular:
    """The fit that minimises sum (s y - u)^2 + multiplier sum (c y - v)^2, as the multiplier varies."""

    s: Floats
    c: Floats
    u: Floats
    v: Floats

    def curvature(self, multiplier: float) -> Floats:
        """The objective's curvature over 1 + multiplier; one side's where only this side sees anything."""
        active, passive = self._shares(multiplier)
        return active * self.s**2 + passive * self.c**2

    def minimiser(self, multiplier: float) -> Floats:
        """The coordinates y of the fit; 0 where neither side sees anything. 0 and inf are the limits."""
        active, passive = self._shares(multiplier)
        curvature = self.curvature(multiplier)
        pull = active * self.s * self.u + passive * self.c * self.v
        return pull / np.where(curvature > 0.0, curvature, 1.0)

    def excess(self, multiplier: float) -> float:
        """Passive error of the fit above the least passive error: sum (g / (s^2 + multiplier c^2))^2."""
        if multiplier == math.inf:
            return 0.0
        gap, a, b = self._terms()
        with np.errstate(over="ignore"):
            return float(((gap / (a + multiplier * b)) ** 2).sum())

    def multiplier(self, level: float) -> float:
        """The least multiplier with excess at most the level: 0.0 if the active fit's is, inf at level 0."""
        if self.excess(0.0) <= level * (1.0 + 8.0 * _EPS):
            return 0.0
        if level <= 0.0:
            return math.inf
        gap, a, b = self._terms()
        return _root(gap / math.sqrt(level), a, b)

    def _terms(self) -> tuple[Floats, Floats, Floats]:
        both = (self.s > 0.0) & (self.c > 0.0)
        s, c = self.s[both], self.c[both]
        return s * np.abs(c * self.u[both] - s * self.v[both]), s * s, c * c

    def _shares(self, multiplier: float) -> tuple[Floats, Floats]:
        both = (self.s > 0.0) & (self.c > 0.0)
        active, passive = shares(multiplier)
        return np.where(both, active, 1.0), np.where(both, passive, 1.0)


def shares(multiplier: float) -> tuple[float, float]:
    """The weights 1 and multiplier of both sides, divided by their sum so that infinity has some as well."""
    return 1.0 / (1.0 + multiplier), 1.0 if multiplier == math.inf else multiplier / (1.0 + multiplier)


def _root(gap: Floats, a: Floats, b: Floats) -> float:
    """The root of sum (gap / (a + x b))^2 = 1, from the side where the sum is at most 1.

    The sum to the power -1/2 is a power mean of order -2 of functions linear in x, hence concave: Newton's
    method climbs to the root without passing it. It starts where the largest term alone would be 1, which is
    at most a factor sqrt(number of terms) away.
    """
    x = max(float(((gap - a) / b).max()), 0.0)
    highest = max(float(((gap * math.sqrt(len(gap)) - a) / b).max()), x)
    for _ in range(_MAX_STEPS):
        terms = (gap / (a + x * b)) ** 2
        total = float(terms.sum())
        step = total * (math.sqrt(total) - 1.0) / float((terms * b / (a + x * b)).sum())
        if step <= _EPS * x:
            break
        x = min(x + step, highest)
    return _first_feasible(x, gap, a, b)


def _first_feasible(x: float, gap: Floats, a: Floats, b: Floats) -> float:
    """The root moved up by the few units of rounding that bring the sum to at most 1."""
    nudge = _EPS * (x + float((a / b).min()))
    while float(((gap / (a + x * b)) ** 2).sum()) > 1.0:
        x += nudge
        nudge *= 2.0
    return x

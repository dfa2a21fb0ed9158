"""The constrained fit of any class by weighted regressions: a search for the multiplier of its constraint.

A regression at multiplier m minimises active risk + m passive risk. As m grows the passive risk falls; the
constrained fit is at the least m whose passive risk is within slack of alpha, that of the passive fit.
Nothing here knows how a regression is done. In classes that are not convex, and with solvers that stop early,
the passive risk can jump or rise; the search then still ends, with a fit that keeps the constraint.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

_EPS = 2.0**-52
_LEAST, _GREATEST = 1e-10, 1e16
"""Multipliers that count as 0 and as infinity: at these, one of both risks has no digits left to say."""
_MAX_POINTS = 5
"""Points of an interpolation: with 3 of them hard cases take a regression or two more, with 6 no fewer."""


class WeightedSolution(Protocol):
    """What a weighted regression found, known by its mean squared errors; 0.0 for a side without rows."""

    @property
    def active_risk(self) -> float:
        """Mean squared error on active rows."""
        ...

    @property
    def passive_risk(self) -> float:
        """Mean squared error on passive rows."""
        ...


S = TypeVar("S", bound=WeightedSolution)


@dataclass(frozen=True, slots=True)
class DualFit(Generic[S]):
    """The solution that keeps the constraint, its multiplier, and what it took to find it."""

    solution: S
    multiplier: float
    """Weight of the passive risk: 0.0 for an inactive constraint, inf for the passive fit itself."""
    alpha: float
    """Passive risk of the passive fit; 0.0 at infinite slack, where none is made."""
    excess: float
    """Passive risk above alpha; below 0 where the passive fit is not the best there is, as with a penalty."""
    slack: float
    binding: bool
    """Whether the constraint changes the fit."""
    n_regressions: int
    """How many weighted regressions were made, the passive fit included."""
    converged: bool
    """Whether the excess meets the slack to the tolerance, or the multiplier is 0 to about ten digits."""


def dual_search(
    solve: Callable[[float], S],
    slack: float,
    *,
    guess: float | None = None,
    tolerance: float = 1e-8,
    max_regressions: int = 60,
) -> DualFit[S]:
    """The fit of least active risk among those with passive risk at most alpha + slack.

    `solve(multiplier)` minimises active risk + multiplier passive risk; `solve(math.inf)` is the passive fit,
    which keeps any constraint and is the answer at slack 0. The search ends at an excess between
    slack (1 - tolerance) and slack, up to the rounding of alpha. If the excess jumps over that, or no
    regressions are left, the fit has not converged: it is then the one of least active risk among those tried
    that keep the constraint. `guess`, say the multiplier of an earlier fit, is tried first.

    >>> from types import SimpleNamespace
    >>> def solve(multiplier):  # a constant, for active rewards of 1 and passive rewards of 0
    ...     constant = 1 / (1 + multiplier)
    ...     return SimpleNamespace(active_risk=(1 - constant) ** 2, passive_risk=constant**2)
    >>> fit = dual_search(solve, slack=0.04)
    >>> round(fit.multiplier, 6), fit.n_regressions, fit.converged
    (4.0, 3, True)
    """
    _check(slack, guess, tolerance, max_regressions)
    if slack == math.inf:
        return _fit(_regression(solve, 0.0, alpha=0.0), 0.0, slack, 1, converged=True)
    passive = _regression(solve, math.inf, alpha=0.0)
    alpha = passive.excess
    active = _regression(solve, 0.0, alpha)
    if active.excess <= slack:
        return _fit(active, alpha, slack, 2, converged=True)
    high = best = replace(passive, excess=0.0)
    bracket = _Bracket(active.point, high.point, _scale(active, passive), _Target.of(slack, tolerance, alpha))
    multiplier = guess if guess is not None and bracket.contains(guess) else bracket.proposal()
    n_regressions = 2
    while n_regressions < max_regressions and not bracket.finished:
        trial = _regression(solve, multiplier, alpha)
        n_regressions += 1
        bracket = bracket.narrowed(trial.point)
        multiplier = bracket.proposal()
        if trial.excess <= slack:
            high, best = trial, min(trial, best, key=_active_risk)
    return _fit(high if bracket.converged else best, alpha, slack, n_regressions, converged=bracket.converged)


@dataclass(frozen=True, slots=True)
class _Point:
    """A multiplier and the excess of its regression."""

    multiplier: float
    excess: float


@dataclass(frozen=True, slots=True)
class _Trial(Generic[S]):
    """One regression."""

    multiplier: float
    excess: float
    solution: S

    @property
    def point(self) -> _Point:
        """The trial without its solution, which may be large."""
        return _Point(self.multiplier, self.excess)


@dataclass(frozen=True, slots=True)
class _Target:
    """Where a search ends: at an excess in [least, slack], or in a bracket of this relative width."""

    least: float
    slack: float
    width: float

    @staticmethod
    def of(slack: float, tolerance: float, alpha: float) -> _Target:
        """The target to a tolerance; an excess is a difference from alpha, and rounded as that."""
        least = slack * (1.0 - tolerance) - 4.0 * _EPS * alpha
        return _Target(least, slack, max(0.01 * tolerance, 4.0 * _EPS))

    @property
    def aim(self) -> float:
        """The middle of what is good enough, so that a small miss on either side does no harm."""
        return 0.5 * (max(self.least, 0.0) + self.slack)


@dataclass(frozen=True, slots=True)
class _Bracket:
    """Two points with the multiplier between them, and how the search has gone."""

    low: _Point
    """Breaks the constraint."""
    high: _Point
    """Keeps it."""
    scale: float
    """A multiplier at which both sides have about the same say."""
    target: _Target
    past: tuple[_Point, ...] = ()
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

    def narrowed(self, point: _Point) -> _Bracket:
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

    def _distance(self, point: _Point) -> float:
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


def _regression(solve: Callable[[float], S], multiplier: float, alpha: float) -> _Trial[S]:
    """One regression with its risks checked."""
    solution = solve(multiplier)
    active, passive = float(solution.active_risk), float(solution.passive_risk)
    if not (math.isfinite(active) and math.isfinite(passive)):
        raise ValueError(
            f"The regression at multiplier {multiplier} has active risk {active} and passive risk {passive}; "
            "give finite risks, and 0.0 for a side without rows."
        )
    return _Trial(multiplier, passive - alpha, solution)


def _scale(active: _Trial[S], passive: _Trial[S]) -> float:
    """The active risk that the passive fit costs over the passive risk that the active fit costs.

    In a linear class it is a mean of the active curvatures in units of the passive ones.
    """
    ratio = (_active_risk(passive) - _active_risk(active)) / active.excess
    return min(max(ratio, 1e-8), 1e8) if ratio > 0.0 else 1.0


def _active_risk(trial: _Trial[S]) -> float:
    return float(trial.solution.active_risk)


def _fit(trial: _Trial[S], alpha: float, slack: float, n_regressions: int, *, converged: bool) -> DualFit[S]:
    return DualFit(
        solution=trial.solution,
        multiplier=trial.multiplier,
        alpha=alpha,
        excess=trial.excess,
        slack=float(slack),
        binding=trial.multiplier > 0.0,
        n_regressions=n_regressions,
        converged=converged,
    )


def _check(slack: float, guess: float | None, tolerance: float, max_regressions: int) -> None:
    if not slack >= 0.0:
        raise ValueError(f"slack is {slack}; give a mean squared error of at least 0, or math.inf.")
    if guess is not None and not guess >= 0.0:
        raise ValueError(f"guess is {guess}; give a multiplier of at least 0, or None.")
    if not 0.0 < tolerance < 1.0:
        raise ValueError(f"tolerance is {tolerance}; give a share of the slack between 0 and 1.")
    if max_regressions < 2:
        raise ValueError(
            f"max_regressions is {max_regressions}; give at least 2, for passive and active fit."
        )

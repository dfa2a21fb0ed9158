"""The constrained fit of any class by weighted regressions: a search for the multiplier of its constraint.

A regression at multiplier m minimises active risk + m passive risk. As m grows the passive risk falls; the
constrained fit is at the least m whose passive risk is within slack of alpha, that of the passive fit.
Nothing here knows how a regression is done. In classes that are not convex, and with solvers that stop early,
the passive risk can jump or rise; the search then still ends, with a fit that keeps the constraint.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

from gyrfalcon.oracles.solvers.bracket import Bracket, Point, Target


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
    """Solution of a dual search, its multiplier, and how it was found.

    Attributes
    ----------
    solution : S
        The fit that satisfies the constraint.
    multiplier : float
        Weight of the passive risk: 0.0 for an inactive constraint, inf for the passive fit itself.
    alpha : float
        Passive risk of the passive fit; 0.0 at infinite slack, where none is made.
    excess : float
        Passive risk above alpha; below 0 where the passive fit is not the best there is, as with a penalty.
    slack : float
        What the passive risk may exceed alpha by.
    binding : bool
        Whether the constraint changes the fit.
    n_regressions : int
        How many weighted regressions were made, the passive fit included.
    converged : bool
        Whether the excess meets the slack to the tolerance, or the multiplier is 0 to about ten digits.
    """

    solution: S
    multiplier: float
    alpha: float
    excess: float
    slack: float
    binding: bool
    n_regressions: int
    converged: bool


def dual_search(
    solve: Callable[[float], S],
    slack: float,
    *,
    guess: float | None = None,
    tolerance: float = 1e-8,
    max_regressions: int = 60,
) -> DualFit[S]:
    """The fit of least active risk among those with passive risk at most alpha + slack.

    The search over multipliers ends at an excess between slack (1 - tolerance) and slack, up to the rounding
    of alpha. If the excess jumps over that, or no regressions are left, the fit has not converged: it is then
    the one of least active risk among those tried that satisfy the constraint.

    Parameters
    ----------
    solve : Callable[[float], S]
        Function that minimises active risk + multiplier * passive risk; at infinity, the passive fit, which
        satisfies any constraint and is the answer at slack 0.
    slack : float
        What the passive risk may exceed alpha, its minimum, by.
    guess : float, optional
        Multiplier to try first, such as that of an earlier fit.
    tolerance : float, default 1e-08
        Relative tolerance of the excess.
    max_regressions : int, default 60
        Largest number of regressions.

    Examples
    --------
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
    bracket = Bracket(active.point, high.point, _scale(active, passive), Target.of(slack, tolerance, alpha))
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
class _Trial(Generic[S]):
    """One weighted regression of the search: its multiplier and its excess."""

    multiplier: float
    excess: float
    solution: S

    @property
    def point(self) -> Point:
        """The trial without its solution, which may be large."""
        return Point(self.multiplier, self.excess)


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

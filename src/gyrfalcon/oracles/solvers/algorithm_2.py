"""The paper's Algorithm 2 as printed, for study; `dual_search` is the one to use.

It looks for the maximum of the dual g(m) = min over f of active risk + m (passive risk - alpha - slack), by
doubling and then by bisection on the sign of a finite difference of g. What goes wrong:

* A step of the bisection takes two regressions and brings one bit.
* The slope of g is the excess minus the slack, which a single regression knows. A difference of two values of
  g knows it only to their rounding over kappa: below some kappa, a smaller one gives a worse multiplier.
* The end is in the middle of the last bracket, on either side of the constraint.
* Kappa is absolute: a multiplier no larger than it comes back without a correct digit.
* A multiplier of 0 is never tried, so that an inactive constraint costs as much as an active one.
* At slack 0 there is no maximum, and doubling goes on until g no longer changes in its last digit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic

from gyrfalcon.oracles.solvers.dual_search import DualFit, S


def printed_search(
    solve: Callable[[float], S], slack: float, *, kappa: float = 1e-6, max_regressions: int = 10_000
) -> DualFit[S]:
    """What Algorithm 2 returns; `converged` says that its loops ended, not that the constraint is kept.

    A value of g that is needed again at the same multiplier is remembered, not counted. The passive fit,
    which alpha needs, and the last fit, which is returned, are counted.

    >>> from types import SimpleNamespace
    >>> def solve(multiplier):  # a constant, for active rewards of 1 and passive rewards of 0
    ...     constant = 1 / (1 + multiplier)
    ...     return SimpleNamespace(active_risk=(1 - constant) ** 2, passive_risk=constant**2)
    >>> fit = printed_search(solve, slack=0.04)
    >>> round(fit.multiplier, 5), fit.n_regressions > 40
    (4.0, True)
    """
    _check(slack, kappa, max_regressions)
    alpha = float(solve(math.inf).passive_risk)
    dual = _Dual(solve, alpha + slack, most=max_regressions - 2)
    middle, ended = _maximised(dual, kappa)
    solution = solve(middle)
    return DualFit(
        solution=solution,
        multiplier=middle,
        alpha=alpha,
        excess=float(solution.passive_risk) - alpha,
        slack=float(slack),
        binding=middle > 0.0,
        n_regressions=len(dual.values) + 2,
        converged=ended,
    )


@dataclass(frozen=True, slots=True)
class _Dual(Generic[S]):
    """The dual g of a constraint on the passive risk, one regression for each new multiplier."""

    solve: Callable[[float], S]
    bound: float
    most: int
    """How many regressions there may be."""
    values: dict[float, float] = field(default_factory=dict)

    def __call__(self, multiplier: float) -> float:
        if multiplier not in self.values:
            fit = self.solve(multiplier)
            value = fit.active_risk + multiplier * (fit.passive_risk - self.bound)
            self.values[multiplier] = float(value)
        return self.values[multiplier]

    @property
    def exhausted(self) -> bool:
        """Whether the two values of another step would be one too many."""
        return len(self.values) + 2 > self.most


def _maximised(g: _Dual[S], kappa: float) -> tuple[float, bool]:
    """The last middle of the algorithm, and whether its loops ended by themselves."""
    left, middle, right = 0.0, 1.0, 2.0
    while not g.exhausted and g(middle) < g(right):
        middle, right = 2.0 * middle, 2.0 * right
    while not g.exhausted and abs(right - left) >= kappa:
        if g(middle + kappa) > g(middle):
            left = middle
        else:
            right = middle
        middle = 0.5 * (left + right)
    return middle, abs(right - left) < kappa


def _check(slack: float, kappa: float, max_regressions: int) -> None:
    if not 0.0 <= slack < math.inf:
        raise ValueError(f"slack is {slack}; give a finite mean squared error of at least 0.")
    if not kappa > 0.0:
        raise ValueError(f"kappa is {kappa}; give a step above 0.")
    if max_regressions < 4:
        raise ValueError(f"max_regressions is {max_regressions}; give at least 4, as a step takes two.")

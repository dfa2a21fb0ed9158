"""A saddle point of the Lagrangian by gradient steps, against the exact fit and the dual search.

`python -m benchmarks.minimax` prints the table of docs/decisions/0007-no-descent-ascent.md. All start from
the same moments. Gradient steps get what they would not have in use: alpha is given, they stop when their
predictions are within 1e-6 of the exact fit's, which costs them nothing, and the ratio of dual to primal
steps is the best of four, found afterwards. Times are processor time from moments to coefficients.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from time import process_time

import numpy as np

from benchmarks.pairs import repeated
from gyrfalcon.core.arrays import Floats
from gyrfalcon.oracles.solvers.constrained import ConstrainedFit, constrained_fit
from gyrfalcon.oracles.solvers.dual_search import DualFit, dual_search
from gyrfalcon.oracles.solvers.moments import Moments

ACTIVE_ROWS, PASSIVE_ROWS = 20, 10
"""Rows of each side for each column."""
SIZES = (20, 200)
CONDITIONS = (1.0, 1e2, 1e4)
SLACKS = (0.03, 0.003)
DUAL_RATIOS = (1e1, 1e2, 1e3, 1e4)
TOLERANCE = 1e-6
MAX_STEPS = 5_000
N_SAMPLES = 7


@dataclass(frozen=True, slots=True)
class Risk:
    """A mean squared error as a quadratic function of the coefficients: y'Hy - 2 b'y + c."""

    hessian: Floats
    linear: Floats
    constant: float

    @staticmethod
    def of(moments: Moments) -> Risk:
        n = moments.n
        return Risk(moments.gram[0] / n, moments.cross[0] / n, float(moments.squares[0]) / n)

    def __call__(self, y: Floats) -> float:
        return float(y @ self.hessian @ y - 2.0 * self.linear @ y) + self.constant

    def gradient(self, y: Floats) -> Floats:
        return 2.0 * (self.hessian @ y - self.linear)

    def turned(self, turn: Floats) -> Risk:
        """The risk in terms of y, where the coefficients are turn @ y, or turn * y if that is one row."""
        if turn.ndim == 1:
            return Risk(turn[:, None] * self.hessian * turn, turn * self.linear, self.constant)
        return Risk(turn.T @ self.hessian @ turn, turn.T @ self.linear, self.constant)


@dataclass(frozen=True, slots=True)
class Saddle:
    """Risks and the bound on the passive one, in coordinates for gradient steps."""

    active: Risk
    passive: Risk
    bound: float

    def field(self, y: Floats, multiplier: float) -> tuple[Floats, float]:
        """The way down in coefficients and up in the multiplier, with its sign changed."""
        descent = self.active.gradient(y) + multiplier * self.passive.gradient(y)
        return descent, self.bound - self.passive(y)


def whitening(active: Moments, passive: Moments) -> Floats:
    """Coordinates in which the pooled design is orthonormal."""
    inverse: Floats = np.linalg.inv(np.linalg.cholesky(pooled(active, passive)))
    return inverse.T


def equilibration(active: Moments, passive: Moments) -> Floats:
    """One factor for each column, with which it has length 1 in the pooled design."""
    return np.asarray(np.diag(pooled(active, passive)) ** -0.5)


def pooled(active: Moments, passive: Moments) -> Floats:
    mean: Floats = (active.gram[0] + passive.gram[0]) / (active.n + passive.n)
    return mean


def gradient_steps(problem: Saddle, near: Callable[[Floats], bool], ratio: float, *, extra: bool) -> float:
    """How many steps down in coefficients and up in the multiplier are enough; inf if too many.

    With `extra` a step takes the field from where it would lead (extragradient). A step is as long as the
    field allows: over it, the field changes by at most 0.7 of its length.
    """
    y, multiplier, step = np.zeros_like(problem.active.linear), 0.0, 1.0
    for n_steps in range(1, MAX_STEPS + 1):
        down, up = problem.field(y, multiplier)
        while True:
            ahead = y - step * down, max(multiplier - step * ratio * up, 0.0)
            down_ahead, up_ahead = problem.field(*ahead)
            change = math.hypot(np.linalg.norm(down_ahead - down), math.sqrt(ratio) * (up_ahead - up))
            length = math.hypot(np.linalg.norm(ahead[0] - y), (ahead[1] - multiplier) / math.sqrt(ratio))
            if step * change <= 0.7 * length:
                break
            step *= 0.6
        if extra:
            ahead = y - step * down_ahead, max(multiplier - step * ratio * up_ahead, 0.0)
        y, multiplier = ahead
        step *= 1.3 if step * change < 0.4 * length else 1.0
        if n_steps % 10 == 0 and near(y):
            return n_steps
    return math.inf


def best_run(
    active: Moments,
    passive: Moments,
    fit: ConstrainedFit,
    coordinates: Callable[[Moments, Moments], Floats],
    *,
    extra: bool,
) -> str:
    """Steps at the best and at the worst ratio of dual to primal steps, and milliseconds at the best."""
    turn = coordinates(active, passive)
    matrix = np.diag(turn) if turn.ndim == 1 else turn
    answer = np.linalg.solve(matrix, fit.coefficients[0])
    both = matrix.T @ pooled(active, passive) @ matrix
    checking = 0.0

    def near(y: Floats) -> bool:
        nonlocal checking
        start = process_time()
        apart = y - answer
        within = float(apart @ both @ apart) <= TOLERANCE**2
        checking += process_time() - start
        return within

    def run(ratio: float) -> tuple[float, float]:
        nonlocal checking
        start, checking = process_time(), 0.0
        turn = coordinates(active, passive)
        problem = Saddle(Risk.of(active).turned(turn), Risk.of(passive).turned(turn), fit.alpha + fit.slack)
        n_steps = gradient_steps(problem, near, ratio, extra=extra)
        return n_steps, process_time() - start - checking

    steps = [run(ratio)[0] for ratio in DUAL_RATIOS]
    if min(steps) == math.inf:
        return f"> {MAX_STEPS}"
    seconds = np.median([run(DUAL_RATIOS[int(np.argmin(steps))])[1] for _ in range(N_SAMPLES)])
    return f"{min(steps):g} to {max(steps):g}: {1e3 * seconds:.2g} ms".replace("inf", f"> {MAX_STEPS}")


@dataclass(frozen=True, slots=True)
class Solution:
    """Coefficients of a weighted regression and their risks."""

    coefficients: Floats
    active_risk: float
    passive_risk: float


def by_regressions(active: Moments, passive: Moments) -> Callable[[float], Solution]:
    """Weighted regressions by normal equations, in whitened coordinates."""
    turn = whitening(active, passive)
    sides = Risk.of(active).turned(turn), Risk.of(passive).turned(turn)

    def solve(multiplier: float) -> Solution:
        weights = (0.0, 1.0) if multiplier == math.inf else (1.0, multiplier)
        hessian = weights[0] * sides[0].hessian + weights[1] * sides[1].hessian
        pull = weights[0] * sides[0].linear + weights[1] * sides[1].linear
        y = np.asarray(np.linalg.solve(hessian, pull), dtype=np.float64)
        return Solution(turn @ y, sides[0](y), sides[1](y))

    return solve


def moments(d: int, condition: float) -> tuple[Moments, Moments]:
    """Both sides with features of a given condition, turned so that no scaling of columns helps."""
    rng = np.random.default_rng(0)
    rotation = np.linalg.qr(rng.standard_normal((d, d)))[0]
    mixing = np.geomspace(1.0, 1.0 / condition, d)[:, None] * rotation
    truth, drift = rng.standard_normal((2, d)) / math.sqrt(d)

    def side(n: int, model: Floats) -> Moments:
        features = rng.standard_normal((n, d))
        return Moments.of(features @ mixing, features @ model + 0.5 * rng.standard_normal(n))

    return side(ACTIVE_ROWS * d, truth), side(PASSIVE_ROWS * d, truth + 0.3 * drift)


def row(d: int, condition: float, slack: float) -> list[str]:
    active, passive = moments(d, condition)

    def exact() -> ConstrainedFit:
        return constrained_fit(active, passive, slack)

    def dual() -> DualFit[Solution]:
        return dual_search(by_regressions(active, passive), slack)

    fit, other = exact(), dual()
    apart = fit.coefficients[0] - other.solution.coefficients
    if not float(apart @ pooled(active, passive) @ apart) <= TOLERANCE**2:
        raise RuntimeError(f"The exact fit and the dual search differ at condition {condition}.")
    return [
        f"{d}",
        f"{condition:g}",
        f"{fit.multiplier:.2g}",
        f"{1e3 * np.median(repeated(exact, N_SAMPLES)):.2g} ms",
        f"{other.n_regressions}: {1e3 * np.median(repeated(dual, N_SAMPLES)):.2g} ms",
        best_run(active, passive, fit, equilibration, extra=True),
        best_run(active, passive, fit, whitening, extra=False),
        best_run(active, passive, fit, whitening, extra=True),
    ]


HEADER = [
    "columns",
    "condition",
    "multiplier",
    "exact fit",
    "dual search",
    "extragradient",
    "descent-ascent, whitened",
    "extragradient, whitened",
]


def main() -> None:
    print(f"| {' | '.join(HEADER)} |", "|" + "---|" * len(HEADER), sep="\n")
    for case in product(SIZES, CONDITIONS, SLACKS):
        print(f"| {' | '.join(row(*case))} |", flush=True)


if __name__ == "__main__":
    main()

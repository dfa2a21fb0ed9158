"""The constrained fit against normal equations by hand, and against a general convex solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.rows import Quantity, Race, Row, peer, require
from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.oracles import ConstrainedFit, Moments, constrained_fit, constrained_least_squares

N_ACTIVE, N_PASSIVE = 100_000, 5_000
N_COLUMNS = 100
N_BLOCKS, BLOCK_COLUMNS = 10, 21
SLACK = 2e-3


@dataclass(frozen=True, slots=True)
class Side:
    """Rows of independent standard normal features, their rewards and blocks."""

    X: Floats
    r: Floats
    blocks: Ints

    @staticmethod
    def drawn(seed: int, n: int, d: int, n_blocks: int, shift: float) -> Side:
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, d))
        truth = np.linspace(-1.0, 1.0, d) / np.sqrt(d) + shift
        return Side(X, X @ truth + 0.1 * rng.standard_normal(n), rng.integers(n_blocks, size=n))


@cache
def sides(d: int, n_blocks: int) -> tuple[Side, Side]:
    """Active and passive rows whose truths differ by more than the slack: the constraint is active."""
    apart = 0.1 / np.sqrt(d)
    return Side.drawn(1, N_ACTIVE, d, n_blocks, 0.0), Side.drawn(2, N_PASSIVE, d, n_blocks, apart)


def fit_rows(active: Side, passive: Side) -> ConstrainedFit:
    return constrained_least_squares(active.X, active.r, passive.X, passive.r, SLACK)


def fit_blocks(active: Side, passive: Side) -> ConstrainedFit:
    return constrained_least_squares(
        active.X,
        active.r,
        passive.X,
        passive.r,
        SLACK,
        blocks=active.blocks,
        blocks_passive=passive.blocks,
        n_blocks=N_BLOCKS,
    )


def by_hand(side: Side) -> NDArray[np.floating]:
    """The active fit alone, as one would type it."""
    return np.linalg.solve(side.X.T @ side.X, side.X.T @ side.r)


def blocks_by_hand(side: Side) -> NDArray[np.floating]:
    """The same in each block."""
    solutions = []
    for block in range(N_BLOCKS):
        mask = side.blocks == block
        X = side.X[mask]
        solutions.append(np.linalg.solve(X.T @ X, X.T @ side.r[mask]))
    return np.array(solutions)


def against_hand() -> Race:
    active, passive = sides(N_COLUMNS, 1)
    return Race(
        partial(fit_rows, active, passive),
        partial(by_hand, active),
        note=_checked(fit_rows(active, passive), by_hand(active), active.X),
    )


def blocks_against_hand() -> Race:
    active, passive = sides(BLOCK_COLUMNS, N_BLOCKS)
    return Race(
        partial(fit_blocks, active, passive),
        partial(blocks_by_hand, active),
        note=_checked(fit_blocks(active, passive), blocks_by_hand(active), active.X),
    )


def _checked(fit: ConstrainedFit, free: NDArray[np.floating], X: Floats) -> str:
    """The constraint is active, and the fit has left the unconstrained one."""
    require(fit.binding and fit.accurate, "the constraint is not active; this race is meant for one that is.")
    moved = float(np.abs(X[:100] @ (np.atleast_2d(fit.coefficients) - free).T).max())
    require(moved > 0.0, "the constrained fit equals the active fit.")
    return f"constraint active, multiplier {fit.multiplier:.3g}"


@dataclass(frozen=True, slots=True)
class Reduced:
    """A side by its QR factor: its mean squared error is |R theta - q|^2 / n."""

    R: Floats
    q: Floats
    n: int

    @staticmethod
    def of(side: Side) -> Reduced:
        factor: Any = np.linalg.qr(np.column_stack([side.X, side.r]), mode="r")
        return Reduced(factor[:, :-1], factor[:, -1], len(side.r))

    def error(self, theta: Floats) -> float:
        return float(np.sum((self.R @ theta - self.q) ** 2)) / self.n


@cache
def reduced() -> tuple[Reduced, Reduced]:
    active, passive = sides(N_COLUMNS, 1)
    return Reduced.of(active), Reduced.of(passive)


@cache
def moments() -> tuple[Moments, Moments]:
    active, passive = sides(N_COLUMNS, 1)
    return Moments.of(active.X, active.r), Moments.of(passive.X, passive.r)


def stated(bound: float) -> tuple[Any, Any]:
    """The reduced problem in CVXPY, with its variable."""
    import cvxpy

    active, passive = reduced()
    theta = cvxpy.Variable(N_COLUMNS)
    objective = cvxpy.sum_squares(active.R @ theta - active.q) / active.n
    constraint = cvxpy.sum_squares(passive.R @ theta - passive.q) / passive.n <= bound
    return cvxpy.Problem(cvxpy.Minimize(objective), [constraint]), theta


def stated_and_solved(bound: float) -> Floats:
    problem, theta = stated(bound)
    problem.solve(solver="CLARABEL")
    solution: Floats = theta.value
    return solution


def against_cvxpy(ours: Callable[[], ConstrainedFit], *, compiled: bool) -> Race:
    """Our fit against CVXPY, which states and solves each time, or has `compiled` the problem beforehand."""
    fit = ours()
    bound = fit.alpha + SLACK
    with peer("CVXPY with Clarabel"):
        general = stated_and_solved(bound)
        problem, _ = stated(bound)
        problem.solve(solver="CLARABEL")  # compiles it; later solves go straight to the solver
    active, passive = reduced()
    theta = fit.coefficients.reshape(N_COLUMNS)
    gap = abs(active.error(theta) / active.error(general) - 1.0)
    excess = passive.error(theta) / bound - 1.0
    require(gap < 1e-6, f"the objectives differ by {gap:.1e} of themselves.")
    require(excess < 1e-9, f"our fit breaks the constraint by {excess:.1e} of it.")
    theirs = partial(problem.solve, solver="CLARABEL") if compiled else partial(stated_and_solved, bound)
    return Race(ours, theirs, note=f"objectives agree to {gap:.0e}")


def from_moments() -> ConstrainedFit:
    return constrained_fit(*moments(), SLACK)


def from_rows() -> ConstrainedFit:
    return fit_rows(*sides(N_COLUMNS, 1))


ROWS = [
    Row(
        key="constrained fit / normal equations",
        ours="constrained fit of 1e5 + 5e3 rows, 100 columns",
        theirs="np.linalg.solve(X'X, X'r) of the 1e5 rows",
        prepare=against_hand,
        limit=1.25,
    ),
    Row(
        key="constrained fit of blocks / normal equations",
        ours="the same with 10 blocks of 21 columns",
        theirs="mask and solve, block by block",
        prepare=blocks_against_hand,
        limit=1.25,
    ),
    Row(
        key="CVXPY / constrained fit from moments",
        ours="constrained fit from moments, 100 columns",
        theirs="CVXPY + Clarabel from QR factors",
        prepare=partial(against_cvxpy, from_moments, compiled=False),
        limit=10.0,
        quantity=Quantity.TIMES_FASTER,
    ),
    Row(
        key="compiled CVXPY / constrained fit from moments",
        ours="the same",
        theirs="the same, compiled beforehand",
        prepare=partial(against_cvxpy, from_moments, compiled=True),
        quantity=Quantity.TIMES_FASTER,
    ),
    Row(
        key="CVXPY / constrained fit from rows",
        ours="constrained fit of 1e5 + 5e3 rows, 100 columns",
        theirs="CVXPY + Clarabel from QR factors",
        prepare=partial(against_cvxpy, from_rows, compiled=False),
        quantity=Quantity.TIMES_FASTER,
    ),
]

"""Figure "Intuition": the constraint around the passive fit, drawn computed in Section 1.1."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import passive_count
from gyrfalcon.core.schedules import Doubling
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.environments.population.population import greedy_policy
from gyrfalcon.oracles.solvers.constrained import ConstrainedFit, constrained_least_squares
from gyrfalcon.oracles.solvers.least_squares import least_squares
from gyrfalcon.oracles.solvers.moments import Moments
from gyrfalcon.theory import unit_slack
from gyrfalcon_paper.exhibits.exhibit import Columns, Effort, Exhibit, Piece, Tables
from gyrfalcon_paper.exhibits.intuition_figure import draw, point_of
from gyrfalcon_paper.tables import row_of, stacked, table_of, where

EPOCHS = (7, 9, 11)
PASSIVE_SHARE = 0.05
DELTA = 0.05
C_BETA = 0.5
SEED = 0


@dataclass(frozen=True, slots=True)
class Rows:
    """What action 1 earned: (n, 2) columns 1 and x, and (n,) rewards."""

    X: Floats
    r: Floats

    @property
    def gram(self) -> Floats:
        """The curvature of the mean squared error, (2, 2)."""
        gram: Floats = self.X.T @ self.X / len(self.X)
        return gram

    @property
    def minimiser(self) -> Floats:
        """Intercept and slope of the least-squares line, (2,)."""
        line: Floats = least_squares(Moments.of(self.X, self.r)).coefficients[0]
        return line


@dataclass(frozen=True, slots=True)
class FirstLine:
    """A line for action 1 beside the true 0.5 of action 2."""

    intercept: float
    slope: float

    def scores(self, contexts: Contexts) -> Floats:
        """Predicted rewards of both actions, (n, 2)."""
        x = contexts.shared[:, 0]
        return np.stack([self.intercept + self.slope * x, np.full(len(x), 0.5)], axis=1)


def work(effort: Effort) -> list[Piece]:
    """A piece for each epoch; the same at any effort."""
    del effort
    return [partial(epoch_tables, index) for index in EPOCHS]


def epoch_tables(index: int) -> Tables:
    """The passive, the active and the constrained fit after one epoch, and their level curves."""
    active, passive = epoch_rows(index)
    best = np.array(StepExample().best_coefficients[0])
    centre, goal = passive.minimiser, active.minimiser
    slack = calibrated_slack(passive, centre, index)
    fit = constrained_least_squares(active.X, active.r, passive.X, passive.r, slack)
    height = excess(active.gram, fit.coefficients - goal)
    return {
        "fits": _fits(index, best, centre, goal, fit),
        "set": _curve(index, centre, passive.gram, slack),
        "level": _curve(index, goal, active.gram, height),
        "summary": row_of(
            epoch=index,
            n_active=len(active.r),
            n_passive=len(passive.r),
            slack=slack,
            multiplier=fit.multiplier,
            excess_of_constrained=fit.excess,
            excess_of_active=excess(passive.gram, goal - centre),
            excess_of_best=excess(passive.gram, best - centre),
        ),
    }


def epoch_rows(index: int) -> tuple[Rows, Rows]:
    """Active and passive rows of action 1 in epoch m: optimal play, then a tail of uniform play."""
    start, stop = Doubling().end(index - 1), Doubling().end(index)
    drawn = StepExample().draw(start, stop, SEED)
    x, rewards = drawn.contexts.shared[:, 0], drawn.rewards[:, 0]
    passive = np.arange(stop - start) >= stop - start - passive_count(PASSIVE_SHARE, stop - start)
    heads = np.random.default_rng([SEED, index]).random(stop - start) < 0.5
    return _rows(x, rewards, ~passive & (x > 0.5)), _rows(x, rewards, passive & heads)


def _rows(x: Floats, rewards: Floats, keep: Bools) -> Rows:
    return Rows(np.stack([np.ones(int(keep.sum())), x[keep]], axis=1), rewards[keep])


def calibrated_slack(passive: Rows, centre: Floats, index: int) -> float:
    """Epsilon-FALCON's calibrated slack for these two coefficients: c sigma^2 d ln(12 m^2 / delta) / n'."""
    n, d = passive.X.shape
    variance = float(((passive.r - passive.X @ centre) ** 2).sum()) / (n - d)
    return float(C_BETA * variance * unit_slack(n, d, index, DELTA))


def excess(gram: Floats, step: Floats) -> float:
    """Mean squared error above its least, that far from the minimiser."""
    return float(step @ gram @ step)


def ellipse(centre: Floats, gram: Floats, height: float, n_points: int = 181) -> Floats:
    """Points (n, 2) where the excess is `height`, in a closed round."""
    angle = np.linspace(0.0, 2.0 * np.pi, n_points)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    points: Floats = (
        centre[:, np.newaxis] + np.sqrt(height) * np.linalg.solve(np.linalg.cholesky(gram).T, circle)
    ).T
    return points


def _curve(index: int, centre: Floats, gram: Floats, height: float) -> Columns:
    points = ellipse(centre, gram, height)
    return table_of(epoch=[index] * len(points), intercept=points[:, 0], slope=points[:, 1])


def _fits(index: int, best: Floats, centre: Floats, goal: Floats, fit: ConstrainedFit) -> Columns:
    named = {"best in class": best, "passive": centre, "active": goal, "constrained": fit.coefficients}
    population = StepExample().population
    return table_of(
        epoch=[index] * len(named),
        fit=list(named),
        intercept=[line[0] for line in named.values()],
        slope=[line[1] for line in named.values()],
        regret=[population.regret(greedy_policy(FirstLine(*map(float, line)))) for line in named.values()],
    )


def tables(results: list[Any]) -> Tables:
    """All epochs one under the other, and level curves of the two risks that the sketch begins with."""
    found = {name: stacked([part[name] for part in results]) for name in results[0]}
    last = where(found["fits"], "epoch", EPOCHS[-1])
    uniform_gram = np.array([[1.0, 1 / 2], [1 / 2, 1 / 3]])  # of (1, x), x uniform on (0, 1)
    upper_gram = np.array([[1.0, 3 / 4], [3 / 4, 7 / 12]])  # and on (1/2, 1)
    return {
        **found,
        "passive risk": _levels(point_of(last, "best in class"), uniform_gram),
        "active risk": _levels(point_of(last, "active"), upper_gram),
    }


def _levels(centre: Floats, gram: Floats) -> Columns:
    heights = (0.0025, 0.01, 0.0225)
    curves = [ellipse(centre, gram, height) for height in heights]
    points = np.concatenate(curves)
    level = np.repeat(heights, [len(curve) for curve in curves])
    return table_of(level=level, intercept=points[:, 0], slope=points[:, 1])


EXHIBIT = Exhibit("intuition", work=work, tables=tables, draw=draw, printed="summary")

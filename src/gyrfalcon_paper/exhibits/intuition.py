"""Figure "Intuition": the constraint around the passive fit, drawn computed in Section 1.1."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.schedules import Doubling, passive_count
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.environments.population.population import greedy_policy
from gyrfalcon.oracles.solvers.constrained import ConstrainedFit, constrained_least_squares
from gyrfalcon.oracles.solvers.least_squares import least_squares
from gyrfalcon.oracles.solvers.moments import Moments
from gyrfalcon.reports.figures import COLOURS
from gyrfalcon.theory import unit_slack
from gyrfalcon_paper.exhibits.exhibit import Columns, Effort, Exhibit, Piece, Tables
from gyrfalcon_paper.tables import numbers, only, row_of, stacked, table_of, where

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
        """Intercept and slope of the least-squares fit, (2,)."""
        found: Floats = least_squares(Moments.of(self.X, self.r)).coefficients[0]
        return found


@dataclass(frozen=True, slots=True)
class FirstActionModel:
    """A linear model of action 1 beside the true 0.5 of action 2."""

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
        intercept=[one[0] for one in named.values()],
        slope=[one[1] for one in named.values()],
        regret=[
            population.regret(greedy_policy(FirstActionModel(*map(float, one)))) for one in named.values()
        ],
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


BLUE, ORANGE, GREEN = COLOURS[1], COLOURS[0], COLOURS[2]


def point_of(fits: Columns, name: str) -> Floats:
    """Intercept and slope of a fit by its name."""
    row = only(where(fits, "fit", name))
    return np.array([row["intercept"], row["slope"]])


def draw(figure: Figure, tables: Tables) -> None:
    """Passive risk, active risk, and the fit that minimises the one where the other is small."""
    figure.set_size_inches(7.0, 3.1)
    left, middle, right = figure.subplots(1, 3)
    last = where(tables["fits"], "epoch", _epochs(tables)[-1])
    best, goal = point_of(last, "best in class"), point_of(last, "active")
    _draw_levels(left, tables["passive risk"], BLUE)
    _draw_levels(middle, tables["active risk"], ORANGE)
    titles = "Passive data", "Optimal play's data", "Constrained, close up"
    for axes, title in zip((left, middle, right), titles, strict=True):
        axes.set(title=title, xlabel="intercept", xlim=(-1.0, 1.5), ylim=(-0.7, 2.4))
        axes.plot(*best, "o", color=BLUE, markersize=5, zorder=4)
    left.set_ylabel("slope")
    middle.plot(*goal, "*", color=ORANGE, markersize=10, zorder=4)
    _note(left, "best\nin class", best, (14, 8), BLUE, "left")
    _note(middle, "best in class", best, (0, 36), BLUE, "center")
    _note(middle, "active\nminimiser", goal, (-14, -8), ORANGE, "right")
    _draw_constraint(right, tables)
    _draw_frame(middle, right)


def _epochs(tables: Tables) -> list[int]:
    return [int(index) for index in numbers(tables["summary"], "epoch")]


def _draw_frame(axes: Axes, close_up: Axes) -> None:
    """Mark on one picture what another one shows."""
    from matplotlib.patches import Rectangle

    (x, right), (y, top) = close_up.get_xlim(), close_up.get_ylim()
    axes.add_patch(Rectangle((x, y), right - x, top - y, fill=False, color="0.55", linewidth=0.7))


def _draw_levels(axes: Axes, curves: Columns, colour: str) -> None:
    for level in dict.fromkeys(curves["level"]):
        _drawn(axes, where(curves, "level", level), colour, linewidth=0.9)


def _draw_constraint(axes: Axes, tables: Tables) -> None:
    """Draw the sets, their minimisers, and the levels of active risk that touch them there."""
    for shade, index, height in zip((0.10, 0.14, 0.22), _epochs(tables), (0.62, 0.45, 0.28), strict=True):
        x, y = _drawn(axes, where(tables["set"], "epoch", index), BLUE, linewidth=0.8)
        axes.fill(x, y, color=BLUE, alpha=shade, linewidth=0)
        _drawn(axes, where(tables["level"], "epoch", index), ORANGE, linewidth=0.9, linestyle=(0, (4, 2)))
        fit = point_of(where(tables["fits"], "epoch", index), "constrained")
        axes.plot(*fit, "D", color=GREEN, markersize=4.5, zorder=5)
        _name_set(axes, f"m = {index}", (x[x.argmin()], y[x.argmin()]), height)
    outer = where(tables["set"], "epoch", _epochs(tables)[0])
    x, y = numbers(outer, "intercept"), numbers(outer, "slope")
    axes.set(xlim=(x.min() - 0.2, x.max() + 0.25), ylim=(y.min() - 0.12, y.max() + 0.14))
    for text, height, colour in (
        ("constrained\nminimisers", 0.97, GREEN),
        ("levels of\nactive risk", 0.8, ORANGE),
    ):
        place: dict[str, Any] = {"ha": "right", "va": "top", "transform": axes.transAxes}
        axes.text(0.98, height, text, color=colour, fontsize=8, **place)


def _drawn(axes: Axes, curve: Columns, colour: str, **style: Any) -> tuple[Floats, Floats]:
    x, y = numbers(curve, "intercept"), numbers(curve, "slope")
    axes.plot(x, y, color=colour, **style)
    return x, y


def _name_set(axes: Axes, name: str, at: tuple[float, float], height: float) -> None:
    axes.annotate(
        name,
        at,
        xytext=(0.03, height),
        textcoords="axes fraction",
        color=BLUE,
        fontsize=8,
        va="center",
        arrowprops={"arrowstyle": "-", "color": BLUE, "linewidth": 0.6, "shrinkA": 1, "shrinkB": 0},
    )


def _note(axes: Axes, text: str, at: Floats, offset: tuple[float, float], colour: str, side: str) -> None:
    axes.annotate(
        text,
        (float(at[0]), float(at[1])),
        xytext=offset,
        textcoords="offset points",
        color=colour,
        fontsize=8,
        ha=side,
        va="center",
    )


EXHIBIT = Exhibit("intuition", work=work, tables=tables, draw=draw, printed="summary")

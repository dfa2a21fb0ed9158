"""Appendix E: the largest error of the best linear models stays near 0.9 while their b vanishes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrfalcon import theory
from gyrfalcon.core.arrays import Floats
from gyrfalcon.environments.paper import SensitivityExample
from gyrfalcon.environments.population.best_in_class import misspecification
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.reports.figures import COLOURS, GREY
from gyrfalcon.reports.labels import beside
from gyrfalcon_paper.exhibits.exhibit import Columns, Effort, Exhibit, Piece, Tables
from gyrfalcon_paper.tables import numbers, table_of_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

N_ACTIONS = 2
THETAS = (1e-4, 0.05)
DASHED = (0, (4, 3))


def work(effort: Effort) -> list[Piece]:
    """One piece: quadrature for each theta."""
    return [partial(errors, effort.of(full=40, quick=12))]


def errors(n_thetas: int) -> Columns:
    """Errors of the best linear model by quadrature and in closed form, and what theory charges for them."""
    thetas = np.geomspace(*THETAS, n_thetas)
    return table_of_rows(_row(SensitivityExample(theta=min(float(theta), THETAS[1]))) for theta in thetas)


def sup_error(theta: float) -> float:
    """The largest error in closed form: that just above 1 - theta, where action 1 gives 1.

    >>> round(sup_error(0.05), 6)
    0.739575
    """
    intercept, slope = SensitivityExample(theta=theta).best_coefficients
    return 1.0 - intercept - slope * (1.0 - theta)


def _row(example: SensitivityExample) -> dict[str, float]:
    found = misspecification(example.population, Linear())
    return {
        "theta": example.theta,
        "b": found.b,
        "b_closed_form": example.b,
        "sup": found.sup,
        "sup_closed_form": sup_error(example.theta),
        "mean_square_rate": theory.optimal_cost(found.b, N_ACTIONS),
        "uniform_rate": found.sup * N_ACTIONS**0.5,
    }


def tables(results: list[Any]) -> Tables:
    """Errors at every theta, and those at the ends alone."""
    table: Columns = results[0]
    return {"errors": table, "ends": {name: [column[0], column[-1]] for name, column in table.items()}}


def draw(figure: Figure, tables: Tables) -> None:
    """Draw errors on the left, what theory charges for them on the right, both against theta."""
    figure.set_size_inches(7.0, 3.1)
    left, right = figure.subplots(1, 2, sharex=True)
    _draw_errors(left, tables["errors"])
    _draw_rates(right, tables["errors"])
    for axes in (left, right):
        axes.set(xscale="log", yscale="log", xlabel="$\\theta$, the share of contexts above the step")
        axes.margins(x=0.02)


def _draw_errors(axes: Axes, table: Columns) -> None:
    theta = numbers(table, "theta")
    rms, bound = np.sqrt(numbers(table, "b")), np.sqrt(theta / 2)
    _curve(axes, theta, numbers(table, "sup"), COLOURS[0], "largest error", "below", at=0.45)
    _curve(axes, theta, rms, COLOURS[1], "root mean\nsquare, $\\sqrt{b}$", "lower right", at=0.55)
    axes.plot(theta, bound, color=GREY, linewidth=0.9, linestyle=DASHED)
    middle = len(theta) // 2
    beside(axes, "$\\sqrt{\\theta/2}$", (theta[middle], bound[middle]), "upper left", GREY)
    axes.set(title="Error of the best linear models", ylabel="error (units of reward)", ylim=(4e-3, 1.5))


def _draw_rates(axes: Axes, table: Columns) -> None:
    theta = numbers(table, "theta")
    _curve(axes, theta, numbers(table, "uniform_rate"), COLOURS[0], "by the largest error", "above", at=0.45)
    _curve(axes, theta, numbers(table, "mean_square_rate"), COLOURS[1], "by $b$", "lower right", at=0.55)
    axes.axhline(1.0, color=GREY, linewidth=0.9, linestyle=DASHED, zorder=0)
    beside(axes, "more than a round can cost", (theta[len(theta) // 2], 2.2), "above", GREY)
    axes.set(title="What theory charges for it", ylabel="regret per round, up to constants", ylim=(0.03, 4))


def _curve(axes: Axes, x: Floats, y: Floats, colour: str, name: str, side: str, at: float) -> None:
    axes.plot(x, y, color=colour)
    place = int(at * (len(x) - 1))
    beside(axes, name, (x[place], y[place]), side, colour)


EXHIBIT = Exhibit("sup-norm", work=work, tables=tables, draw=draw, printed="ends")

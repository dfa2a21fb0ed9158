"""Appendix E: the largest error of the best lines stays near .9 while their mean squared error vanishes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrfalcon import theory
from gyrfalcon.core.arrays import Floats
from gyrfalcon.environments.paper import SensitivityExample
from gyrfalcon.environments.population.best_in_class import misspecification
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.reports.labels import beside
from gyrfalcon.reports.style import COLOURS, GREY
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


def _row(environment: SensitivityExample) -> dict[str, float]:
    found = misspecification(environment.population, Linear())
    return {
        "theta": environment.theta,
        "b": found.b,
        "b_closed_form": environment.b,
        "sup": found.sup,
        "sup_closed_form": sup_error(environment.theta),
        "mean_square_rate": theory.optimal_cost(found.b, N_ACTIONS),
        "uniform_rate": found.sup * N_ACTIONS**0.5,
    }


def tables(results: list[Any]) -> Tables:
    """The one table."""
    return {"errors": results[0]}


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
    axes.set(title="Error of the best lines", ylabel="error (units of reward)", ylim=(4e-3, 1.5))


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


def prose(tables: Tables) -> list[str]:
    """What vanishes with theta, and what does not."""
    table = tables["errors"]
    theta, b, sup = (numbers(table, name) for name in ("theta", "b", "sup"))
    mean, uniform = numbers(table, "mean_square_rate"), numbers(table, "uniform_rate")
    off = max(
        np.abs(b / numbers(table, "b_closed_form") - 1.0).max(),
        np.abs(sup / numbers(table, "sup_closed_form") - 1.0).max(),
    )
    below = "stays below" if (b <= theta / 2).all() else "does not stay below"
    nowhere = "never" if (uniform >= 1.0).all() else "at times"
    return [
        "Other work measures how wrong a model class is by its largest error over all contexts and actions; "
        "the paper says that this can be large in benign examples, and names its Appendix E, where action 1 "
        "pays .1, but 1 in a share <i>θ</i> of contexts. We integrate the errors of the best lines over "
        "that family.",
        f"As <i>θ</i> goes from {theta[-1]:.2g} to {theta[0]:.1g}, <i>b</i> falls from {b[-1]:.4f} to "
        f"{b[0]:.1e} and {below} the paper's bound <i>θ</i>/2; the largest error goes from {sup[-1]:.3f} to "
        f"{sup[0]:.4f}, towards .9. Quadrature and the closed forms agree to {off:.0e} of their size.",
        "What theory charges for it follows suit. The paper's rate with the best passive share, <i>K</i> "
        f"<i>b</i><sup>1/2</sup> <i>ε</i><sup>-1/4</sup> + <i>ε</i>, falls from {mean[-1]:.2f} to "
        f"{mean[0]:.3f} a round. A rate by the largest error, <i>K</i><sup>1/2</sup> times it (Foster and "
        f"Rakhlin 2020), is {uniform[-1]:.2f} and {uniform[0]:.2f}, {nowhere} below the 1 that a round can "
        "cost at most. Both are up to constants, so only how they depend on <i>θ</i> can be compared.",
    ]


def caption(tables: Tables) -> str:
    """What the figure shows."""
    n = len(tables["errors"]["theta"])
    return (
        f"<b>Largest error and <i>b</i> in Appendix E</b>, by quadrature at {n} values of <i>θ</i>. Left: "
        "the largest error of the best lines, and their root mean squared error under uniform play, with the "
        "paper's bound on it (dashed). Right: what rates charge a round for either, up to constants."
    )


EXHIBIT = Exhibit(
    key="sup-norm",
    title="A small mean squared error beside a large error somewhere (Appendix E)",
    work=work,
    tables=tables,
    draw=draw,
    prose=prose,
    caption=caption,
)

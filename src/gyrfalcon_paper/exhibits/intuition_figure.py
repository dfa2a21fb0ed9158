"""How the figure "Intuition" is drawn: risks as level curves, models as points of a plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.reports.style import COLOURS
from gyrfalcon_paper.exhibits.exhibit import Columns, Tables
from gyrfalcon_paper.tables import numbers, only, where

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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


def _drawn(axes: Axes, curve: Columns, colour: str, **line: Any) -> tuple[Floats, Floats]:
    x, y = numbers(curve, "intercept"), numbers(curve, "slope")
    axes.plot(x, y, color=colour, **line)
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

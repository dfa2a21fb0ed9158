"""The figure: a panel per contestant, its paired differences to the baseline with their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING

from benchmarks.regret.standings import Difference
from gyrfalcon.reports.figures import COLOURS, GREY, new_figure, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

N_COLUMNS = 6
LETTERS = 26
"""Of a title, before it goes on in another line."""
LOOKS = {"win": (COLOURS[1], "^"), "tie": (GREY, "o"), "loss": (COLOURS[0], "v")}
"""Blue and vermilion stay apart for colour-blind readers, and the markers without any colour."""
TICKS = (-50, -10, -2, 0, 2, 10, 50)
LINEAR = 2.0
"""Points up to which the axis is linear; it is in logs beyond, so that near and far can be read."""


def differences_figure(
    against: Mapping[str, Mapping[str, Difference]], environments: Sequence[str], title: str, baseline: str
) -> Figure:
    """Differences in points, two standard errors either way."""
    names = [name for name in against if against[name]]
    n_columns = min(max(len(names), 3), N_COLUMNS)  # fewer than three would be too narrow for the words below
    n_rows = max(math.ceil(len(names) / n_columns), 1)
    with style():
        figure = new_figure(1.0 + 2.0 * n_columns, 0.9 + n_rows * (0.75 + 0.15 * len(environments)))
        grid = figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False)
        panels: list[Axes] = list(grid.ravel())
        for axes, name in zip(panels, names, strict=False):
            _draw(axes, against[name], environments, name)
        for axes in panels[len(names) :]:
            axes.set_axis_off()
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
        figure.supxlabel(fill(_below(baseline), 24 * n_columns), fontsize=9)
    return figure


def _below(baseline: str) -> str:
    return (
        f"Mean reward less that of {baseline}, in points, paired over seeds, ± 2 standard errors; "
        "▲ above, ▼ below, ● neither at |z| > 2; logarithmic beyond ± 2 points"
    )


def _draw(axes: Axes, own: Mapping[str, Difference], environments: Sequence[str], name: str) -> None:
    axes.axvline(0.0, color=GREY, linewidth=0.9)
    for row, environment in enumerate(environments):
        if environment in own:
            _draw_one(axes, row, own[environment])
    axes.set_xscale("symlog", linthresh=LINEAR, linscale=0.6)
    axes.set_xlim(-100.0, 100.0)
    axes.set_xticks(TICKS, [f"{tick:+d}" if tick else "0" for tick in TICKS])
    axes.minorticks_off()
    axes.set_yticks(range(len(environments)), environments)
    axes.set_ylim(len(environments) - 0.4, -0.6)
    axes.tick_params(labelbottom=True, labelsize=7)
    axes.grid(color="0.92", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_title(fill(name, LETTERS), fontsize=8.5)


def _draw_one(axes: Axes, row: int, difference: Difference) -> None:
    colour, marker = LOOKS[difference.verdict]
    mean, error = 100.0 * difference.mean, 100.0 * difference.standard_error
    reach = 0.0 if math.isnan(error) else 2.0 * error
    axes.plot([mean - reach, mean + reach], [row, row], color=colour, linewidth=1.4)
    axes.plot([mean], [row], color=colour, marker=marker, markersize=4, linestyle="none")

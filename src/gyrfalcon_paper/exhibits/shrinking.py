"""The constraint sets F'_m, epoch by epoch: they shrink around the best in-class model and hold the fit."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.reports.figures import COLOURS, GREY, Band, draw_band
from gyrfalcon.reports.labels import Label, beside, end_labels, kept_apart, plain_numbers
from gyrfalcon.simulation.trace import Summary
from gyrfalcon_paper.exhibits.exhibit import Columns, Effort, Exhibit, Piece, Tables
from gyrfalcon_paper.exhibits.shrinking_fits import BEST, C_BETA, FITS, fits
from gyrfalcon_paper.tables import distinct, matching, numbers, table_of, table_of_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


SMALL_SCALE = 0.1
"""Of the slack: a fifth of the learner's own."""
_LOOKS = {
    "radius": (COLOURS[1], "radius of the set"),
    "active": (COLOURS[0], "active fit"),
    "played": (COLOURS[2], "played fit"),
    "passive": (GREY, "passive fit"),
}


def draw(figure: Figure, tables: Tables) -> None:
    """Draw the sets of one run on the left; distances and coverage over epochs on the right."""
    figure.set_size_inches(7.2, 4.2)
    grid = figure.add_gridspec(2, 2, height_ratios=(2.0, 1.0))
    _draw_sets(figure.add_subplot(grid[:, 0]), tables["sets"])
    upper = figure.add_subplot(grid[0, 1])
    _draw_distances(upper, tables["epochs"])
    _draw_coverage(figure.add_subplot(grid[1, 1], sharex=upper), tables["epochs"])


def _draw_sets(axes: Axes, sets: Columns) -> None:
    rows = [
        {name: float(column[place]) for name, column in sets.items()} for place in range(len(sets["epoch"]))
    ]
    for place, row in enumerate(rows):
        tone, edge = 0.25 + 0.75 * (place + 1) / len(rows), ellipse(row)
        axes.fill(*edge, color=COLOURS[1], alpha=0.12, linewidth=0)
        axes.plot(*edge, color=COLOURS[1], alpha=tone, linewidth=1.2)
        axes.plot(row["active_intercept"], row["active_slope"], "x", color=COLOURS[0], alpha=tone)
        axes.plot(
            row["played_intercept"], row["played_slope"], "o", color=COLOURS[2], alpha=tone, markersize=4
        )
    axes.plot(BEST[0, 0], BEST[0, 1], "*", color="black", markersize=9)
    axes.set(title="One run: the sets for action 1", xlabel="intercept", ylabel="slope")
    _name_sets(axes, rows)


def _name_sets(axes: Axes, rows: list[dict[str, float]]) -> None:
    """Name sets at their tops, in the empty corner to their right, and fits at the lowest of their kind."""
    tops = []
    for row in rows:
        x, y = ellipse(row)
        tops.append((x[np.argmax(y)], y.max()))
    low, high = axes.get_ylim()
    heights = kept_apart(np.array([top for _, top in tops]), 0.05 * (high - low))
    for row, top, height in zip(rows, tops, heights, strict=True):
        axes.annotate(
            f"epoch {row['epoch']:.0f}",
            top,
            xytext=(0.72, height),
            textcoords=("axes fraction", "data"),
            color=COLOURS[1],
            fontsize=8,
            va="center",
            arrowprops={"arrowstyle": "-", "color": COLOURS[1], "linewidth": 0.5, "relpos": (0.0, 0.5)},
        )
    for name, colour, text in (("active", COLOURS[0], "active fits"), ("played", COLOURS[2], "played fits")):
        lowest = min(rows, key=lambda row: row[f"{name}_slope"])
        point = lowest[f"{name}_intercept"], lowest[f"{name}_slope"]
        beside(axes, text, point, "below" if name == "active" else "right", colour, size=8)


def ellipse(row: dict[str, float], n_points: int = 181) -> tuple[Floats, Floats]:
    """The edge of F'_m in the coefficients of action 1: all of the slack is spent on it."""
    gram = np.array([[row["gram_00"], row["gram_01"]], [row["gram_01"], row["gram_11"]]])
    angles = np.linspace(0.0, 2.0 * np.pi, n_points)
    circle = np.sqrt(row["slack"]) * np.stack([np.cos(angles), np.sin(angles)])
    points = np.linalg.solve(np.linalg.cholesky(gram).T, circle)
    return points[0] + row["passive_intercept"], points[1] + row["passive_slope"]


def _draw_distances(axes: Axes, table: Columns) -> None:
    x, labels = numbers(table, "round"), []
    for name, (colour, text) in _LOOKS.items():
        y, error = numbers(table, name), numbers(table, f"{name}_standard_error")
        draw_band(axes, x, Band.of(y, error, floor=1e-9), colour)
        labels.append(Label(text, float(y[-1]), colour))
    axes.set(xscale="log", yscale="log", ylabel="distance", title="Distance from the best model")
    axes.set_xlim(x[0], x[-1] * 1.02)
    axes.tick_params(labelbottom=False)
    plain_numbers(axes.yaxis, steps=(1.0, 3.0))
    end_labels(axes, labels, size=8, height_inches=2.1)


def _draw_coverage(axes: Axes, table: Columns) -> None:
    x = numbers(table, "round")
    for scale, colour in ((C_BETA, COLOURS[1]), (SMALL_SCALE, COLOURS[3])):
        y, error = (numbers(table, f"covered_{scale:g}{suffix}") for suffix in ("", "_standard_error"))
        axes.errorbar(x, y, 2 * error, color=colour, marker="o", markersize=3, elinewidth=0.8)
        beside(axes, f"$c_\\beta$ = {scale:g}", (x[-1], y[-1]), "right", colour, size=8)
    axes.set(xlabel="rounds played", ylabel="share", ylim=(0.0, 1.08), title="Best model inside the set")
    plain_numbers(axes.xaxis, steps=(1.0,))


SCALES = (SMALL_SCALE, 0.25, C_BETA, 1.0)
"""Scales of the slack at which coverage is counted."""
SHOWN = (4, 6, 8, 10)
"""After which epochs the set is drawn; from the first of them on coverage is counted."""


def work(effort: Effort) -> list[Piece]:
    """Replications in parts; one round more than whole epochs have, so that the last one is fitted."""
    n_rounds = 1 + effort.of(full=204_800, quick=25_600)
    n_replications, n_parts = effort.of(full=100, quick=10), effort.of(full=4, quick=1)
    size = n_replications // n_parts
    return [partial(fits, n_rounds, part * size, (part + 1) * size) for part in range(n_parts)]


def tables(results: list[Any]) -> Tables:
    """What the fits have in common, epoch by epoch; coverage; and the sets of the first replication."""
    table = table_of_rows(row for part in results for row in part)
    epochs = distinct(table, "epoch")
    return {
        "epochs": table_of_rows(_epoch(matching(table, epoch=epoch)) for epoch in epochs),
        "coverage": table_of_rows(_coverage(table, scale) for scale in SCALES),
        "sets": _sets(table),
    }


def _epoch(own: Columns) -> dict[str, Any]:
    """Means over replications after one epoch, with their standard errors."""
    samples = {
        "radius": np.sqrt(numbers(own, "slack")),
        **{name: numbers(own, f"{name}_distance") for name in FITS},
        **{f"covered_{scale:g}": _covered(own, scale) for scale in SCALES},
    }
    found: dict[str, Any] = {
        "epoch": own["epoch"][0],
        "round": own["round"][0],
        "replications": len(own["epoch"]),
    }
    for name, sample in samples.items():
        summary = Summary.of(sample)
        found |= {name: summary.mean, f"{name}_standard_error": summary.standard_error}
    return found | {"binding": float((numbers(own, "multiplier") > 0.0).mean())}


def _covered(own: Columns, scale: float) -> Floats:
    """1 where the best in-class model is in the set that this scale of the slack would have made.

    Slack is proportional to its scale, and passive rows don't depend on what was played.
    """
    slack = numbers(own, "slack") * scale / C_BETA
    return (numbers(own, "best_excess") <= slack).astype(np.float64)


def _coverage(table: Columns, scale: float) -> dict[str, Any]:
    """Shares of epochs with at least 20 passive rows whose constraint keeps the best model.

    The mean of a replication counts as one number.
    """
    later = [matching(table, replication=number) for number in distinct(table, "replication")]
    shares = np.array([_covered(own, scale)[numbers(own, "epoch") >= SHOWN[0]].mean() for own in later])
    summary, always = Summary.of(shares), Summary.of((shares == 1.0).astype(np.float64))
    return {
        "c_beta": scale,
        "coverage": summary.mean,
        "standard_error": summary.standard_error,
        "always": always.mean,
        "always_standard_error": always.standard_error,
    }


def _sets(table: Columns) -> Columns:
    first = matching(table, replication=table["replication"][0])
    kept = np.isin(numbers(first, "epoch"), SHOWN)
    names = ["epoch", "slack", *(name for name in first if name.startswith(("gram", *FITS)))]
    return table_of(**{name: np.array(first[name])[kept] for name in names if "distance" not in name})


EXHIBIT = Exhibit("shrinking", work=work, tables=tables, draw=draw, printed="coverage")

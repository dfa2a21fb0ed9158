"""Figures from numbers: readable at column width, safe for colour-blind readers, labelled directly."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gyrfalcon.core.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette, which stays apart under the common colour vision deficiencies.
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


class Band(NamedTuple):
    """A curve and what it may be off by."""

    middle: Floats
    low: Floats
    high: Floats


def regret_figure(
    path: Path,
    rounds: Floats,
    curves: Mapping[str, Band],
    references: Mapping[str, float],
    title: str,
) -> None:
    """Draw per-round regret over rounds: a line and a band per name, labelled at its end."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(7.2, 4.2), layout="constrained")
        axes = figure.add_subplot()
        for colour, (name, band) in zip(cycle(COLOURS), curves.items(), strict=False):
            axes.plot(rounds, band.middle, color=colour, linewidth=1.8)
            axes.fill_between(rounds, band.low, band.high, color=colour, alpha=0.2, linewidth=0)
            axes.annotate(
                name,
                (rounds[-1], band.middle[-1]),
                xytext=(6, 0),
                textcoords="offset points",
                color=colour,
                va="center",
                fontweight="bold",
            )
        _references(axes, references)
        axes.set(xscale="log", xlabel="round", ylabel="expected regret per round", title=title)
        axes.set_ylim(bottom=0.0)
        axes.margins(x=0.0)
        figure.savefig(path, dpi=160)


def _references(axes: Axes, references: Mapping[str, float]) -> None:
    for name, height in references.items():
        axes.axhline(height, color="0.45", linewidth=0.9, linestyle=(0, (4, 3)), zorder=0)
        axes.annotate(
            name,
            (0.6, height),
            xycoords=("axes fraction", "data"),
            xytext=(0, -3),
            textcoords="offset points",
            color="0.3",
            fontsize=8.5,
            ha="center",
            va="top",
        )

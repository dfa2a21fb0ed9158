"""Words in pictures: names beside curves instead of legends, and numbers along axes as people write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gyrfalcon.core.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

POINTS_PER_INCH = 72.0


class Label(NamedTuple):
    """A name for a curve that ends at this height."""

    text: str
    height: float
    colour: str


def end_labels(axes: Axes, labels: Sequence[Label], *, size: float = 8.5, height_inches: float) -> None:
    """Write the names to the right of the picture, each near its height, without overlaps.

    The limits and scale of the vertical axis must be set before; `height_inches` is about how high the
    picture is. A thin line leads from a curve's end to a name that had to move.
    """
    apart = 1.25 * size / (POINTS_PER_INCH * height_inches)
    wanted = np.array([_fraction(axes, label.height) for label in labels])
    for label, at, moved in zip(labels, wanted, kept_apart(wanted, apart, 0.0, 1.0), strict=True):
        axes.annotate(
            label.text,
            (1.0, at),
            xytext=(1.05, moved),
            xycoords="axes fraction",
            textcoords="axes fraction",
            color=label.colour,
            fontsize=size,
            va="center",
            arrowprops={
                "arrowstyle": "-",
                "relpos": (0.0, 0.5),
                "color": label.colour,
                "linewidth": 0.6,
                "alpha": 0.7,
                "shrinkA": 1,
                "shrinkB": 1,
            },
            annotation_clip=False,
        )


def kept_apart(heights: Floats, apart: float, low: float = -np.inf, high: float = np.inf) -> Floats:
    """Heights nearest to these within low..high, in the same order, neighbours at least this far apart.

    Heights that are too close share their mean, which is what moves them least. Where there is no room for
    all between the ends, they start at the low one.

    >>> kept_apart(np.array([0.5, 0.5, 0.9]), 0.1).round(3).tolist()
    [0.45, 0.55, 0.9]
    >>> kept_apart(np.array([0.0, 0.0]), 0.1, low=0.0).round(3).tolist()
    [0.0, 0.1]
    """
    order = np.argsort(heights, kind="stable")
    # Without the distances, it is the isotonic regression of heights minus what must lie below each.
    steps = apart * np.arange(len(heights))
    blocks: list[tuple[float, int]] = []
    for height in heights[order] - steps:
        mean, count = float(height), 1
        while blocks and blocks[-1][0] > mean:
            below, n = blocks.pop()
            mean, count = (mean * count + below * n) / (count + n), count + n
        blocks.append((mean, count))
    means = np.repeat([mean for mean, _ in blocks], [count for _, count in blocks])
    moved = np.empty(len(heights))
    moved[order] = np.maximum(np.minimum(means, high - steps[-1]), low) + steps
    return moved


def beside(
    axes: Axes, text: str, point: tuple[float, float], side: str, colour: str, *, size: float = 8.5
) -> None:
    """Write a name above, below, left or right of a point."""
    dx, dy, ha, va = _SIDES[side]
    axes.annotate(
        text,
        point,
        xytext=(dx, dy),
        textcoords="offset points",
        color=colour,
        fontsize=size,
        ha=ha,
        va=va,
        annotation_clip=False,
    )


def shown_name(name: object, most: int = 32) -> str:
    """A name of others for a picture: no formula, and cut in its middle where it is long.

    Names of variants differ at their ends.

    >>> shown_name("Free shipping until Sunday (newsletter variant B)", 30)
    'Free shipping …tter variant B)'
    """
    text = " ".join(str(name).split())
    if len(text) > most:
        half = most // 2
        text = f"{text[: half - 1]}…{text[len(text) - half :]}"
    return text.replace("$", r"\$")


def whole_numbers(axis: Axis) -> None:
    """Write the numbers along an axis in full, with commas, instead of less a common part."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:,.10g}"))


def plain_numbers(axis: Axis, steps: Sequence[float] = (1.0, 2.0, 5.0)) -> None:
    """Write the numbers along a logarithmic axis without powers of ten, at these steps of each decade."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=steps, numticks=20))
    axis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:,.15g}"))
    axis.set_minor_formatter(NullFormatter())


_SIDES = {
    "above": (0, 5, "center", "bottom"),
    "below": (0, -5, "center", "top"),
    "left": (-5, 0, "right", "center"),
    "right": (5, 0, "left", "center"),
    "upper left": (-4, 4, "right", "bottom"),
    "upper right": (4, 4, "left", "bottom"),
    "lower left": (-4, -4, "right", "top"),
    "lower right": (4, -4, "left", "top"),
}


def _fraction(axes: Axes, height: float) -> float:
    """Where a height is on the vertical axis: 0 at the bottom, 1 at the top."""
    low, here, high = axes.transScale.transform(
        [(1.0, axes.get_ylim()[0]), (1.0, height), (1.0, axes.get_ylim()[1])]
    )[:, 1]
    return float((here - low) / (high - low))

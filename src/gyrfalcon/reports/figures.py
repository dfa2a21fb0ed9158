"""Figures: their style, curves with bands and names, and their files, the same bytes each time."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.storage.atomic import write_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# Okabe and Ito's palette, which stays apart under the common colour vision deficiencies.
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
GREY = "0.35"
"""What stands behind the data: references and their names."""

_SETTINGS: Any = {  # the library itself checks the names
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.unicode_minus": False,  # as in texts and tables
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.6,
    "legend.frameon": False,
    "svg.hashsalt": "gyrfalcon",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}


def style() -> AbstractContextManager[None]:
    """The settings that all figures are made and saved under."""
    import matplotlib as mpl

    return mpl.rc_context(_SETTINGS)


def new_figure(width: float = 7.0, height: float = 3.2) -> Figure:
    """An empty figure of that many inches whose parts keep out of each other's way."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


class Band(NamedTuple):
    """A curve and what it may be off by."""

    middle: Floats
    low: Floats
    high: Floats

    @staticmethod
    def of(mean: Floats, standard_error: Floats, *, floor: float = -np.inf) -> Band:
        """Two standard errors either way, but not below a floor, which an axis in logs needs.

        >>> Band.of(np.array([1.0]), np.array([0.25])).low.tolist()
        [0.5]
        """
        reach = 2.0 * standard_error
        return Band(mean, np.maximum(mean - reach, floor), mean + reach)


def regret_curves(
    rounds: Floats, curves: Mapping[str, Band], references: Mapping[str, float], title: str
) -> Figure:
    """Per-round regret over rounds: a line and a band per name, labelled at its end."""
    with style():
        figure = new_figure(7.2, 4.2)
        axes = figure.add_subplot()
        for colour, (name, band) in zip(cycle(COLOURS), curves.items(), strict=False):
            draw_band(axes, rounds, band, colour)
            end_label(axes, name, rounds[-1], band.middle[-1], colour)
        for name, height in references.items():
            draw_reference(axes, name, height)
        axes.set(xscale="log", xlabel="round", ylabel="expected regret per round", title=title)
        axes.set_ylim(bottom=0.0)
        axes.margins(x=0.0)
    return figure


def draw_band(axes: Axes, x: Floats, band: Band, colour: str, **line: Any) -> None:
    """Draw a curve over the band that it may be off by; `line` says how the curve looks."""
    axes.plot(x, band.middle, color=colour, **line)
    axes.fill_between(x, band.low, band.high, color=colour, alpha=0.2, linewidth=0)


def end_label(axes: Axes, name: str, x: float, y: float, colour: str) -> None:
    """Write a name to the right of a point, where its curve ends."""
    axes.annotate(
        name,
        (x, y),
        xytext=(6, 0),
        textcoords="offset points",
        color=colour,
        va="center",
        fontweight="bold",
        annotation_clip=False,
    )


def draw_reference(
    axes: Axes, name: str, height: float, *, at: float = 0.6, above: bool = False, gap: float = 3.0
) -> None:
    """Draw a dashed level with its name under it, or above it, around that fraction of the width.

    `gap` is how many points the name keeps off the level.
    """
    axes.axhline(height, color=GREY, linewidth=0.9, linestyle=(0, (4, 3)), zorder=0)
    axes.annotate(
        name,
        (at, height),
        xycoords=("axes fraction", "data"),
        xytext=(0, gap if above else -gap),
        textcoords="offset points",
        color=GREY,
        fontsize=8.5,
        ha="center",
        va="bottom" if above else "top",
    )


DPI = 200
_MISSING_GLYPH = re.compile("Glyph .* missing from")

# Without the date and the version of the drawing library, which would change the bytes and say nothing.
_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}


def pictures(figure: Figure) -> dict[str, bytes]:
    """The figure's files by their endings: svg, pdf and png."""
    with style():
        figure.draw_without_rendering()
    figure.set_layout_engine("none")  # its parts have their places now: no need to look for them thrice
    return {kind: picture(figure, kind) for kind in _METADATA}


def picture(figure: Figure, kind: str) -> bytes:
    """The content of one file: svg, pdf or png.

    Names may hold any character. Where our font lacks one, an SVG file leaves its text to the fonts of who
    looks at it; in other files the character is a box.
    """
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        content = _saved(figure, kind)
    missing = [one for one in warned if _MISSING_GLYPH.search(str(one.message))]
    for one in warned:
        if one not in missing:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    if not missing or kind != "svg":
        return content
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _MISSING_GLYPH.pattern, UserWarning)
        return _saved(figure, kind, "none")


def _saved(figure: Figure, kind: str, font: Any = "path") -> bytes:
    import matplotlib as mpl

    buffer = io.BytesIO()
    with style(), mpl.rc_context({"svg.fonttype": font}):
        figure.savefig(buffer, format=kind, dpi=DPI, metadata=_METADATA[kind])
    return buffer.getvalue()


def save_pictures(folder: Path, stem: str, files: Mapping[str, bytes]) -> None:
    """Write each file whole under folder/stem.ending."""
    for kind, content in files.items():
        write_atomically(folder / f"{stem}.{kind}", content)

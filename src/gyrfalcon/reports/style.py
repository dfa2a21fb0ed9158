"""How figures look: readable at column width, safe for colour-blind readers."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

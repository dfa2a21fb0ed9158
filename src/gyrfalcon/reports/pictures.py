"""A figure as files: vectors and pixels, the same bytes each time."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gyrfalcon.reports.figures import style
from gyrfalcon.storage.atomic import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 200

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
    """The content of one file: svg, pdf or png."""
    buffer = io.BytesIO()
    with style():
        figure.savefig(buffer, format=kind, dpi=DPI, metadata=_METADATA[kind])
    return buffer.getvalue()


def save_pictures(folder: Path, stem: str, files: Mapping[str, bytes]) -> None:
    """Write each file whole under folder/stem.ending."""
    for kind, content in files.items():
        write_atomically(folder / f"{stem}.{kind}", content)

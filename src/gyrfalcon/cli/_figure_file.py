"""The option --figure: a picture in a file whose ending says its kind."""

from __future__ import annotations

from pathlib import Path

from gyrfalcon.cli._output import note
from gyrfalcon.cli._parsing import check_file_place

KINDS = ("svg", "png", "pdf")


def figure_kind(path: Path | None) -> str:
    """The kind that the ending of a name says, before anything is computed; svg where there is none.

    Raises
    ------
    ValueError
        If the name has another ending, or its folder does not exist.
    """
    check_file_place("--figure", path)
    kind = "svg" if path is None else path.suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise ValueError(f"--figure is {str(path)!r}; give a name that ends in .svg, .png or .pdf.")
    return kind


def write_figure(path: Path, content: bytes, what: str) -> None:
    """Write the picture whole, and say where it is."""
    from gyrfalcon.storage.atomic import write_atomically

    write_atomically(path, content)
    note(f"The {what} is in {path}.")

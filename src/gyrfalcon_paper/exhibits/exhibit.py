"""What an exhibit is: work that can be shared out, its tables, and the figure drawn from them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeAlias

from gyrfalcon.reports.figures import new_figure, pictures, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Columns: TypeAlias = dict[str, list[float | int | str]]
"""A table behind a figure: one list per column, all of the same length."""

Tables: TypeAlias = dict[str, Columns]
"""The tables of an exhibit by name."""

Piece: TypeAlias = Callable[[], Any]
"""A share of the work: takes nothing, can be pickled, and draws all its randomness from seeds of its own."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is computed: all of it, or as much as shows that it works.

    Examples
    --------
    >>> Effort(quick=True).of(full=100, quick=4), Effort(quick=False).of(full=100, quick=4)
    (4, 100)
    """

    quick: bool

    def of(self, *, full: int, quick: int) -> int:
        """Return the count that this effort affords."""
        return quick if self.quick else full


@cache
def _texts() -> dict[str, dict[str, str]]:
    return tomllib.loads((files(__package__) / "exhibits.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A figure of the companion page, with its work and the data behind it.

    Parameters
    ----------
    key
        Its entry in exhibits.toml, and the stem of its files: ``figures/KEY.svg``, ``.pdf`` and ``.png``, and
        ``data/KEY-TABLE.csv``.
    work
        The independent pieces of its computation: partials of top-level functions, since they go to worker
        processes. Each draws from fixed seeds of its own, so that results don't depend on who runs them.
    tables
        From the results of the pieces, in the order of ``work``, to the data behind the figure.
    draw
        Draws on an empty figure from the tables alone.
    printed
        Name of the table that the page prints below the figure.
    """

    key: str
    work: Callable[[Effort], list[Piece]]
    tables: Callable[[list[Any]], Tables]
    draw: Callable[[Figure, Tables], None]
    printed: str

    @property
    def title(self) -> str:
        """Heading of its section."""
        return _texts()[self.key]["title"]

    @property
    def text(self) -> str:
        """What the exhibit computes, in a few sentences."""
        return _texts()[self.key]["text"]

    @property
    def caption(self) -> str:
        """What the figure shows, below it."""
        return _texts()[self.key]["caption"]


@dataclass(frozen=True, slots=True)
class RenderedExhibit:
    """What there is to see of an exhibit."""

    exhibit: Exhibit
    tables: Tables
    pictures: dict[str, bytes]
    """Files' contents by their endings."""

    @property
    def printed(self) -> Columns:
        """The table that the page prints."""
        return self.tables[self.exhibit.printed]

    @property
    def data(self) -> dict[str, str]:
        """Where each table is, from the page's folder."""
        stem = f"data/{self.exhibit.key}"
        return {name: f"{stem}-{re.sub(r'[^a-z0-9]+', '-', name.lower())}.csv" for name in self.tables}

    @property
    def figures(self) -> dict[str, str]:
        """Where each picture is, from the page's folder."""
        return {kind: f"figures/{self.exhibit.key}.{kind}" for kind in self.pictures}


def rendered(exhibit: Exhibit, results: list[Any]) -> RenderedExhibit:
    """The exhibit's tables and pictures."""
    tables = exhibit.tables(results)
    with style():
        figure = new_figure()
        exhibit.draw(figure, tables)
    return RenderedExhibit(exhibit, tables, pictures(figure))

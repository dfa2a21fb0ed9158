"""What an exhibit is: work that can be shared out, its tables, and the figure and words about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

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


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A figure of the companion page, from its work to its words.

    Parameters
    ----------
    key
        Stem of its files: ``figures/KEY.svg``, ``.pdf`` and ``.png``, and ``data/KEY-TABLE.csv``.
    title
        Heading of its section.
    work
        The independent pieces of its computation: partials of top-level functions, since they go to worker
        processes. Each draws from fixed seeds of its own, so that results don't depend on who runs them.
    tables
        From the results of the pieces, in the order of ``work``, to the data behind figure and prose.
    draw
        Draws on an empty figure from the tables alone.
    prose
        Paragraphs from the tables. They may hold ``<i>``, ``<sub>``, ``<sup>``, ``<b>`` and ``<code>``.
    caption
        What the figure shows, from the tables; may hold the same marks.
    """

    key: str
    title: str
    work: Callable[[Effort], list[Piece]]
    tables: Callable[[list[Any]], Tables]
    draw: Callable[[Figure, Tables], None]
    prose: Callable[[Tables], list[str]]
    caption: Callable[[Tables], str]

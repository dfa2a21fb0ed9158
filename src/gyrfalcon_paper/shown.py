"""An exhibit after its work: tables and pictures, and where their files are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from gyrfalcon.reports.pictures import pictures
from gyrfalcon.reports.style import new_figure, style
from gyrfalcon_paper.exhibits.exhibit import Columns, Exhibit, Tables


@dataclass(frozen=True, slots=True)
class Shown:
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


def rendered(exhibit: Exhibit, results: list[Any]) -> Shown:
    """The exhibit's tables and pictures."""
    tables = exhibit.tables(results)
    with style():
        figure = new_figure()
        exhibit.draw(figure, tables)
    return Shown(exhibit, tables, pictures(figure))

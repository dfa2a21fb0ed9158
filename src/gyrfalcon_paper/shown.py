"""An exhibit after its work: tables, pictures and words, and where their files are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from gyrfalcon.reports.pictures import pictures
from gyrfalcon.reports.style import new_figure, style
from gyrfalcon_paper.exhibits.exhibit import Exhibit, Tables


@dataclass(frozen=True, slots=True)
class Shown:
    """What there is to see of an exhibit."""

    key: str
    title: str
    tables: Tables
    pictures: dict[str, bytes]
    """Files' contents by their endings."""
    prose: list[str]
    caption: str

    @property
    def data(self) -> dict[str, str]:
        """Where each table is, from the page's folder."""
        return {
            name: f"data/{self.key}-{re.sub(r'[^a-z0-9]+', '-', name.lower())}.csv" for name in self.tables
        }

    @property
    def figures(self) -> dict[str, str]:
        """Where each picture is, from the page's folder."""
        return {kind: f"figures/{self.key}.{kind}" for kind in self.pictures}


def rendered(exhibit: Exhibit, results: list[Any]) -> Shown:
    """The exhibit's tables, pictures and words."""
    tables = exhibit.tables(results)
    with style():
        figure = new_figure()
        exhibit.draw(figure, tables)
    return Shown(
        exhibit.key, exhibit.title, tables, pictures(figure), exhibit.prose(tables), exhibit.caption(tables)
    )

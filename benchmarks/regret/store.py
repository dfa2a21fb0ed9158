"""Results on disk: a whole file per cell or none, so that a run that is killed can be taken up again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from benchmarks.regret.cells import Cell, Result, code_of
from gyrfalcon.storage.whole import remove_leftovers, write_whole

_NAMES = {field.name for field in fields(Result)}


@dataclass(frozen=True, slots=True)
class Store:
    """A folder with a JSON file per cell."""

    folder: Path

    def prepare(self) -> None:
        """Make the folder, and remove what killed writers left."""
        self.folder.mkdir(parents=True, exist_ok=True)
        remove_leftovers(self.folder)

    def keep(self, cell: Cell, result: Result) -> None:
        """Write the result in one step."""
        write_whole(self._path(cell), result.document())

    def result(self, cell: Cell) -> Result | None:
        """What is stored of a cell; None if nothing is, or what is there is damaged or of another version.

        A version that is not installed here can't be made again, and counts.
        """
        try:
            document = json.loads(self._path(cell).read_bytes())
        except (OSError, ValueError):
            return None
        if not isinstance(document, dict) or set(document) != _NAMES:
            return None
        # A contestant that was renamed keeps its results.
        result = Result(**{**document, "contestant": cell.contestant.name})
        installed = cell.contestant.version
        return result if installed in (None, result.version) else None

    def _path(self, cell: Cell) -> Path:
        return self.folder / f"{cell.key}.json"


def outdated(cells: Sequence[tuple[Cell, Result]]) -> list[str]:
    """Contestants some of whose results were made by other code than there is now."""
    names = [
        cell.contestant.name
        for cell, result in cells
        if result.code != code_of(type(cell.contestant.player).__module__)
    ]
    return list(dict.fromkeys(names))

"""Results on disk: a whole file per cell or none, so that a run that is killed can be taken up again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from benchmarks.regret.cells import Cell, Result, code_of
from benchmarks.regret.contestants import Contestant
from benchmarks.regret.environments import PLACES
from gyrfalcon.storage.atomic import remove_leftovers, write_atomically

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
        write_atomically(self._path(cell), result.document())

    def result(self, cell: Cell) -> Result | None:
        """What is stored of a cell; None if nothing is, or what is there is damaged or of another version.

        A version that is not installed here can't be made again, and counts.
        """
        found = _read(self._path(cell))
        return None if found is None else _of(cell.contestant, found)

    @property
    def n_files(self) -> int:
        """How many cells there are, of whomever."""
        return len(list(self.folder.glob("*.json")))

    def results(self, contestants: Sequence[Contestant]) -> list[tuple[Cell, Result]]:
        """All that is stored of these contestants as they are now, under whatever seeds and rounds."""
        players = {repr(one.player): one for one in contestants}
        places = {place.content: place for place in PLACES.values()}
        kept = []
        for found in filter(None, map(_read, sorted(self.folder.glob("*.json")))):
            contestant, place = players.get(found.player), places.get(found.content)
            result = None if contestant is None else _of(contestant, found)
            if contestant is not None and place is not None and result is not None:
                kept.append((Cell(contestant, place, found.n_rounds, found.seed), result))
        return kept

    def _path(self, cell: Cell) -> Path:
        return self.folder / f"{cell.key}.json"


def _read(path: Path) -> Result | None:
    """The file's content, if it is whole."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    is_whole = isinstance(document, dict) and set(document) == _NAMES
    return Result(**document) if is_whole else None


def _of(contestant: Contestant, found: Result) -> Result | None:
    """The result as this contestant's, who may have been renamed; None if it is of another version."""
    return replace(found, contestant=contestant.name) if contestant.version in (None, found.version) else None


def outdated(cells: Sequence[tuple[Cell, Result]]) -> list[str]:
    """Contestants some of whose results were made by other code than there is now."""
    names = [
        cell.contestant.name
        for cell, result in cells
        if result.code != code_of(type(cell.contestant.player).__module__)
    ]
    return list(dict.fromkeys(names))

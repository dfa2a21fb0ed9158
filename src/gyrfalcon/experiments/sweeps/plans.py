"""What of a grid is stored in a folder of results, and what is left to compute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gyrfalcon import __version__
from gyrfalcon.experiments.sweeps.cell_files import StoredCell
from gyrfalcon.experiments.sweeps.grid import Cell, Grid
from gyrfalcon.experiments.sweeps.results import SetAside, Store


@dataclass(frozen=True)
class Plan:
    """The cells to reuse and those to compute; together they hold each replication of the grid once."""

    reused: tuple[StoredCell, ...]
    missing: tuple[Cell, ...]
    set_aside: tuple[SetAside, ...]
    left_alone: tuple[Path, ...]

    @property
    def n_cells(self) -> int:
        """Reused and missing."""
        return len(self.reused) + len(self.missing)

    def files(self, store: Store) -> tuple[Path, ...]:
        """Where the results are when nothing is missing any more, those of a series one after the other."""
        cells: list[StoredCell | Cell] = [*self.reused, *self.missing]
        places = {series: place for place, series in enumerate(dict.fromkeys(cell.series for cell in cells))}
        cells.sort(key=lambda cell: (places[cell.series], cell.replications.start))
        return tuple(store.path(cell.key) for cell in cells)


def plan(grid: Grid, store: Store) -> Plan:
    """What is stored of a grid and what is not.

    A grid with more replications than an earlier one needs only the new ones. What another version of
    gyrfalcon has computed of this grid may differ, so it is set aside: no learner's runs are of two versions.
    Results of other grids in the folder are left as they are, with their version in each row.
    """
    inventory = store.inventory()
    aside = list(inventory.set_aside)
    stored = {
        series: tuple(_of_this_version(inventory.cells.get(series, ()), store, aside))
        for series in dict.fromkeys(cell.series for cell in grid.cells)
    }
    reused = [
        one for cells in stored.values() for one in cells if one.first_replication < grid.n_replications
    ]
    missing = [
        part
        for cell in grid.cells
        for part in cell.without([one.replications for one in stored[cell.series]])
    ]
    return Plan(tuple(reused), tuple(missing), tuple(aside), inventory.left_alone)


def _of_this_version(
    cells: Sequence[StoredCell], store: Store, aside: list[SetAside]
) -> Iterator[StoredCell]:
    for cell in cells:
        if cell.version == __version__:
            yield cell
            continue
        reason = f"it was computed by gyrfalcon {cell.version}, and this is {__version__}."
        note = store.set_aside(store.path(cell.key), reason)
        aside.extend([note] if note else [])

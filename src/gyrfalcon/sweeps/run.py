"""Sweeps: every cell of a grid computed once, stored as soon as it is finished, resumed after anything."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from gyrfalcon import __version__
from gyrfalcon.core.validation import check_whole
from gyrfalcon.sweeps.errors import CellsFailedError, StorageError, SweepError
from gyrfalcon.sweeps.grid import Cell, Grid
from gyrfalcon.sweeps.store import SetAside, Store, StoredCell
from gyrfalcon.sweeps.workers import outcomes

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Plan:
    """The cells to reuse and those to compute; together they hold each replication of the grid once."""

    reused: tuple[StoredCell, ...]
    missing: tuple[Cell, ...]
    set_aside: tuple[SetAside, ...]
    left_alone: tuple[Path, ...]

    @property
    def n_cells(self) -> int:
        """Number of cells, reused and missing."""
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


OnCell = Callable[[Cell, int, int], object]
_SHOWN = 5


@dataclass(frozen=True)
class Sweep:
    """Results of a finished sweep, and what had to be computed for them.

    Attributes
    ----------
    grid : Grid
        The grid.
    folder : Path
        Folder of the results.
    files : tuple[Path, ...]
        Files with this grid's results; the folder may hold those of other grids, too.
    n_reused : int
        Number of cells that were stored before.
    n_computed : int
        Number of cells that were computed.
    set_aside : tuple[SetAside, ...]
        Damaged or foreign files that were set aside.
    left_alone : tuple[Path, ...], default ()
        Other entries of the folder, which readers of a complete folder may fail on.
    """

    grid: Grid
    folder: Path
    files: tuple[Path, ...]
    n_reused: int
    n_computed: int
    set_aside: tuple[SetAside, ...]
    left_alone: tuple[Path, ...] = ()

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells of the grid."""
        return self.grid.cells

    def table(self) -> pa.Table:
        """Results of this grid alone, a row for each replication and checkpoint."""
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        tables = [pq.ParquetFile(file).read().replace_schema_metadata() for file in self.files]
        whole = pa.concat_tables(tables).unify_dictionaries()
        # An earlier sweep of the same learners may have had more replications.
        return whole.filter(pc.field("replication") < self.grid.n_replications)


def run_sweep(
    grid: Grid,
    folder: str | os.PathLike[str],
    *,
    jobs: int = 1,
    cluster: str | None = None,
    on_cell: OnCell | None = None,
) -> Sweep:
    """Compute the results of a grid in a folder; stored cells are not computed again.

    After a kill, a full disk or Ctrl-C the same call goes on where it stopped: at most the cells that were
    being computed are lost. A damaged or foreign Parquet file is set aside and its cell computed anew.

    Parameters
    ----------
    grid : Grid
        The grid to compute.
    folder : str or path
        Folder of the results, one Parquet data set; see `gyrfalcon.sweeps.store`.
    jobs : int, default 1
        Number of worker processes; -1 for one per core.
    cluster : str, optional
        Address of a Dask scheduler, such as "tcp://127.0.0.1:8786", to compute there instead.
    on_cell : callable, optional
        Callback with each cell that was just stored, how many are stored, and how many there will be.

    Raises
    ------
    CellsFailedError
        If learners or environments could not play some cells; all others are stored.
    StorageError, WorkersError
        If the disk is full, or workers die: the message says what is stored.

    Examples
    --------
    >>> import tempfile
    >>> grid = Grid(["Uniform", "LinUCB"], ["StepExample"], n_rounds=200, n_replications=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first, again = run_sweep(grid, folder), run_sweep(grid, folder)
    >>> (first.n_computed, first.n_reused), (again.n_computed, again.n_reused)
    ((2, 0), (0, 2))
    """
    _check(grid, jobs, cluster)
    store, todo = _opened(grid, folder)
    _Running(store, todo, on_cell).compute(jobs, cluster)
    counts = len(todo.reused), len(todo.missing)
    return Sweep(grid, store.folder, todo.files(store), *counts, todo.set_aside, todo.left_alone)


class _Running:
    """A sweep under way: how many of its cells are stored."""

    def __init__(self, store: Store, todo: Plan, on_cell: OnCell | None) -> None:
        self._store, self._plan, self._on_cell = store, todo, on_cell
        self._n_stored = len(todo.reused)

    def compute(self, jobs: int, cluster: str | None) -> None:
        """Store all that is missing; what can't be computed does not keep the rest from it."""
        failures = []
        try:
            with closing(outcomes(self._plan.missing, jobs, cluster)) as running:
                for outcome in running:
                    if outcome.failure:
                        failures.append(outcome.failure)
                    else:
                        self._keep(self._plan.missing[outcome.number], outcome.content)
        except SweepError as error:
            raise type(error)(f"{error} {self._standing}") from error
        if failures:
            raise CellsFailedError(f"{_counted(failures)} {self._standing}", tuple(failures))

    def _keep(self, cell: Cell, content: bytes) -> None:
        try:
            self._store.put(cell.key, content)
        except OSError as error:
            raise StorageError(f"{cell} could not be stored: {_reason(error)}.") from error
        self._n_stored += 1
        if self._on_cell is not None:
            self._on_cell(cell, self._n_stored, self._plan.n_cells)

    @property
    def _standing(self) -> str:
        return (
            f"{self._n_stored} of {self._plan.n_cells} cells are stored and safe in {self._store.folder}; "
            "run the same sweep again to compute the rest."
        )


def _check(grid: object, jobs: int, cluster: str | None) -> None:
    if not isinstance(grid, Grid):
        raise ValueError(f"grid is {grid!r}; give a Grid, or Grid.from_toml(path).")  # noqa: TRY004 - as all settings
    if jobs != -1:
        check_whole("jobs", jobs)
    if cluster is not None and jobs != 1:
        raise ValueError(f"jobs is {jobs} and cluster is {cluster!r}; give one of the two.")
    for library in ("pyarrow", "threadpoolctl"):
        _check_installed(library, "cli")
    if cluster is not None:
        _check_installed("distributed", "cluster")
    elif jobs != 1:
        _check_installed("joblib", "cli")


def _check_installed(library: str, extra: str) -> None:
    if find_spec(library) is None:
        raise ImportError(f'this sweep needs {library}; install it: pip install "gyrfalcon[{extra}]".')


def _opened(grid: Grid, folder: str | os.PathLike[str]) -> tuple[Store, Plan]:
    try:
        store = Store(folder)
        return store, plan(grid, store)
    except OSError as error:
        place = os.fspath(folder)
        raise StorageError(
            f"{place} can't be used for results: {_reason(error)}; correct that, or give another folder."
        ) from error


def _reason(error: OSError) -> str:
    return f"{error.strerror or error} ({error.filename})" if error.filename else str(error.strerror or error)


def _counted(failures: list[str]) -> str:
    more = f" And {len(failures) - _SHOWN} more." if len(failures) > _SHOWN else ""
    count = "1 cell has" if len(failures) == 1 else f"{len(failures)} cells have"
    return f"{count} no results. {' '.join(failures[:_SHOWN])}{more}"

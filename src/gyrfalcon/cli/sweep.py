"""`gyrfalcon sweep`: a grid of learners, environments and seeds from a file, on all cores or a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gyrfalcon.cli._errors import FAILURE, INTERRUPTED, Stopped
from gyrfalcon.cli._output import AsJson, counted, note, print_json, print_table, with_error
from gyrfalcon.cli._parsing import whole
from gyrfalcon.cli._progress import Tracker, progress

if TYPE_CHECKING:
    from gyrfalcon.cli._sweep_results import Result
    from gyrfalcon.sweeps.grid import Cell, Grid
    from gyrfalcon.sweeps.run import Sweep

EXAMPLES = """\
gyrfalcon sweep grid.toml --out results
gyrfalcon sweep grid.toml --out results --jobs 2 --json
gyrfalcon sweep grid.toml --out results --cluster tcp://127.0.0.1:8786
"""


def sweep(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="TOML file with the grid.", show_default=False)
    ],
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", help="Folder of results; cells stored there are not computed again."),
    ],
    jobs: Annotated[
        int | None,
        typer.Option(
            parser=whole, metavar="N", help="Number of worker processes.", show_default="one per core"
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Address of a Dask scheduler to compute on instead.", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a grid of learners, environments and seeds; resumable.

    The file has n_rounds, n_replications and seeds, and a [[learners]] or [[environments]] table for each of
    them, with its name and settings; a list of values is a choice among them. Results are one Parquet data
    set. Stopped at any moment, the same command goes on where it was.
    """
    from gyrfalcon.sweeps.grid import Grid

    grid = Grid.from_toml(file)
    done = _run(grid, out, _jobs(jobs, cluster, len(grid.cells)), cluster)
    for aside in done.set_aside:
        note(f"Set aside: {aside}")
    if done.left_alone:
        note(_left_alone(done))
    _report(done, as_json=as_json)


def _left_alone(done: Sweep) -> str:
    names = ", ".join(path.name for path in done.left_alone)
    return (
        f"Left alone in {done.folder}, being no results: {names}. "
        f"Readers of a whole folder may stumble over that; let them read {done.folder / '*.parquet'}."
    )


def _jobs(jobs: int | None, cluster: str | None, n_cells: int) -> int:
    if jobs is not None:
        return jobs
    return 1 if cluster is not None or n_cells == 1 else -1


def _run(grid: Grid, out: Path, jobs: int, cluster: str | None) -> Sweep:
    from gyrfalcon.sweeps.errors import SweepError
    from gyrfalcon.sweeps.run import run_sweep
    from gyrfalcon.sweeps.workers import ANSWER, PATIENCE

    if cluster is not None:
        note(
            f"Waiting for the Dask cluster at {cluster}: {ANSWER} s for an answer, {PATIENCE} s for a worker."
        )
    with progress("Sweep", len(grid.cells), "cells") as tracker:
        watch = _Watch(tracker)
        try:
            return run_sweep(grid, out, jobs=jobs, cluster=cluster, on_cell=watch.on_cell)
        except SweepError as error:
            raise Stopped(str(error), FAILURE) from error
        except KeyboardInterrupt:
            raise Stopped(watch.standing(grid, out), INTERRUPTED) from None


class _Watch:
    """Counts the stored cells of a running sweep, for its progress and for an interruption."""

    def __init__(self, tracker: Tracker) -> None:
        self._tracker = tracker
        self._stored: tuple[int, int] | None = None

    def on_cell(self, cell: Cell, n_stored: int, n_cells: int) -> None:
        """Callback for every finished cell."""
        del cell
        if self._stored is None:  # what was there before is no measure of how long a cell takes
            self._tracker.resize(n_cells - n_stored + 1)
        self._stored = n_stored, n_cells
        self._tracker.advance(1)

    def standing(self, grid: Grid, out: Path) -> str:
        """A sentence on what is stored if the sweep stops here."""
        n_reported, n_cells = self._stored or (0, len(grid.cells))
        # The last file may have been stored without a report, or all of them before the first one.
        stored = f"{max(n_reported, _files(grid, out))} of {n_cells} cells are stored in {out}"
        return f"stopped; {stored}; run the same command again to go on."


def _files(grid: Grid, out: Path) -> int:
    return sum((out / f"{cell.key}.parquet").is_file() for cell in grid.cells)


def _report(done: Sweep, *, as_json: bool) -> None:
    from gyrfalcon.cli._sweep_results import late_start, results

    found = results(done)
    if as_json:
        print_json(
            {
                "folder": str(done.folder),
                "cells_computed": done.n_computed,
                "cells_reused": done.n_reused,
                "set_aside": [str(aside) for aside in done.set_aside],
                "left_alone": [str(path) for path in done.left_alone],
                "late_from_round": late_start(done.grid) + 1,
                "results": [result.numbers() for result in found],
            }
        )
        return
    _print(done.grid, found)
    typer.echo(f"Late rounds are those from {late_start(done.grid) + 1:,} on.")
    typer.echo(_counts(done))
    typer.echo(f"Results: {done.folder}")


def _counts(done: Sweep) -> str:
    cells = counted(done.n_computed + done.n_reused, "cell")
    aside = counted(len(done.set_aside), "file")
    return f"{cells}: {done.n_computed} computed, {done.n_reused} reused; {aside} set aside."


def _print(grid: Grid, found: list[Result]) -> None:
    for environment in dict.fromkeys(result.environment for result in found):
        here = [result for result in found if result.environment == environment]
        size = f"{grid.n_rounds:,} rounds, {counted(here[0].n_runs, 'run')}"
        rows = [
            [
                result.learner,
                with_error(result.regret, 1),
                with_error(result.late_regret, 4),
                with_error(result.reward, 4),
            ]
            for result in here
        ]
        columns = ["learner", "regret", "late, per round", "reward per round"]
        print_table(f"{environment}: expected regret (standard error), {size}", columns, rows)

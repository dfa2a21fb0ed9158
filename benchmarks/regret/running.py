"""Playing what is not stored yet, on several cores, with the time left."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from benchmarks.regret.cells import Cell, Failure, Result
from benchmarks.regret.costs import expected_seconds
from benchmarks.regret.store import Store
from gyrfalcon.cli._progress import progress
from gyrfalcon.sweeps.processes import completed


def play_missing(cells: Sequence[Cell], store: Store, jobs: int) -> list[Failure]:
    """Play the cells and store each result as soon as it is there; those that failed come back."""
    failures: list[Failure] = []
    expected = list(map(expected_seconds, cells))
    work = (cell.computed for cell in cells)
    with (
        progress("Regret", sum(expected), "expected seconds") as tracker,
        closing(completed(work, jobs)) as running,
    ):
        for number, outcome in running:
            if isinstance(outcome, Failure):
                failures.append(outcome)
            else:
                store.keep(cells[number], outcome)
            tracker.advance(expected[number])
    return failures


def stored(cells: Sequence[Cell], store: Store) -> list[tuple[Cell, Result]]:
    """The cells that are stored, with what they gave."""
    found = ((cell, store.result(cell)) for cell in cells)
    return [(cell, result) for cell, result in found if result is not None]

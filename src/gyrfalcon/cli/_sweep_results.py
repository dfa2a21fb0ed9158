"""Results of a sweep: one line per learner and environment, read from its files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.simulation.trace import Summary, checkpoint_rounds
from gyrfalcon.simulation.trace import late_start as late_start_of
from gyrfalcon.sweeps.grid import Grid
from gyrfalcon.sweeps.run import Sweep

_COLUMNS = ["learner_settings", "environment_settings", "seed", "replication", "round", "regret", "reward"]
_Runs = dict[tuple[int, int], dict[int, tuple[float, float]]]  # (seed, replication) -> round -> sums


@dataclass(frozen=True, slots=True)
class Result:
    """A learner in an environment, over all seeds and replications."""

    environment: str
    learner: str
    n_runs: int
    regret: Summary
    late_regret: Summary  # per round
    reward: Summary  # per round

    def numbers(self) -> dict[str, Any]:
        """The result as plain data."""
        return asdict(self)


def results(sweep: Sweep) -> list[Result]:
    """A result for each environment and learner, in the grid's order."""
    grid, late = sweep.grid, late_start(sweep.grid)
    runs = _read(sweep.files, grid, late)
    return [
        _result(environment.label, learner.label, runs[learner.settings, environment.settings], grid, late)
        for environment in grid.environments
        for learner in grid.learners
    ]


def late_start(grid: Grid) -> int:
    """How many rounds come before the last fifth, as near as checkpoints allow."""
    return late_start_of(checkpoint_rounds(grid.checkpoints, grid.n_rounds))


def _result(environment: str, learner: str, runs: _Runs, grid: Grid, late: int) -> Result:
    n_rounds = grid.n_rounds
    # In one order, whichever files were there first: the last digit of a mean depends on it.
    ordered = [sums for _, sums in sorted(runs.items())]
    end = np.array([sums[n_rounds] for sums in ordered])
    before = np.array([sums.get(late, (0.0, 0.0)) for sums in ordered])
    late_regret: Floats = (end[:, 0] - before[:, 0]) / (n_rounds - late)
    return Result(
        environment,
        learner,
        len(runs),
        Summary.of(end[:, 0]),
        Summary.of(late_regret),
        Summary.of(end[:, 1] / n_rounds),
    )


def _read(files: tuple[Path, ...], grid: Grid, late: int) -> dict[tuple[str, str], _Runs]:
    """The sums of every run at the two rounds that matter: the files may be larger than memory."""
    found: dict[tuple[str, str], _Runs] = {}
    for learner, environment, seed, replication, after, regret, reward in _rows(files, grid, late):
        runs = found.setdefault((learner, environment), {})
        runs.setdefault((seed, replication), {})[after] = (regret, reward)
    return found


def _rows(files: tuple[Path, ...], grid: Grid, late: int) -> Iterator[tuple[Any, ...]]:
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    for file in files:
        table = pq.ParquetFile(file).read(columns=_COLUMNS)
        wanted = pc.field("round").isin([late, grid.n_rounds]) & (
            pc.field("replication") < grid.n_replications
        )
        rows = table.filter(wanted).to_pydict()
        yield from zip(*(rows[name] for name in _COLUMNS), strict=True)

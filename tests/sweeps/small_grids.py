"""Small grids that the tests of sweeps share, and what their folders hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from gyrfalcon.sweeps.grid import Grid


def small_grid(**changes: Any) -> Grid:
    """Two learners, two environments: four cells that take moments."""
    settings = {
        "learners": [{"name": "EpsilonFalcon"}, {"name": "LinUCB", "alpha": 0.3}],
        "environments": ["StepExample", {"name": "XorEnvironment", "misspecification": 0.5}],
        "n_rounds": 300,
        "n_replications": 2,
        "checkpoints": [100, 200],
        **changes,
    }
    return Grid(**settings)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def rows_of(folder: Path) -> Any:
    """The data set of a folder as a frame, in an order of its own."""
    frame = pq.read_table(folder).to_pandas()
    texts = frame.select_dtypes("category").columns
    frame[texts] = frame[texts].astype(str)
    by = ["learner", "environment", "n_rounds", "seed", "replication", "round"]
    return frame.sort_values(by).reset_index(drop=True)

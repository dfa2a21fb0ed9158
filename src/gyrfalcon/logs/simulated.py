"""Which files of a folder are logs of simulations, and of which replications."""

from __future__ import annotations

from pathlib import Path

from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.logs.parquet.files import opened, schema_of
from gyrfalcon.logs.parquet.schema import SimulatedRows


def simulated_files(folder: Path) -> dict[Path, SimulatedRows]:
    """The files of simulations in a folder, in the order in which they were opened."""
    paths = sorted(folder.glob("*.parquet"))
    files = {path: schema_of(opened(path), path).simulated for path in paths}
    return {path: about for path, about in files.items() if about is not None}


def check_not_there(folder: Path, about: SimulatedRows) -> None:
    """Refuse replications that a folder has already: their rows would count twice."""
    for known in simulated_files(folder).values():
        shared = range(max(known.first, about.first), min(known.stop, about.stop))
        if known.experiment == about.experiment and shared:
            raise ValueError(
                f"{folder} has replication {shared.start} of the experiment {short_repr(known.experiment)} "
                "already; give another folder, or another name as keep_log=LogFolder(..., experiment=...)."
            )

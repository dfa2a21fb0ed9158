"""The results of one cell as a table in long format: a row for each replication and checkpoint.

Each row also says which epoch played the checkpoint's round, and how that was fitted: there is one table to
read, not two to join. Where an epoch was not fitted, as the first one never is, these are missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrfalcon import __version__
from gyrfalcon.core.arrays import Ints
from gyrfalcon.simulation.trace import SUMS, PlayedEpoch, Trace
from gyrfalcon.sweeps.grid import Cell

if TYPE_CHECKING:
    import pyarrow as pa

_COLUMNS = {
    "learner": "text",
    "environment": "text",
    "n_rounds": "int64",
    "seed": "int64",
    "replication": "int64",
    "round": "int64",
    "regret": "float64",
    "regret_per_round": "float64",
    "reward": "float64",
    "reward_per_round": "float64",
    "propensity": "float64",
    "least_propensity": "float64",
    "epoch": "int64",
    "epoch_start": "int64",
    "epoch_stop": "int64",
    "n_active": "float64",
    "n_passive": "float64",
    "gamma": "float64",
    "alpha": "float64",
    "slack": "float64",
    "excess": "float64",
    "multiplier": "float64",
    "binding": "bool",
    "n_regressions": "int64",
    "condition": "float64",
    "accurate": "bool",
    "notes": "text",
    "details": "text",
    "learner_settings": "text",
    "environment_settings": "text",
    "version": "text",
    "cell": "text",
}
_REPORT = tuple(_COLUMNS)[tuple(_COLUMNS).index("n_active") : tuple(_COLUMNS).index("notes")]


def schema() -> pa.Schema:
    """The columns of every file; texts that repeat are dictionaries, which pandas reads as categories."""
    import pyarrow as pa

    kinds = {
        "text": pa.dictionary(pa.int32(), pa.string()),
        "int64": pa.int64(),
        "float64": pa.float64(),
        "bool": pa.bool_(),
    }
    return pa.schema([(name, kinds[kind]) for name, kind in _COLUMNS.items()])


def table_of(cell: Cell, trace: Trace) -> pa.Table:
    """The results of a cell."""
    import pyarrow as pa

    columns = {**_cell_columns(cell, trace), **_trace_columns(cell, trace), **_epoch_columns(trace)}
    return pa.table([columns[name] for name in _COLUMNS], schema=schema())


def _cell_columns(cell: Cell, trace: Trace) -> dict[str, pa.Array]:
    """Columns that are constant in a cell: learner, environment and their settings."""
    same = {
        "learner": cell.learner.label,
        "environment": cell.environment.label,
        "n_rounds": cell.n_rounds,
        "seed": cell.seed,
        "learner_settings": cell.learner.settings,
        "environment_settings": cell.environment.settings,
        "version": __version__,
        "cell": cell.key,
    }
    everywhere = np.zeros(trace.regret.size, dtype=np.int32)
    return {name: _column(name, [value]).take(everywhere) for name, value in same.items()}


def _trace_columns(cell: Cell, trace: Trace) -> dict[str, pa.Array]:
    n_replications, n_checkpoints = trace.regret.shape
    return {
        "replication": _column("replication", np.repeat(np.array(cell.replications), n_checkpoints)),
        "round": _column("round", np.tile(trace.checkpoints, n_replications)),
        **{name: _column(name, getattr(trace, name).ravel()) for name in SUMS},
    }


def _epoch_columns(trace: Trace) -> dict[str, pa.Array]:
    played = [epoch for epochs in trace.epochs for epoch in epochs]
    values: dict[str, list[Any]] = {
        "epoch": [epoch.index for epoch in played],
        "epoch_start": [epoch.start for epoch in played],
        "epoch_stop": [epoch.stop for epoch in played],
        **{name: [getattr(epoch.report, name, None) for epoch in played] for name in _REPORT},
        "notes": [_lines(epoch, "notes") for epoch in played],
        "details": [_lines(epoch, "details") for epoch in played],
    }
    rows = _epoch_of_rows(trace)
    return {name: _column(name, value).take(rows) for name, value in values.items()}


def _epoch_of_rows(trace: Trace) -> Ints:
    """Which of all replications' epochs played each row's checkpoint."""
    first, rows = 0, []
    for epochs in trace.epochs:
        starts = [epoch.start for epoch in epochs]
        # A checkpoint counts rounds, so that its own round, counted from 0, is the one before.
        rows.append(first - 1 + np.searchsorted(starts, trace.checkpoints - 1, side="right"))
        first += len(epochs)
    return np.concatenate(rows)


def _lines(epoch: PlayedEpoch, name: str) -> str | None:
    lines = getattr(epoch.report, name, None)
    return "\n".join(map(str, lines)) if lines else None


def _column(name: str, values: Sequence[Any] | np.ndarray[Any, Any]) -> pa.Array:
    import pyarrow as pa

    if _COLUMNS[name] == "text":
        return pa.array(values, pa.string()).dictionary_encode()
    return pa.array(values, schema().field(name).type)

"""From tables of decisions to Arrow tables in the layout of the log's Parquet files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.decision_table import UNKNOWN_ACTION, DecisionTable, Texts
from gyrfalcon.frames import Values
from gyrfalcon.logs.parquet.schema import CONTEXT, LogSchema

FLAGS = ("defaulted", "late", "overridden", "shadow")
_PHASES = ("policy", "passive")


def arrow_table(table: DecisionTable, schema: LogSchema, others: Mapping[str, Values] | None = None) -> Any:
    """The rows of a table as an Arrow table with the schema as its metadata.

    `others` are further columns by name. What is missing is null: nan, None and unknown actions.
    """
    import pyarrow as pa

    shared = table.contexts.shared
    features = {f"{CONTEXT}{name}": _numbers(shared[:, place]) for place, name in enumerate(table.features)}
    columns: dict[str, Any] = {
        "event_id": _texts(table.event_id),
        "time": _numbers(table.time),
        **features,
        **_actions(table, schema),
        "propensity": _numbers(table.propensity),
        "reward": _numbers(table.reward),
        "reward_time": _numbers(table.reward_time),
        **{name: _plain(getattr(table, name)) for name in FLAGS},
        "phase": None if table.passive is None else _coded(table.passive.astype(np.int64), _PHASES),
        "epoch": _plain(table.epoch),
        "round": _plain(table.round),
        "model": _texts(table.model),
        "experiment": _texts(table.experiment),
        **{
            name: _texts(column) if column.dtype == object else _plain(column)
            for name, column in (others or {}).items()
        },
    }
    return pa.table(
        {name: column for name, column in columns.items() if column is not None}, metadata=schema.metadata()
    )


def _actions(table: DecisionTable, schema: LogSchema) -> dict[str, Any]:
    """What depends on labels: eligible actions, their features, the logged one, and the distribution."""
    mask, cube, shares = table.contexts.eligible, table.contexts.actions, table.distribution
    eligible = np.ones((len(table), table.n_actions), dtype=np.bool_) if mask is None else mask
    restricted: Bools = np.logical_not(eligible.all(axis=1))
    texts = [schema.text_of(label) for label in schema.actions]
    known = table.action != UNKNOWN_ACTION
    return {
        "eligible": None if not restricted.any() else _labels(eligible, restricted, texts),
        "action_features": None if cube is None else _structs(cube, eligible, table.action_features),
        "action": _coded(table.action, texts, ~known),
        "distribution": None if shares is None else _shares(shares, eligible),
    }


def _labels(eligible: Bools, restricted: Bools, texts: list[str]) -> Any:
    """Labels of eligible actions, null where all are."""
    chosen: Bools = np.logical_and(eligible, restricted[:, np.newaxis])
    return _lists(_coded(np.nonzero(chosen)[1], texts), chosen.sum(axis=1), np.logical_not(restricted))


def _structs(cube: Floats, eligible: Bools, names: tuple[str, ...]) -> Any:
    import pyarrow as pa

    cells = cube[eligible]
    fields = [_numbers(cells[:, place]) for place in range(len(names))]
    return _lists(pa.StructArray.from_arrays(fields, list(names)), eligible.sum(axis=1))


def _shares(shares: Floats, eligible: Bools) -> Any:
    unknown: Bools = np.asarray(np.isnan(shares).all(axis=1))
    kept = np.logical_and(eligible, ~unknown[:, np.newaxis]) if unknown.any() else eligible
    flat = shares.reshape(-1) if kept.all() else shares[kept]
    return _lists(_array(flat.astype(np.float64, copy=False)), kept.sum(axis=1), unknown)


def _lists(elements: Any, lengths: Ints, missing: Bools | None = None) -> Any:
    import pyarrow as pa

    offsets = _array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
    absent = None if missing is None or not missing.any() else _array(missing)
    return pa.ListArray.from_arrays(offsets, elements, mask=absent)


def _coded(places: Ints, texts: Sequence[str], missing: Bools | None = None) -> Any:
    """Texts by their places in a dictionary."""
    import pyarrow as pa

    codes = _array(places.astype(np.int32), missing)
    return pa.DictionaryArray.from_arrays(codes, _texts(np.array(texts, dtype=object)))


def _numbers(values: Floats | None) -> Any:
    if values is None:
        return None
    flat = np.asarray(values, dtype=np.float64)
    return _array(flat, np.isnan(flat))


def _plain(values: Values | None) -> Any:
    return None if values is None else _array(values)


def _texts(values: Texts | None) -> Any:
    import pyarrow as pa

    if values is None:
        return None
    parts = [b"" if text is None else text.encode() for text in values.tolist()]
    offsets = np.concatenate([[0], np.cumsum(list(map(len, parts)))]).astype(np.int32)
    missing = np.array([text is None for text in values.tolist()], dtype=np.bool_)
    known = pa.py_buffer(np.packbits(~missing, bitorder="little")) if missing.any() else None
    buffers = [known, pa.py_buffer(offsets), pa.py_buffer(b"".join(parts))]
    return pa.Array.from_buffers(pa.string(), len(values), buffers)


def _array(values: Values, missing: Bools | None = None) -> Any:
    """Numbers or booleans as an Arrow array over their memory; pyarrow.array would import pandas."""
    import pyarrow as pa

    kind = pa.from_numpy_dtype(values.dtype)
    is_flag = values.dtype == np.bool_
    flat = np.packbits(values, bitorder="little") if is_flag else np.ascontiguousarray(values)
    known = None
    if missing is not None and missing.any():
        known = pa.py_buffer(np.packbits(np.logical_not(missing), bitorder="little"))
    return pa.Array.from_buffers(kind, len(values), [known, pa.py_buffer(flat)])

"""Parquet files of logged decisions: the columns of their tables, with labels as text."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gyrfalcon.logs.folder import check_format
from gyrfalcon.logs.rows import FORMAT, LoggedDecisions, Row
from gyrfalcon.storage.atomic import write_atomically

_VERSION = b"gyrfalcon.log.format"
_LABELS = b"gyrfalcon.log.labels"
_FINGERPRINT = b"gyrfalcon.log.fingerprint"
_CONTEXT = "context."


def import_pyarrow() -> Any:
    """PyArrow's module for Parquet files."""
    try:
        import pyarrow.parquet
    except ModuleNotFoundError as error:
        if error.name != "pyarrow":
            raise
        raise ImportError('Parquet files need pyarrow; install it: pip install "gyrfalcon[arrow]".') from None
    return pyarrow.parquet


def write_rows(path: Path, rows: list[Row], fingerprint: object = None) -> None:
    """Write rows to a Parquet file in one step, readable for its owner alone.

    `fingerprint` has the versions of the process that decided; it becomes a part of the metadata.
    """
    parquet = import_pyarrow()
    all_text = all(type(label) is str for row in rows for label in _labels_in(row))
    texts = rows if all_text else [_relabelled(row, json.dumps) for row in rows]
    about = {_VERSION: str(FORMAT).encode(), _LABELS: b"text" if all_text else b"json"}
    if fingerprint is not None:
        about[_FINGERPRINT] = json.dumps(fingerprint).encode()
    table = LoggedDecisions(tuple(texts)).to_arrow().replace_schema_metadata(about)
    content = io.BytesIO()
    parquet.write_table(table, content, compression="zstd")
    write_atomically(path, content.getvalue(), private=True)


def read_rows(path: Path) -> list[Row]:
    """The rows of a Parquet file, equal to those that were written."""
    parquet = import_pyarrow()
    try:
        table = parquet.read_table(io.BytesIO(path.read_bytes()))
    except FileNotFoundError:
        raise
    except Exception as error:
        raise ValueError(f"{path} can't be read as a Parquet file: {error}.") from None
    about = table.schema.metadata or {}
    version = about.get(_VERSION, b"").decode()
    check_format(int(version) if version.isdecimal() else version, path)
    rows = [_row(cells) for cells in table.to_pylist()]
    return rows if about.get(_LABELS) == b"text" else [_relabelled(row, json.loads) for row in rows]


def _row(cells: dict[str, Any]) -> Row:
    context = {
        name.removeprefix(_CONTEXT): value
        for name, value in cells.items()
        if name.startswith(_CONTEXT) and value is not None
    }
    row = {name: value for name, value in cells.items() if not name.startswith(_CONTEXT)}
    structs = row.get("action_features")
    return {
        **row,
        "context": context,
        "distribution": row["distribution"] or None,
        "silent": row["silent"] or None,
        "action_features": [_given(cell) for cell in structs] if structs else None,
    }


def _given(cell: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in cell.items() if value is not None}


def _labels_in(row: Row) -> list[Any]:
    shown = [] if row["shown"] is None else [row["shown"]]
    return [*row["eligible"], row["action"], *shown, *(row["silent"] or [])]


def _relabelled(row: Row, change: Callable[[Any], Any]) -> Row:
    return {
        **row,
        "eligible": [change(label) for label in row["eligible"]],
        "action": change(row["action"]),
        "shown": None if row["shown"] is None else change(row["shown"]),
        "silent": None if row["silent"] is None else [change(label) for label in row["silent"]],
    }

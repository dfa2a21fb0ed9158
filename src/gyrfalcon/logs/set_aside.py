"""Files of the rows that a check has set aside, with their reasons, and of the rows that remain."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from gyrfalcon.core.decision_table import UNKNOWN_ACTION, DecisionTable
from gyrfalcon.evaluation.checks.report import LogCheck
from gyrfalcon.frames import Lists, Tabular
from gyrfalcon.logs.parquet.files import import_pyarrow
from gyrfalcon.storage.atomic import write_atomically

FORMATS = (".csv", ".jsonl", ".parquet")


def write_set_aside(check: LogCheck, table: DecisionTable, path: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write the rows that a check has set aside, with their row numbers and the kinds of their faults.

    Parameters
    ----------
    check
        The report of `check_log(table)`.
    table
        The table that was checked.
    path
        A file that ends in .csv, .jsonl or .parquet, for the rows that were set aside; or a folder, which
        gets `set_aside.jsonl` with these and `usable.jsonl` with all others.

    Returns
    -------
    tuple of Path
        The files that were written.

    Raises
    ------
    ValueError, ImportError
        If the ending is none of these, or PyArrow is not installed and it is .parquet.
    """
    target = Path(path)
    usable, aside = check.set_aside(table)
    if target.suffix in FORMATS:
        _write(target, aside, check)
        return (target,)
    if target.suffix and not target.is_dir():
        raise ValueError(
            f"{target} ends in {target.suffix}; give a file that ends in .csv, .jsonl or .parquet, or a "
            "folder."
        )
    target.mkdir(parents=True, exist_ok=True)
    files = target / "set_aside.jsonl", target / "usable.jsonl"
    _write(files[0], aside, check)
    _write(files[1], usable, None)
    return files


def _write(path: Path, table: DecisionTable, check: LogCheck | None) -> None:
    columns = _columns(table, check)
    if path.suffix == ".parquet":
        write_atomically(path, _parquet(columns), private=True)
        return
    rows = list(_rows(columns, len(table)))
    if path.suffix == ".jsonl":
        text = "".join(
            json.dumps(row, ensure_ascii=False, allow_nan=False, default=str) + "\n" for row in rows
        )
    else:
        text = _csv(list(columns), rows)
    write_atomically(path, text.encode(), private=True)


def _columns(table: DecisionTable, check: LogCheck | None) -> dict[str, Any]:
    """Columns of the table, after the row number and, for rows set aside, the kinds of their faults."""
    columns: dict[str, Any] = {"row": table.rows}
    known = (table.action >= 0) & (table.action < table.n_actions)
    table = replace(table, action=np.where(known, table.action, UNKNOWN_ACTION))
    if check is not None:
        columns["faults"] = np.array(
            [", ".join(kinds) for kinds in check.faults_of(table.rows)], dtype=object
        )
    return {**columns, **table.columns()}


def _rows(columns: dict[str, Any], n_rows: int) -> Iterator[dict[str, Any]]:
    lists = {
        name: column.rows() if isinstance(column, Lists) else column.tolist()
        for name, column in columns.items()
    }
    for row in range(n_rows):
        yield {name: _finite(values[row]) for name, values in lists.items()}


def _finite(value: Any) -> Any:
    """A value that JSON has: what is missing is null, and infinities are text."""
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def _csv(names: list[str], rows: list[dict[str, Any]]) -> str:
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, names, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow(
            {
                name: json.dumps(value) if isinstance(value, list | dict) else value
                for name, value in row.items()
            }
        )
    return buffer.getvalue()


def _parquet(columns: dict[str, Any]) -> bytes:
    parquet, buffer = import_pyarrow(), io.BytesIO()
    parquet.write_table(_Named(columns).to_arrow(), buffer)
    return buffer.getvalue()


@dataclass(frozen=True, slots=True)
class _Named(Tabular):
    """Columns by name as a table."""

    named: dict[str, Any]

    def columns(self) -> dict[str, Any]:
        return self.named

"""Files of the rows that a check has set aside, with their reasons, and of the rows that remain."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gyrfalcon.core.decision_table import UNKNOWN_ACTION, DecisionTable
from gyrfalcon.evaluation.checks.report import LogCheck
from gyrfalcon.frames import Column, Tabular
from gyrfalcon.logs.formats.record_writing import csv_lines, json_objects, parquet_content
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
        write_atomically(path, parquet_content(_Named(columns)), private=True)
        return
    lines = json_objects(columns) if path.suffix == ".jsonl" else csv_lines(columns)
    write_atomically(path, "".join(f"{line}\n" for line in lines), private=True)


def _columns(table: DecisionTable, check: LogCheck | None) -> dict[str, Column]:
    """Columns of the table, after the row number and, for rows set aside, the kinds of their faults."""
    columns: dict[str, Column] = {"row": table.rows}
    known = (table.action >= 0) & (table.action < table.n_actions)
    table = replace(table, action=np.where(known, table.action, UNKNOWN_ACTION))
    if check is not None:
        columns["faults"] = np.array(
            [", ".join(kinds) for kinds in check.faults_of(table.rows)], dtype=object
        )
    return {**columns, **table.columns()}


@dataclass(frozen=True, slots=True)
class _Named(Tabular):
    """Columns by name as a table."""

    named: dict[str, Column]

    def columns(self) -> dict[str, Column]:
        return self.named

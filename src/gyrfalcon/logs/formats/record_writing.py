"""Tables of decisions as CSV files, lines of JSON and Parquet files, with a column for each field."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.frames import Column, Lists, Tabular
from gyrfalcon.logs.arrow_extra import import_pyarrow
from gyrfalcon.logs.formats.exporting import write_lines
from gyrfalcon.storage.atomic import write_atomically


def write_csv(table: DecisionTable, path: str | os.PathLike[str]) -> None:
    """Write a table of decisions as a CSV file with the columns of `DecisionTable.to_pandas`.

    Lists are cells of JSON, and what is missing is empty. `read_log(path)` gives the table again, but that
    labels become text or whole numbers; what rewards are (`cost`, `reward_range`) goes into its mapping.

    Parameters
    ----------
    table
        The decisions.
    path
        The file, which is replaced in one step; it is compressed with gzip if its name ends with .gz.
    """
    write_lines(path, csv_lines(table.columns()))


def write_jsonl(table: DecisionTable, path: str | os.PathLike[str]) -> None:
    """Write a table of decisions as lines of JSON with the columns of `DecisionTable.to_pandas`.

    What is missing is left out. `read_log(path)` gives the table again; what rewards are (`cost`,
    `reward_range`) goes into its mapping.

    Parameters
    ----------
    table
        The decisions.
    path
        The file, which is replaced in one step; it is compressed with gzip if its name ends with .gz.
    """
    write_lines(path, json_lines(table))


def write_parquet(table: DecisionTable, path: str | os.PathLike[str]) -> None:
    """Write a table of decisions as one Parquet file with the columns of `DecisionTable.to_arrow`.

    Parameters
    ----------
    table
        The decisions.
    path
        The file, which is replaced in one step.

    Raises
    ------
    ImportError
        If PyArrow is not installed.
    """
    write_atomically(Path(path), parquet_content(table))


def json_lines(table: DecisionTable) -> Iterator[str]:
    """The rows of a table as JSON objects without what is missing."""
    return json_objects(table.columns())


def json_objects(columns: Mapping[str, Column]) -> Iterator[str]:
    """Rows of columns by name as JSON objects without what is missing."""
    for row in zip(*map(_values, columns.values()), strict=True):
        cells = {name: _plain(value) for name, value in zip(columns, row, strict=True)}
        known = {name: value for name, value in cells.items() if value is not None}
        yield json.dumps(known, allow_nan=False, default=str)


def csv_lines(columns: Mapping[str, Column]) -> Iterator[str]:
    """Rows of columns by name as lines of a CSV file, after one with the names."""
    yield _csv_line(list(columns))
    for row in zip(*map(_values, columns.values()), strict=True):
        yield _csv_line(map(_cell, row))


def parquet_content(table: Tabular) -> bytes:
    """A table of named columns as the content of a Parquet file."""
    parquet, content = import_pyarrow(), io.BytesIO()
    parquet.write_table(table.to_arrow(), content, compression="zstd")
    return content.getvalue()


def _values(column: Column) -> Iterable[Any]:
    return column.rows() if isinstance(column, Lists) else column.tolist()


def _plain(value: Any) -> Any:
    """A value as JSON has it; nan is nothing, also inside of lists."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None if math.isnan(value) else str(value)
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return value


def _cell(value: Any) -> str:
    """A value as a cell of a CSV file."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, list):
        return json.dumps(_plain(value))
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def _csv_line(cells: Iterable[str]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(cells)  # its own line ending, so that those in cells are quoted
    return line.getvalue().removesuffix("\r\n")

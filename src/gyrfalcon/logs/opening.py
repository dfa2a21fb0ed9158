"""Opening of logs, whatever their format: each becomes a table of decisions."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.logs.formats.dispatch import FormatName, check_options, format_of, tables_in, write_format
from gyrfalcon.logs.parquet.reader import LogReader


def read_log(
    path: str | os.PathLike[str], format: Literal["auto"] | FormatName = "auto", **options: Any
) -> DecisionTable:
    """Read the decisions of a log, whatever its format, as a table.

    Parameters
    ----------
    path
        A folder that `Bandit(log=...)`, `simulate(..., keep_log=...)` or `LogWriter` has written, one of its
        Parquet files, or a file of another format. `LogReader` reads folders some rows at a time.
    format
        "folder" for folders and files of these; "csv", "jsonl" or "parquet" for files with columns or
        objects; "dsjson" or "cb_text" for those of Vowpal Wabbit; "obp" for the CSV layout of the Open Bandit
        Dataset; "auto" tells by the name and the content.
    options
        What the format takes. "csv", "jsonl" and "parquet": `mapping`, which column holds what, as for
        `table_from_frame`; "csv" also `delimiter`. "dsjson" and "cb_text": `action`, what actions are called,
        and `cost`; "dsjson" also `pdrop`, "cb_text" `n_actions`. "obp": `action_features`, `is_random`, and
        for the data in a folder, a wheel or a source distribution of `obp` also `policy` and `campaign`.

    Returns
    -------
    DecisionTable
        The decisions; those of a folder in the order of their times, where these are known, of a file in the
        order of its lines.

    Raises
    ------
    ValueError, ImportError
        If there is no log, or it can't be read.
    """
    chosen = format_of(path) if format == "auto" else format
    table = DecisionTable.concat(list(log_tables(path, chosen, options)))
    if chosen != "folder":
        return table
    ordered = _by_time(table)
    shares = ordered.distribution
    unknown = shares is not None and np.isnan(shares).all()
    return replace(ordered, source_row=None, distribution=None if unknown else shares)


def log_tables(path: str | os.PathLike[str], format: str, options: dict[str, Any]) -> Iterator[DecisionTable]:
    """Tables of a log with the same actions and features, one after the other, so that few are in memory."""
    chosen = format_of(path) if format == "auto" else format
    if chosen == "folder":
        check_options("folder", (), options)
        yield from LogReader(path).tables()
    else:
        yield from tables_in(path, chosen, options)


def write_log(
    table: DecisionTable, path: str | os.PathLike[str], format: Literal["auto"] | FormatName = "auto"
) -> None:
    """Write a table of decisions as a log in one of the formats.

    Parameters
    ----------
    table
        The decisions.
    path
        The file, which is replaced in one step, or a new folder.
    format
        "folder", "csv", "jsonl", "parquet", "dsjson" or "cb_text"; "auto" tells by the ending of the name,
        and "folder" by there being none.

    Raises
    ------
    ValueError, ImportError
        If the format has no way to say what is in a row, or needs a library that is not installed.
    """
    write_format([table], path, format_of(path, exists=False) if format == "auto" else format)


def _by_time(table: DecisionTable) -> DecisionTable:
    times = table.time
    if times is None or not (np.diff(times) < 0.0).any():
        return table
    return table.take(np.argsort(times, kind="stable"))

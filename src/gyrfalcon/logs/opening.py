"""Opening of logs, whatever their format: each becomes a table of decisions."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import UNKNOWN_ACTION, DecisionTable
from gyrfalcon.frames import text_column
from gyrfalcon.logs.formats.concatenation import concatenated
from gyrfalcon.logs.formats.dispatch import FormatName, check_options, format_of, tables_in, write_format
from gyrfalcon.logs.reading import read_decision_log
from gyrfalcon.logs.rows import LoggedDecisions


def read_log(
    path: str | os.PathLike[str], format: Literal["auto"] | FormatName = "auto", **options: Any
) -> DecisionTable:
    """Read the decisions of a log, whatever its format, as a table.

    Parameters
    ----------
    path
        The folder that was given as `Bandit(log=...)`, or a file of another format.
    format
        "folder" for logs of a bandit; "csv", "jsonl" or "parquet" for files with columns or objects;
        "dsjson" or "cb_text" for those of Vowpal Wabbit; "obp" for the CSV layout of the Open Bandit Dataset;
        "auto" tells by the name and the first line.
    options
        What the format takes. "csv", "jsonl" and "parquet": `mapping`, which column holds what, as for
        `table_from_frame`; "csv" also `delimiter`. "dsjson" and "cb_text": `action`, what actions are called,
        and `cost`; "dsjson" also `pdrop`, "cb_text" `n_actions`. "obp": `action_features`, `is_random`.

    Returns
    -------
    DecisionTable
        The decisions; those of a folder in the order of their times, of a file in the order of its lines.

    Raises
    ------
    ValueError, ImportError
        If there is no log, or it can't be read.
    """
    return concatenated(list(log_tables(path, format, options)))


def log_tables(path: str | os.PathLike[str], format: str, options: dict[str, Any]) -> Iterator[DecisionTable]:
    """Tables of a log with the same actions and features, one after the other, so that few are in memory."""
    chosen = format_of(path) if format == "auto" else format
    if chosen == "folder":
        check_options("folder", (), options)
        yield table_of(read_decision_log(path), source=os.fspath(path))
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
        The file, which is replaced in one step.
    format
        "csv", "jsonl", "parquet", "dsjson" or "cb_text"; "auto" tells by the ending of the name.

    Raises
    ------
    ValueError, ImportError
        If the format has no way to say what is in a row, or needs a library that is not installed.
    """
    write_format([table], path, format_of(path, exists=False) if format == "auto" else format)


def table_of(log: LoggedDecisions, source: str = "") -> DecisionTable:
    """The columns of logged decisions, with every label that was ever eligible as an action."""
    rows = log.rows
    labels = tuple(dict.fromkeys(label for row in rows for label in [*row["eligible"], row["action"]]))
    places = {label: place for place, label in enumerate(labels)}
    names = tuple(dict.fromkeys(name for row in rows for name in row["context"]))
    own = tuple(dict.fromkeys(name for row in rows for cell in row["action_features"] or [] for name in cell))
    n, n_actions = len(rows), len(labels)
    shared = np.array([[row["context"].get(name, np.nan) for name in names] for row in rows]).reshape(n, -1)
    eligible = np.zeros((n, n_actions), dtype=np.bool_)
    distribution = np.full((n, n_actions), np.nan)
    cube = np.zeros((n, n_actions, len(own))) if own else None
    for number, row in enumerate(rows):
        chosen = [places[label] for label in row["eligible"]]
        eligible[number, chosen] = True
        if row["distribution"] is not None:
            distribution[number] = 0.0
            distribution[number, chosen] = row["distribution"]
        if cube is not None:
            cells = [[cell.get(name, np.nan) for name in own] for cell in row["action_features"] or []]
            cube[number, chosen] = cells
    return DecisionTable(
        actions=labels,
        contexts=Contexts(shared.astype(np.float64), cube, None if eligible.all() else eligible),
        action=np.array([places.get(row["action"], UNKNOWN_ACTION) for row in rows], dtype=np.int64),
        reward=_numbers([row["reward"] for row in rows]),
        propensity=_numbers([row["propensity"] for row in rows]),
        distribution=None if np.isnan(distribution).all() else distribution,
        features=names,
        action_features=own,
        event_id=text_column([row["event_id"] for row in rows]),
        time=_numbers([row["time"] for row in rows]),
        reward_time=_numbers([row["reward_time"] for row in rows]),
        epoch=np.array([row["epoch"] for row in rows], dtype=np.int64),
        round=np.array([row["round"] for row in rows], dtype=np.int64),
        passive=np.array([row["phase"] == "passive" for row in rows], dtype=np.bool_),
        model=text_column([row["model"] for row in rows]),
        defaulted=np.array([row["expired"] for row in rows], dtype=np.bool_),
        late=np.array([row["late"] for row in rows], dtype=np.bool_),
        overridden=np.array([row["shown"] is not None for row in rows], dtype=np.bool_),
        source=source,
    )


def _numbers(values: list[float | None]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

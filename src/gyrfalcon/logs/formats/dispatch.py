"""Formats of logs by name: how each is recognised, read and written."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.inputs.messages import enumeration, short_repr, suggestion
from gyrfalcon.logs.parquet.files import is_log_file

FormatName = Literal["folder", "csv", "jsonl", "parquet", "dsjson", "cb_text", "obp"]
_HERE = "gyrfalcon.logs.formats"


class Format(NamedTuple):
    """A format: the function that yields its tables, and the one that writes a table, if it is written."""

    tables: str
    write: str | None = None
    lines: str | None = None
    """The function that gives the lines of one table, where files of several tables are just more lines."""


FORMATS: dict[str, Format] = {
    "csv": Format("sources.csv_tables", "record_writing.write_csv"),
    "jsonl": Format("sources.jsonl_tables", "record_writing.write_jsonl", "record_writing.json_lines"),
    "parquet": Format("sources.parquet_tables", "record_writing.write_parquet"),
    "dsjson": Format(
        "vowpal_wabbit.dsjson.dsjson_tables",
        "vowpal_wabbit.dsjson_writing.write_dsjson",
        "vowpal_wabbit.dsjson_writing.dsjson_lines",
    ),
    "cb_text": Format("vowpal_wabbit.cb_text.cb_text_tables", "vowpal_wabbit.cb_text_writing.write_cb_text"),
    "obp": Format("sources.open_bandit_tables"),
}
_ENDINGS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".dsjson": "dsjson",
    ".parquet": "parquet",
    ".vw": "cb_text",
    ".dat": "cb_text",
    ".txt": "cb_text",
}


def format_of(path: str | os.PathLike[str], *, exists: bool = True) -> str:
    """The format that a path is in, by its name and, where this leaves two, by its content."""
    file = Path(path)
    if exists and file.is_dir():
        return "obp" if (file / "item_context.csv").exists() else "folder"
    endings = [ending for ending in file.suffixes if ending != ".gz"]
    if not endings:
        return "folder"
    if exists and (endings[-1] == ".whl" or ".tar" in endings):
        return "obp"
    found = _ENDINGS.get(endings[-1].lower())
    if found is None:
        raise ValueError(
            f"{os.fspath(path)} ends with {endings[-1]}, which is no known format; choose one of {known()}."
        )
    if not exists or not file.is_file():
        return found
    if found == "parquet" and is_log_file(file):
        return "folder"
    if found == "csv" and (file.parent / "item_context.csv").exists():
        return "obp"
    return "dsjson" if found == "jsonl" and _is_dsjson(path) else found


def tables_in(path: str | os.PathLike[str], name: str, options: dict[str, Any]) -> Iterator[DecisionTable]:
    """The tables of a file of this format, one after the other."""
    tables = _loaded(_format(name).tables)
    check_options(name, [one for one in inspect.signature(tables).parameters if one != "path"], options)
    found: Iterator[DecisionTable] = iter(tables(path, **options))
    return found


def write_format(tables: Iterable[DecisionTable], path: str | os.PathLike[str], name: str) -> int:
    """Write tables with the same actions and features to a file of this format, and count their rows."""
    if name == "folder" or (name == "parquet" and Path(path).suffix != ".parquet"):
        return _write_folder(tables, Path(path))
    chosen = _format(name)
    if chosen.write is None:
        writers = enumeration(["folder", *(one for one, row in FORMATS.items() if row.write)])
        raise ValueError(f"the format {name!r} is only read; choose one of {writers}.")
    if chosen.lines is None:
        whole = DecisionTable.concat(list(tables))
        _loaded(chosen.write)(whole, path)
        return len(whole)
    from gyrfalcon.logs.formats.exporting import write_lines

    count, lines = _Count(), _loaded(chosen.lines)
    write_lines(path, chain.from_iterable(lines(table) for table in count.of(tables)))
    return count.n


def _write_folder(tables: Iterable[DecisionTable], folder: Path) -> int:
    """Write a log as `Bandit(log=...)` writes one, some rows at a time."""
    from gyrfalcon.logs.parquet.writer import LogWriter

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} is there already; give a new or an empty folder.")
    with LogWriter(folder) as writer:
        for table in tables:
            writer.append(table)
    return writer.n_rows


def check_options(name: str, taken: Collection[str], options: Collection[str]) -> None:
    """Refuse options that a format does not have."""
    for option in options:
        if option not in taken:
            has = f"it has {enumeration(list(taken))}" if taken else "it has none"
            raise ValueError(f"the format {name!r} has no option {option!r}; {has}.")


def known() -> str:
    """The names of all formats, for messages."""
    return enumeration(get_args(FormatName))


class _Count:
    """Number of rows of tables that went by."""

    n = 0

    def of(self, tables: Iterable[DecisionTable]) -> Iterator[DecisionTable]:
        for table in tables:
            self.n += len(table)
            yield table


def _format(name: str) -> Format:
    if name not in FORMATS:
        raise ValueError(f"format is {short_repr(name)}; {suggestion(name, ['auto', *get_args(FormatName)])}")
    return FORMATS[name]


def _loaded(name: str) -> Callable[..., Any]:
    module, _, function = name.rpartition(".")
    found: Callable[..., Any] = getattr(import_module(f"{_HERE}.{module}"), function)
    return found


def _is_dsjson(path: str | os.PathLike[str]) -> bool:
    from gyrfalcon.logs.formats.csv_lines import open_bytes

    with open_bytes(path) as file:
        first = next((line for line in file if line.strip()), b"")
    try:
        record = json.loads(first)
    except ValueError:
        return False
    marks = ("_label_Action", "_label_cost", "Observations", "RewardValue")
    if not isinstance(record, dict):
        return False
    return any(mark in record for mark in marks) or (
        isinstance(record.get("c"), dict) and "_multi" in record["c"]
    )

"""Formats of logs by name: how each is recognised, read and written."""

from __future__ import annotations

import codecs
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


_LONGEST_LINE = 2**24


def format_of(path: str | os.PathLike[str], *, exists: bool = True) -> str:
    """The format that a path is in, by its name and, where this leaves two, by its content."""
    file = Path(path)
    if exists and file.is_dir():
        return "obp" if (file / "item_context.csv").exists() else "folder"
    endings = [ending for ending in file.suffixes if ending != ".gz"]
    if exists and endings and (endings[-1] == ".whl" or ".tar" in endings):
        return "obp"
    named = _ENDINGS.get(endings[-1].lower()) if endings else "folder"
    if exists and file.is_file():
        return _by_content(file, named)
    if named is None:
        raise ValueError(_unknown(path))
    return named


def _by_content(file: Path, named: str | None) -> str:
    """The format of a file by its content, where its name leaves several, or says nothing."""
    if named == "csv":
        return "obp" if (file.parent / "item_context.csv").exists() else "csv"
    if named == "dsjson":
        return named
    first = _first_line(file)
    if first.startswith(b"PAR1") or named == "parquet":
        return "folder" if is_log_file(file) else "parquet"
    if first.lstrip().startswith(b"{"):
        return "dsjson" if _is_dsjson(first) else "jsonl"
    if named in ("jsonl", "cb_text"):
        return named
    if b"|" in first:
        return "cb_text"
    raise ValueError(_unknown(file))


def _unknown(path: str | os.PathLike[str]) -> str:
    ending = Path(path).suffix
    what = (
        f"ends with {ending}, which is no known format" if ending else "has no ending that tells its format"
    )
    return f"{os.fspath(path)} {what}; choose one of {known()}."


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


def _first_line(path: str | os.PathLike[str]) -> bytes:
    """The first line that is not empty, or the start of a long one."""
    from gyrfalcon.logs.formats.csv_lines import open_bytes

    with open_bytes(path) as file:
        lines = iter(lambda: file.readline(_LONGEST_LINE), b"")
        return next((line.removeprefix(codecs.BOM_UTF8) for line in lines if line.strip()), b"")


def _is_dsjson(line: bytes) -> bool:
    try:
        record = json.loads(line)
    except ValueError:
        return False
    if not isinstance(record, dict):
        return False
    marks = ("_label_Action", "_label_cost", "_label_ca", "_outcomes", "Observations", "RewardValue")
    return any(mark in record for mark in marks) or (
        isinstance(record.get("c"), dict) and "_multi" in record["c"]
    )

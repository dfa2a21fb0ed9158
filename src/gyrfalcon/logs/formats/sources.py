"""Tables of files with columns by a mapping: CSV, lines of JSON, Parquet, and the Open Bandit Dataset."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.logs.arrow_extra import import_pyarrow
from gyrfalcon.logs.formats.csv_lines import csv_chunks
from gyrfalcon.logs.formats.json_lines import json_chunks
from gyrfalcon.logs.formats.mapped.frames import table_from_frame
from gyrfalcon.logs.formats.mapped.tables import tables_of
from gyrfalcon.logs.formats.open_bandit.files import is_archive
from gyrfalcon.logs.formats.open_bandit.tables import open_bandit_data, read_open_bandit


def csv_tables(
    path: str | os.PathLike[str], *, mapping: object = None, delimiter: str | None = None
) -> Iterator[DecisionTable]:
    """Tables of a CSV file; `delimiter` is a tabulator by default where the name ends with .tsv."""
    separator = ("\t" if ".tsv" in Path(path).suffixes else ",") if delimiter is None else delimiter
    separator = "\t" if separator == r"\t" else separator  # as it is typed in a shell
    if len(separator) != 1 or separator in '"\r\n':
        raise ValueError(
            f"delimiter is {separator!r}; give the one character that separates columns, such as ';'."
        )
    return tables_of(lambda: csv_chunks(path, delimiter=separator), mapping)


def jsonl_tables(path: str | os.PathLike[str], *, mapping: object = None) -> Iterator[DecisionTable]:
    """Tables of a file with a JSON object on each line."""
    return tables_of(lambda: json_chunks(path), mapping)


def parquet_tables(path: str | os.PathLike[str], *, mapping: object = None) -> Iterator[DecisionTable]:
    """The table of one Parquet file."""
    parquet = import_pyarrow()
    try:
        frame = parquet.read_table(os.fspath(path))
    except FileNotFoundError:
        raise
    except Exception as error:
        raise ValueError(
            f"{os.fspath(path)} can't be read as a Parquet file: {str(error).rstrip('.')}."
        ) from None
    yield table_from_frame(frame, mapping, source=os.fspath(path))


def open_bandit_tables(
    path: str | os.PathLike[str],
    *,
    policy: str | None = None,
    campaign: str | None = None,
    action_features: Collection[str] = (),
    is_random: bool | None = None,
) -> Iterator[DecisionTable]:
    """The table of one CSV file of the Open Bandit Dataset, or of one of the files in its folder or in `obp`.

    `policy` and `campaign` say which of those files, as for `open_bandit_data`; `is_random` is for one file.
    """
    if is_archive(path) or policy is not None or campaign is not None:
        if is_random is not None:
            raise ValueError("is_random is for one CSV file; policy='random' says it of a folder or archive.")
        chosen = policy or "random", campaign or "all"
        yield open_bandit_data(path, *chosen, action_features=action_features)
    else:
        yield read_open_bandit(path, action_features=action_features, is_random=is_random)

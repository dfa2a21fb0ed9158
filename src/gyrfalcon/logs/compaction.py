"""Compaction of a decision log: files of lines that are closed become Parquet files.

A file X.jsonl becomes X.parquet with its decisions, and X.rest.jsonl with its other lines: outcomes of
decisions in other files, and what was recorded of problems and epochs. The Parquet file is put in place in
one step, after the rest and before the lines are removed, and readers prefer it. So a process that is killed
at any moment leaves every line to be read once; the next compaction goes on from there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gyrfalcon.logs.arrow_extra import import_pyarrow
from gyrfalcon.logs.lines.folder import line_files, lock, rest_of, stems_of, text_of, whole_lines
from gyrfalcon.logs.lines.outcomes import RowBuilder
from gyrfalcon.logs.parquet.files import write_rows
from gyrfalcon.logs.parquet.row_columns import schema_of_rows
from gyrfalcon.storage.atomic import remove_leftovers, write_atomically


@dataclass(frozen=True)
class Compaction:
    """What a compaction has done.

    Parameters
    ----------
    n_files
        Number of files of lines that became Parquet files.
    n_rows
        Number of decisions in these.
    n_open
        Number of files that are still written, or are compacted by another process.
    """

    n_files: int
    n_rows: int
    n_open: int


def compact_decision_log(folder: str | os.PathLike[str]) -> Compaction:
    """Turn the closed files of a decision log into Parquet files; those that are written stay as they are.

    It may run beside bandits that write to the folder, beside readers and beside other compactions.

    Parameters
    ----------
    folder
        The folder that was given as `Bandit(log=...)`.

    Raises
    ------
    ValueError, ImportError
        If there is no log, a line in the middle of a file is damaged, or PyArrow is not installed.
    """
    import_pyarrow()
    path = Path(folder)
    stems_of(path)  # which refuses a folder without a log
    remove_leftovers(path)
    n_files = n_rows = n_open = 0
    for file in line_files(path):
        with _closed(file) as is_closed:
            if is_closed is None:
                continue
            if is_closed:
                n_rows += _compact(file)
                n_files += 1
            else:
                n_open += 1
    return Compaction(n_files, n_rows, n_open)


@contextmanager
def _closed(file: Path) -> Iterator[bool | None]:
    """Whether nobody else writes or compacts a file, for as long as the block lasts; None if it is gone."""
    try:
        handle = os.open(file, os.O_RDWR)
    except FileNotFoundError:
        yield None
        return
    try:
        is_mine = lock(handle)
        # Who had the lock before may have removed the file.
        yield is_mine if file.exists() else None
    finally:
        os.close(handle)


def _compact(file: Path) -> int:
    """Replace a file of lines by a Parquet file and the rest of its lines, and count its decisions."""
    parquet = file.with_suffix(".parquet")
    builder = RowBuilder()
    builder.add_file(whole_lines(file.read_bytes(), file), file)
    if not parquet.exists():  # else a compaction was killed just before its end
        rest = [*builder.others, *builder.join()]
        write_atomically(rest_of(parquet), b"".join(map(text_of, rest)), private=True)
        write_rows(parquet, builder.rows, schema_of_rows(builder.rows, builder.others))
    file.unlink()
    return len(builder.rows)

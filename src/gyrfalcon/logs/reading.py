"""Reading of decision logs: all files of a folder, joined."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Collection
from pathlib import Path

from gyrfalcon.logs.lines.folder import is_cut_off, rest_of, stems_of, whole_lines
from gyrfalcon.logs.lines.outcomes import RowBuilder
from gyrfalcon.logs.lines.rows import LoggedDecisions, Row


def read_decision_log(folder: str | os.PathLike[str]) -> LoggedDecisions:
    """Decisions of all files in a folder that bandits have logged to, joined with their outcomes.

    Bandits may write to the folder meanwhile, and it may be compacted.

    Parameters
    ----------
    folder
        The folder that was given as `Bandit(log=...)`. Logs of other kinds are read as well, a dict for each
        row; `read_log` and `LogReader` are many times as fast.

    Raises
    ------
    ValueError, ImportError
        If there is no log, a line in the middle of a file is damaged, or a Parquet file needs PyArrow.
    """
    return rows_of_folder(Path(folder))


def rows_of_folder(path: Path, skipped: Collection[Path] = ()) -> LoggedDecisions:
    """Decisions of all files in a folder but those Parquet files that are skipped."""
    builder, n_cut_off = RowBuilder(), 0
    for stem in stems_of(path):
        lines, parquet = path / f"{stem}.jsonl", path / f"{stem}.parquet"
        if parquet not in skipped:
            n_cut_off += _add(builder, lines, parquet)
    unknown = builder.join()
    rows = sorted(builder.rows, key=_time)
    counts = Counter(row["event_id"] for row in rows if row["event_id"] is not None)
    duplicates = tuple(event_id for event_id, n in counts.items() if n > 1)
    return LoggedDecisions(tuple(rows), duplicates, n_cut_off, len(unknown))


def _time(row: Row) -> float:
    return -math.inf if row["time"] is None else float(row["time"])


def _add(builder: RowBuilder, lines: Path, parquet: Path) -> bool:
    """Add one file in either form, and say whether its last line is cut off."""
    if not parquet.exists():
        try:
            content = lines.read_bytes()
        except FileNotFoundError:
            pass  # it has become a Parquet file just now
        else:
            builder.add_file(whole_lines(content, lines), lines)
            return is_cut_off(content)
    from gyrfalcon.logs.parquet.files import read_rows

    for row in read_rows(parquet):
        if row["event_id"] is None:
            builder.rows.append(row)  # of which nothing else can be known
        else:
            builder.add_row(row)
    rest = rest_of(parquet)
    if rest.exists():
        builder.add_file(whole_lines(rest.read_bytes(), rest), rest)
    return False

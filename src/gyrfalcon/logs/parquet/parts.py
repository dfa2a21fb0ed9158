"""Files of a log that is read by columns, and what lines elsewhere change of their rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.logs.lines.folder import rest_of, stems_of, whole_lines
from gyrfalcon.logs.lines.outcomes import RowBuilder
from gyrfalcon.logs.lines.rows import Line, Row
from gyrfalcon.logs.parquet.files import opened, schema_of, unreadable
from gyrfalcon.logs.parquet.row_columns import row_of_cells, schema_of_rows
from gyrfalcon.logs.parquet.schema import LogSchema

_EVENTS = frozenset(("decided", "final", "withdrawn", "late"))


@dataclass
class LogPart:
    """One file of a log: a Parquet file with lines beside it, or lines alone.

    Attributes
    ----------
    path
        The Parquet file, or the file of lines.
    schema
        What its rows have in common.
    names
        Names of the columns of a Parquet file; None for lines.
    n_rows
        Number of rows of a Parquet file.
    footer
        Metadata of a Parquet file.
    lines
        Lines of the file, or of the file beside it.
    rows
        Decisions among the lines.
    changed
        Rows of a Parquet file by their numbers that lines elsewhere may have changed.
    repeated
        Numbers of rows that stand in an earlier file as well.
    """

    path: Path
    schema: LogSchema
    names: frozenset[str] | None = None
    n_rows: int = 0
    footer: Any = None
    lines: list[Line] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    changed: dict[int, Row] = field(default_factory=dict)
    repeated: set[int] = field(default_factory=set)

    @property
    def is_of_bandit(self) -> bool:
        """Whether a live bandit has written the file, so that outcomes may stand elsewhere."""
        return self.names is not None and "sequence" in self.names

    def batches(self, n_rows: int, columns: Collection[str]) -> Iterator[Any]:
        """Record batches of a Parquet file with some of its columns; ValueError if it is damaged."""
        file = opened(self.path, self.footer)
        import pyarrow

        chosen = [name for name in file.schema_arrow.names if name in columns]
        try:
            yield from file.iter_batches(n_rows, columns=chosen, use_threads=pyarrow.cpu_count() > 1)
        except OSError as error:
            raise unreadable(self.path, error) from None

    def corrected(self, table: DecisionTable, first: int) -> DecisionTable:
        """A table of the rows from number `first` on, as lines elsewhere have changed them."""
        if not (self.changed or self.repeated):
            return table
        stop = first + len(table)
        numbers = np.array(sorted(number for number in self.changed if first <= number < stop), dtype=int)
        if len(numbers):
            table = _with_outcomes(table, numbers - first, [self.changed[number] for number in numbers])
        twice = [number - first for number in self.repeated if first <= number < stop]
        if not twice:
            return table
        kept = np.ones(len(table), dtype=np.bool_)
        kept[twice] = False
        return table.take(kept)


def parts_of(path: Path) -> list[LogPart]:
    """The files of a folder or a single Parquet file, with what lines change of their rows."""
    if path.is_file():
        return [_parquet_part(path)]
    parts = [_part(path / f"{stem}.jsonl", path / f"{stem}.parquet") for stem in stems_of(path)]
    _join(parts)
    return parts


def _part(lines: Path, parquet: Path) -> LogPart:
    if not parquet.exists():
        try:
            content = lines.read_bytes()
        except FileNotFoundError:
            pass  # it has become a Parquet file just now
        else:
            return LogPart(lines, LogSchema(()), lines=list(whole_lines(content, lines)))
    return _parquet_part(parquet)


def _parquet_part(path: Path) -> LogPart:
    file = opened(path)
    schema = schema_of(file, path)
    rest = rest_of(path)
    lines = list(whole_lines(rest.read_bytes(), rest)) if rest.exists() else []
    names, footer = frozenset(file.schema_arrow.names), file.metadata
    return LogPart(path, schema, names, footer.num_rows, footer, lines)


def _join(parts: list[LogPart]) -> None:
    """Give lines their rows, and Parquet files what lines and repetitions change of theirs.

    Of Parquet files only those rows are read whose events are named elsewhere: all others are as they stand.
    """
    named = {line.get("event_id") for part in parts for line in part.lines if line["kind"] in _EVENTS}
    bandits = [part for part in parts if part.is_of_bandit]
    if len(bandits) > 1:
        named |= set(_repeated_ids(bandits))
    builder = RowBuilder()
    for part in parts:
        if part.is_of_bandit and named:
            for number, row in _rows_of(part, named):
                n_before = len(builder.rows)
                builder.add_row(row)
                if len(builder.rows) > n_before:
                    part.changed[number] = row
                else:
                    part.repeated.add(number)
        n_before = len(builder.rows)
        builder.add_file(part.lines, part.path if part.names is None else rest_of(part.path))
        part.rows = builder.rows[n_before:]
    builder.join()
    for part in parts:
        if part.names is None:
            part.schema = schema_of_rows(part.rows, part.lines)


def _repeated_ids(parts: Iterable[LogPart]) -> Iterator[str]:
    """Ids of decisions that stand in two files: their times and numbers in the bandit are equal."""
    keys: list[Any] = []
    for part in parts:
        for batch in part.batches(2**16, ("time", "sequence")):
            keys.append(np.array([(column.to_numpy(False)) for column in batch.columns], dtype=np.float64))
    pairs = np.concatenate([np.zeros((2, 0)), *keys], axis=1)
    order = np.lexsort(pairs)
    equal = (np.diff(pairs[:, order]) == 0.0).all(axis=0)
    rows = np.union1d(order[1:][equal], order[:-1][equal])
    first = 0
    for part in parts if len(rows) else ():
        for batch in part.batches(2**16, ("event_id",)):
            own = rows[(rows >= first) & (rows < first + batch.num_rows)] - first
            yield from batch.column(0).take(own).to_pylist()
            first += batch.num_rows


def _rows_of(part: LogPart, ids: Collection[Any]) -> Iterator[tuple[int, Row]]:
    """The rows of these events, with their numbers in the file."""
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted = pa.array([one for one in ids if isinstance(one, str)], pa.string())
    first = 0
    for batch in part.batches(2**12, part.names or ()):
        found = pc.indices_nonzero(pc.is_in(batch.column("event_id"), value_set=wanted))
        cells: list[Mapping[str, Any]] = batch.take(found).to_pylist()
        for number, one in zip(found.to_pylist(), cells, strict=True):
            yield first + number, row_of_cells(one, part.schema, first + number)
        first += batch.num_rows


def _with_outcomes(table: DecisionTable, places: Any, rows: list[Row]) -> DecisionTable:
    """The table with the outcomes of some of its rows replaced."""
    values: dict[str, list[Any]] = {
        "reward": [np.nan if row["reward"] is None else row["reward"] for row in rows],
        "reward_time": [np.nan if row["reward_time"] is None else row["reward_time"] for row in rows],
        "defaulted": [row["expired"] for row in rows],
        "late": [row["late"] for row in rows],
        "overridden": [row["overridden"] for row in rows],
    }
    changed = {}
    for name, given in values.items():
        column = getattr(table, name)
        if column is not None:
            changed[name] = column.copy()
            changed[name][places] = given
    return replace(table, **changed)

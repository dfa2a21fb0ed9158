"""Reader of logs by columns: tables of some rows at a time, with only the columns that are needed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.inputs.messages import short_repr, suggestion
from gyrfalcon.core.validation import check_whole
from gyrfalcon.logs.arrow_extra import import_pyarrow
from gyrfalcon.logs.parquet.arrow_values import further_columns
from gyrfalcon.logs.parquet.decoding import Decoder, Layout
from gyrfalcon.logs.parquet.parts import LogPart, parts_of
from gyrfalcon.logs.parquet.row_columns import arrow_of_rows
from gyrfalcon.logs.parquet.schema import CONTEXT, LogSchema, united, united_range

BATCH_ROWS = 2**16
_MOST_ROWS = 2**31
_COLUMNS = {
    "action": ("action",),
    "reward": ("reward",),
    "propensity": ("propensity",),
    "distribution": ("distribution",),
    "eligible": ("eligible",),
    "action_features": ("action_features",),
    "event_id": ("event_id",),
    "time": ("time",),
    "reward_time": ("reward_time",),
    "epoch": ("epoch",),
    "round": ("round",),
    "passive": ("phase",),
    "model": ("model",),
    "experiment": ("experiment",),
    "defaulted": ("defaulted", "expired"),
    "late": ("late",),
    "overridden": ("overridden", "shown"),
    "shadow": ("shadow",),
}
"""Columns of tables, and those of files that they come from, by the names of any format version."""
_BY_ELIGIBLE = frozenset(("distribution", "action_features"))
"""Columns whose lists are in the order of eligible actions."""


class LogReader:
    """Reads a log's decisions as tables of bounded size, in the order in which its files were opened.

    A reader knows what the log had when it was made: decisions that a bandit logs later are for another one.

    Parameters
    ----------
    path
        A folder that `LogWriter`, `Bandit(log=...)` or `simulate(..., keep_log=...)` has written, or one of
        its Parquet files.

    Raises
    ------
    ValueError, ImportError
        If there is no log, a file of it can't be read, or PyArrow is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from gyrfalcon import Bandit
    >>> folder = tempfile.mkdtemp()
    >>> bandit = Bandit(["red", "blue"], features=["age"], seed=1, log=folder)
    >>> decisions = bandit.decide_many([[20.0], [30.0], [40.0]])
    >>> reader = LogReader(folder)
    >>> reader
    LogReader(3 decisions, 2 actions, 1 feature)
    >>> [len(table) for table in reader.tables(["action", "reward"], batch_rows=2)]
    [2, 1]
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        import_pyarrow()
        self._source = os.fspath(path)
        self._parts = parts_of(Path(path))

    def __len__(self) -> int:
        return sum(part.n_rows - len(part.repeated) + len(part.rows) for part in self._parts)

    def __repr__(self) -> str:
        n, p = len(self), len(self.features)
        counts = f"{n} decision{'' if n == 1 else 's'}, {len(self.actions)} actions"
        return f"LogReader({counts}, {p} feature{'' if p == 1 else 's'})"

    @property
    def actions(self) -> tuple[Any, ...]:
        """Labels of all actions that the log's files name, as JSON has them."""
        return self._layout.schema.actions

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the shared features."""
        return self._layout.schema.features

    @property
    def action_features(self) -> tuple[str, ...]:
        """Names of the features of actions."""
        return self._layout.schema.action_features

    @property
    def reward_range(self) -> tuple[float, float] | None:
        """Lowest and highest possible reward, if all files know it."""
        return self._layout.schema.reward_range

    @property
    def cost(self) -> bool:
        """Whether rewards are costs."""
        return self._layout.schema.cost

    @property
    def schema(self) -> LogSchema:
        """What all files say of their rows, together; of a single file, all that it says."""
        return self._parts[0].schema if len(self._parts) == 1 else self._layout.schema

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that `tables` can read."""
        shared = [f"{CONTEXT}{name}" for name in self.features]
        return (*shared, *(name for name in _COLUMNS if name in self._layout.columns))

    def tables(
        self, columns: Iterable[str] | None = None, batch_rows: int = BATCH_ROWS
    ) -> Iterator[DecisionTable]:
        """Tables of the log's rows, each of at most `batch_rows`; one without rows for an empty log.

        Parameters
        ----------
        columns
            Columns to read, by the names of `DecisionTable`; "context.age" is one shared feature, and
            "contexts" all that is known of contexts. Others are empty: nan, -1 or None. None reads all.
        batch_rows
            Rows of a table at most.

        Raises
        ------
        ValueError
            If a name is unknown, or a file is damaged.
        """
        check_whole("batch_rows", batch_rows, below=_MOST_ROWS)
        wanted = self._wanted(columns)
        return self._read(wanted, batch_rows)

    def tables_with(
        self, further: Sequence[str], batch_rows: int = BATCH_ROWS
    ) -> Iterator[tuple[DecisionTable, dict[str, Any]]]:
        """Tables of Parquet files with all their columns, and further columns of the files by name.

        Parameters
        ----------
        further
            Names of columns that `DecisionTable` does not have; missing ones are nan.
        batch_rows
            Rows of a table at most.
        """
        for part in self._parts:
            decoder, wanted = self._decoder(part), self._wanted(None)
            for batch in part.batches(batch_rows, part.names or ()):
                yield decoder.table(batch, wanted, self._source), further_columns(batch, further)

    def _read(self, wanted: frozenset[str], batch_rows: int) -> Iterator[DecisionTable]:
        n_read = 0
        for part in self._parts:
            for table in self._tables_of(part, wanted, batch_rows):
                if len(table):
                    yield replace(table, source_row=np.arange(n_read, n_read + len(table)))
                n_read += len(table)
        if n_read == 0:
            yield self._empty(wanted)

    def _decoder(self, part: LogPart) -> Decoder:
        return Decoder(self._layout, self._layout.places(part.schema), part.path)

    def _tables_of(self, part: LogPart, wanted: frozenset[str], batch_rows: int) -> Iterator[DecisionTable]:
        decoder = self._decoder(part)
        if part.names is None:
            data = arrow_of_rows(part.rows, part.schema).combine_chunks()
            for batch in data.to_batches(batch_rows):
                yield decoder.table(batch, wanted, self._source)
            return
        physical = {name for one in wanted for name in _COLUMNS.get(one, (one,))}
        if not wanted.isdisjoint(_BY_ELIGIBLE):
            physical.add("eligible")
        first = 0
        for batch in part.batches(batch_rows, physical):
            table = decoder.table(batch, wanted, self._source)
            yield part.corrected(table, first)
            first += batch.num_rows

    def _empty(self, wanted: frozenset[str]) -> DecisionTable:
        import pyarrow as pa

        decoder = Decoder(self._layout, self._layout.places(self._layout.schema), Path(self._source))
        return decoder.table(pa.RecordBatch.from_pylist([], schema=pa.schema([])), wanted, self._source)

    def _wanted(self, columns: Iterable[str] | None) -> frozenset[str]:
        shared = [f"{CONTEXT}{name}" for name in self.features]
        contexts = {*shared, "eligible", "action_features"}
        if columns is None:
            return frozenset(_COLUMNS) | contexts
        if isinstance(columns, str):
            raise ValueError(f"columns is {columns!r}; give a list of names, as [{columns!r}].")  # noqa: TRY004 - as all settings
        wanted: set[str] = set()
        for name in columns:
            if name == "contexts":
                wanted |= contexts
            elif name in _COLUMNS or name in contexts:
                wanted |= {name, "eligible"} if name == "distribution" else {name}
            else:
                known = suggestion(name, [*_COLUMNS, "contexts", *shared])
                raise ValueError(f"column {short_repr(name)} is none of a log's; {known}")
        return frozenset(wanted)

    @cached_property
    def _layout(self) -> Layout:
        schemas = [part.schema for part in self._parts]
        if len({one.cost for one in schemas}) > 1:
            raise ValueError(
                f"{self._source} has files with rewards and files with costs; read the files one by one."
            )
        ranges = [one.reward_range for one in schemas]
        known = [one for one in ranges if one is not None]
        schema = LogSchema(
            tuple(united(one.actions for one in schemas)),
            tuple(united(one.features for one in schemas)),
            tuple(united(one.action_features for one in schemas)),
            united_range(known) if len(known) == len(ranges) else None,
            schemas[0].cost,
        )
        of_lines = {name for own in _COLUMNS.values() for name in own}
        names = set[str]().union(*(of_lines if one.names is None else one.names for one in self._parts))
        return Layout(schema, frozenset(one for one, own in _COLUMNS.items() if not names.isdisjoint(own)))

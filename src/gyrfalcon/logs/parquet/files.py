"""Parquet files of logged decisions: their contents, built in memory, and the rows of bandits in them."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gyrfalcon.logs.arrow_extra import import_pyarrow
from gyrfalcon.logs.lines.rows import Row
from gyrfalcon.logs.parquet.row_columns import arrow_of_rows, row_of_cells
from gyrfalcon.logs.parquet.schema import VERSION, LogSchema
from gyrfalcon.storage.atomic import write_atomically

GROUP_ROWS = 2**16
"""Rows of a row group: enough for calls not to matter, few enough to be read in little memory."""


def is_log_file(path: Path) -> bool:
    """Whether a Parquet file is one of a log folder, by its metadata; False if it can't be read."""
    try:
        metadata = import_pyarrow().read_metadata(path).metadata or {}
    except (OSError, ValueError):
        return False
    return VERSION in metadata


class ParquetContent:
    """Content of a Parquet file, which grows in memory a row group at a time.

    Parameters
    ----------
    schema
        Columns of the file's rows, with metadata.
    group_rows
        Rows of a row group.
    """

    def __init__(self, schema: Any, group_rows: int = GROUP_ROWS) -> None:
        self.schema, self._group_rows = schema, group_rows
        self._sink = io.BytesIO()
        # Features have few equal values: a dictionary of them costs time, and room as well.
        coded = [one.name for one in schema if _is_text(one.type) and one.name != "event_id"]
        self._writer = import_pyarrow().ParquetWriter(
            self._sink, schema, compression="zstd", use_dictionary=coded or False, write_page_checksum=True
        )
        self._waiting: list[Any] = []
        self._n_waiting = 0

    @property
    def n_bytes(self) -> int:
        """Bytes of the row groups so far."""
        return self._sink.tell()

    def takes(self, schema: Any) -> bool:
        """Whether rows with these columns may be added; those that they lack are null."""
        known = {one.name: one.type for one in self.schema}
        return schema.metadata == self.schema.metadata and all(
            known.get(one.name) == one.type for one in schema
        )

    def add(self, data: Any) -> None:
        """Add rows, which are written when there are enough for a row group."""
        self._waiting.append(_with_columns(data, self.schema))
        self._n_waiting += data.num_rows
        if self._n_waiting >= self._group_rows:
            self._write_groups(self._n_waiting - self._n_waiting % self._group_rows)

    def close(self) -> memoryview:
        """Write the rows that wait, and give the content of the file."""
        if self._n_waiting:
            self._write_groups(self._n_waiting)
        self._writer.close()
        return self._sink.getbuffer()

    def _write_groups(self, n_rows: int) -> None:
        import pyarrow as pa

        waiting = pa.concat_tables(self._waiting)
        self._writer.write_table(waiting.slice(0, n_rows), row_group_size=self._group_rows)
        rest = waiting.slice(n_rows)
        self._waiting, self._n_waiting = [rest] if rest.num_rows else [], rest.num_rows


def united_schema(first: Any, second: Any) -> Any:
    """The columns of both, where their rows are of one problem; else those of the second."""
    import pyarrow as pa

    if first is None or first.metadata != second.metadata:
        return second
    return pa.unify_schemas([first, second]).with_metadata(second.metadata)


def write_rows(path: Path, rows: list[Row], schema: LogSchema) -> None:
    """Write rows of bandits to a Parquet file in one step, readable for its owner alone."""
    data = arrow_of_rows(rows, schema)
    content = ParquetContent(data.schema)
    content.add(data)
    write_atomically(path, content.close(), private=True)


def opened(path: Path, footer: Any = None) -> Any:
    """A Parquet file, open for reading; `footer` is its own metadata, if it was read before.

    Raises
    ------
    ValueError
        If it is cut short or damaged.
    FileNotFoundError
        If there is none.
    """
    parquet = import_pyarrow()
    try:
        # A path would be looked up among remote file systems, for which buffers ahead of reading are as well.
        file = parquet.core.pa.OSFile(str(path))
        return parquet.ParquetFile(file, metadata=footer, page_checksum_verification=True, pre_buffer=False)
    except FileNotFoundError:
        raise
    except Exception as error:
        raise unreadable(path, error) from None


def schema_of(file: Any, path: Path) -> LogSchema:
    """What an open file says of its rows; ValueError if it is none of a log, or of a newer format."""
    try:
        arrow = file.schema_arrow
    except Exception as error:
        raise unreadable(path, error) from None
    return LogSchema.read(arrow.metadata, arrow.names, path)


def unreadable(path: Path, error: Exception) -> ValueError:
    """The error on a file that PyArrow can't read."""
    reason = " ".join(str(error).split()).rstrip(".")
    return ValueError(
        f"{path} can't be read as a Parquet file: {reason}. Take its last good copy, or remove it to go on."
    )


def read_rows(path: Path) -> list[Row]:
    """The rows of a Parquet file, equal to those that were written."""
    file = opened(path)
    schema = schema_of(file, path)
    try:
        cells: list[Mapping[str, Any]] = file.read().to_pylist()
    except Exception as error:
        raise unreadable(path, error) from None
    return [row_of_cells(one, schema, number) for number, one in enumerate(cells)]


def _with_columns(data: Any, schema: Any) -> Any:
    """The rows with all columns of a schema, in its order."""
    import pyarrow as pa

    if data.schema.equals(schema):
        return data
    missing = {one.name: one.type for one in schema if one.name not in data.column_names}
    columns = [
        pa.nulls(data.num_rows, missing[one.name]) if one.name in missing else data[one.name]
        for one in schema
    ]
    return pa.table(columns, schema=schema)


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_dictionary(kind))

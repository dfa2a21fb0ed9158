"""Lines of CSV files, in chunks of columns, so that files may be larger than memory."""

from __future__ import annotations

import csv
import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.logs.formats.chunks import Chunk

CHUNK_ROWS = 50_000
"""Number of records that are in memory at a time."""

_DELIMITERS = (",", ";", "\t", "|")
"""What files have between columns."""

_LONGEST_CELL = 2**30
"""Features of many actions in one cell are longer than what Python's reader takes by itself."""


def open_bytes(path: str | os.PathLike[str]) -> IO[bytes]:
    """A file to read, decompressed if its name ends with .gz."""
    if Path(path).suffix != ".gz":
        return Path(path).open("rb")
    unpacked: IO[bytes] = _Unpacked(path, "rb")  # type: ignore[assignment]
    return unpacked


class _Unpacked(gzip.GzipFile):
    """A file compressed with gzip, which says so where it is damaged."""

    def readline(self, size: int | None = -1) -> bytes:
        with self._damage_named():
            return super().readline(-1 if size is None else size)

    def read1(self, size: int = -1) -> bytes:
        with self._damage_named():
            return super().read1(size)

    @contextmanager
    def _damage_named(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(
                f"{self.name}: the file can't be decompressed ({str(error).rstrip('.')}); copy it once more, "
                "or take the .gz from its name if it is not compressed."
            ) from None


def csv_chunks(
    path: str | os.PathLike[str],
    *,
    delimiter: str = ",",
    chunk_rows: int = CHUNK_ROWS,
    keep: Callable[[str], bool] = bool,
) -> Iterator[Chunk]:
    """Chunks of a CSV file whose first line has the names of the columns; values stay text.

    Parameters
    ----------
    path
        The file, in UTF-8; it may be compressed with gzip.
    delimiter
        What separates columns.
    chunk_rows
        Number of records in a chunk.
    keep
        Which columns are kept, by name.

    Raises
    ------
    ValueError
        If a line has more or fewer values than there are columns, two columns have the same name, or a line
        can't be read.
    """
    with open_bytes(path) as file:
        text = io.TextIOWrapper(file, "utf-8-sig", newline="")
        yield from csv_chunks_of(text, os.fspath(path), delimiter=delimiter, chunk_rows=chunk_rows, keep=keep)


def csv_chunks_of(
    file: IO[str],
    source: str,
    *,
    delimiter: str = ",",
    chunk_rows: int = CHUNK_ROWS,
    keep: Callable[[str], bool] = bool,
) -> Iterator[Chunk]:
    """Chunks of an open CSV file, which messages call `source`."""
    if csv.field_size_limit() < _LONGEST_CELL:
        csv.field_size_limit(_LONGEST_CELL)
    records = _records(csv.reader(file, delimiter=delimiter, strict=True), source)
    header = next(records, None)
    if header is None:
        raise ValueError(f"{source} is empty; give a file whose first line has the names of its columns.")
    names = header[1]
    other = _other_delimiter(names, delimiter)
    if other is not None:
        raise ValueError(
            f"{source}: the first line is one column, {short_repr(names[0])}; give its separator, delimiter="
            f"{other!r} (on the command line --option delimiter={other!r})."
        )
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{source} has several columns {short_repr(twice)}; rename all but one of them.")
    rows = list(islice(records, chunk_rows))
    while True:
        yield _chunk(names, rows, source, keep)
        rows = list(islice(records, chunk_rows))
        if not rows:
            return


def _other_delimiter(names: list[str], delimiter: str) -> str | None:
    """What separates the columns of a first line that came out as one column; None if nothing else does."""
    if len(names) != 1:
        return None
    counts = {other: names[0].count(other) for other in _DELIMITERS if other != delimiter}
    most = max(counts, key=lambda other: counts[other])
    return most if counts[most] else None


def _chunk(
    names: list[str], rows: list[tuple[int, list[str]]], source: str, keep: Callable[[str], bool]
) -> Chunk:
    for line, cells in rows:
        if len(cells) != len(names):
            raise ValueError(
                f"{source}, line {line}: there are {len(cells)} values for {len(names)} columns; "
                "give one for each, with quotes around values that hold a separator."
            )
    columns = zip(*(cells for _, cells in rows), strict=True) if rows else ([] for _ in names)
    kept = {name: list(values) for name, values in zip(names, columns, strict=True) if keep(name)}
    numbers = np.array([line for line, _ in rows], dtype=np.int64)
    return Chunk(kept, numbers, source, "line", is_text=True)


def _records(reader: Any, source: str) -> Iterator[tuple[int, list[str]]]:
    """Non-empty records with the number of the line on which each one ends."""
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except (csv.Error, UnicodeDecodeError) as error:
            raise ValueError(
                f"{source}, line {reader.line_num + 1}: the line can't be read ({error}); "
                "give text in UTF-8 with values separated as in the first line."
            ) from None
        if cells:
            yield reader.line_num, cells

"""The results of one cell as a Parquet file, and how damage to it is found."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrfalcon import __version__
from gyrfalcon.experiments.sweeps.cell_tables import schema, table_of
from gyrfalcon.experiments.sweeps.content import as_text
from gyrfalcon.experiments.sweeps.grid import Cell, cell_key
from gyrfalcon.experiments.trace import Trace

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = 1
"""Changes when the columns do: files of different formats can't be one data set."""
_METADATA = b"gyrfalcon"


@dataclass(frozen=True)
class StoredCell:
    """What a file says it holds."""

    series: str
    first_replication: int
    n_replications: int
    version: str
    format: int = FORMAT

    @property
    def key(self) -> str:
        """The name that its file must have."""
        return cell_key(self.series, self.first_replication, self.n_replications)

    @property
    def replications(self) -> range:
        """Their numbers."""
        return range(self.first_replication, self.first_replication + self.n_replications)


def encoded(cell: Cell, trace: Trace) -> bytes:
    """The whole file; the same cell gives the same bytes."""
    import pyarrow.parquet as pq

    stored = StoredCell(cell.series, cell.first_replication, cell.n_replications, __version__)
    table = table_of(cell, trace)
    about = {**asdict(stored), "key": stored.key, "checksum": _checksum(table, stored)}
    buffer = io.BytesIO()
    # No statistics: readers skip rows by them, and the checksum would not see if they were damaged.
    pq.write_table(
        table.replace_schema_metadata({_METADATA: as_text(about)}),
        buffer,
        compression="zstd",
        write_statistics=False,
    )
    return buffer.getvalue()


def checked(content: bytes, name: str) -> StoredCell:
    """What a file of this name holds; ValueError with what is wrong if it is not whole, or not its own."""
    table = _read(content)
    about = _about(table)
    stored = StoredCell(**{field.name: about[field.name] for field in fields(StoredCell)})
    if table.schema != schema():
        raise ValueError("it has other columns than the results of a sweep.")
    if not about["key"] == stored.key == name:
        raise ValueError(f"it has another name than its content, which is cell {about['key']}.")
    if about["checksum"] != _checksum(table, stored):
        raise ValueError("its content does not match its checksum, so it was damaged after it was written.")
    return stored


def _read(content: bytes) -> pa.Table:
    import pyarrow.parquet as pq

    if not content:
        raise ValueError("it is empty.")
    try:
        table = pq.ParquetFile(io.BytesIO(content)).read()
        table.validate(full=True)  # a reader trusts what a file says of its texts
    except Exception as error:  # whatever it may stumble over in damaged bytes
        reason = [*str(error).strip().splitlines(), type(error).__name__][0].rstrip(".")
        raise ValueError(f"it can't be read as Parquet: {reason}.") from error
    return table


def _about(table: pa.Table) -> dict[str, Any]:
    try:
        about: dict[str, Any] = json.loads((table.schema.metadata or {})[_METADATA])
        lacking = {*(field.name for field in fields(StoredCell)), "key", "checksum"} - set(about)
    except (KeyError, ValueError, TypeError):
        raise ValueError("it was not written by a sweep.") from None
    if lacking:
        raise ValueError("it does not say which cell it holds.")
    if about["format"] != FORMAT:
        raise ValueError(f"it has the format {about['format']}, and this gyrfalcon writes {FORMAT}.")
    return about


def _checksum(table: pa.Table, stored: StoredCell) -> str:
    """The digest of all values and of what they are said to be, however Parquet lays them out."""
    digest = sha256(as_text(asdict(stored)).encode())
    whole = table.unify_dictionaries().combine_chunks()
    for name, column in zip(whole.column_names, whole.columns, strict=True):
        digest.update(name.encode())
        for chunk in column.chunks:
            for part in _bytes_of(chunk):
                digest.update(part)
    return digest.hexdigest()


def _bytes_of(column: pa.Array) -> Iterator[bytes]:
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        yield from _bytes_of_texts(column.indices, column.dictionary)
        return
    zero = False if pa.types.is_boolean(column.type) else 0
    yield np.asarray(column.is_valid()).tobytes()
    yield np.asarray(column.fill_null(zero)).tobytes()


def _bytes_of_texts(indices: pa.Array, texts: pa.Array) -> Iterator[bytes]:
    """Texts in the order in which they first occur, then which one each row has: no text is repeated."""
    codes = np.asarray(indices.fill_null(-1))
    used, first, rows = np.unique(codes, return_index=True, return_inverse=True)
    order = first.argsort()
    known = texts.to_pylist()
    yield as_text([known[code] if code >= 0 else None for code in used[order].tolist()]).encode()
    yield order.argsort()[rows].astype("<i8").tobytes()

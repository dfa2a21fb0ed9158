"""The results of one cell as a Parquet file, and how damage to it is found."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from gyrfalcon import __version__
from gyrfalcon.experiments.sweeps.cell_tables import schema, table_of
from gyrfalcon.experiments.sweeps.content import as_text
from gyrfalcon.experiments.sweeps.grid import Cell, cell_key
from gyrfalcon.experiments.trace import Trace

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = 2
"""Changes when the columns or the checksum do: files of different formats can't be one data set."""
_METADATA = b"gyrfalcon"
_BLANK = b"0" * 64
"""What stands in the checksum's place while it is computed."""


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
    about = {**asdict(stored), "key": stored.key, "checksum": _BLANK.decode()}
    buffer = io.BytesIO()
    # No statistics: all rows are of one cell, so that no reader could skip the file by them.
    pq.write_table(
        table_of(cell, trace).replace_schema_metadata({_METADATA: as_text(about)}),
        buffer,
        compression="zstd",
        write_statistics=False,
    )
    return _sealed(buffer.getvalue())


def checked(content: bytes, name: str) -> StoredCell:
    """What a file of this name holds; ValueError with what is wrong if it is not whole, or not its own."""
    if not content:
        raise ValueError("it is empty.")
    columns, metadata = _footer(content)
    about = _about(metadata)
    stored = StoredCell(**{field.name: about[field.name] for field in fields(StoredCell)})
    if columns != schema():
        raise ValueError("it has other columns than the results of a sweep.")
    if not about["key"] == stored.key == name:
        raise ValueError(f"it has another name than its content, which is cell {about['key']}.")
    if not _is_intact(content, str(about["checksum"])):
        raise ValueError("its content does not match its checksum, so it was damaged after it was written.")
    return stored


def _sealed(content: bytes) -> bytes:
    """The file with the digest of all its bytes in the place of zeros.

    Parquet keeps the schema twice; in Arrow's own copy, which is written in base 64, the zeros stay.
    """
    place = content.rindex(_BLANK)
    return _with(content, place, sha256(content).hexdigest().encode())


def _is_intact(content: bytes, checksum: str) -> bool:
    """Whether all bytes are those that were sealed: readers differ in which ones they look at."""
    place = content.rfind(checksum.encode()) if len(checksum) == len(_BLANK) else -1
    return place >= 0 and sha256(_with(content, place, _BLANK)).hexdigest() == checksum


def _with(content: bytes, place: int, part: bytes) -> bytes:
    return content[:place] + part + content[place + len(part) :]


def _footer(content: bytes) -> tuple[pa.Schema, Mapping[bytes, bytes]]:
    import pyarrow.parquet as pq

    try:
        found = pq.read_metadata(io.BytesIO(content))
        return found.schema.to_arrow_schema(), found.metadata or {}
    except Exception as error:  # whatever it may stumble over in damaged bytes
        reason = [*str(error).strip().splitlines(), type(error).__name__][0].rstrip(".")
        raise ValueError(f"it can't be read as Parquet: {reason}.") from error


def _about(metadata: Mapping[bytes, bytes]) -> dict[str, Any]:
    try:
        about: dict[str, Any] = json.loads(metadata[_METADATA])
        lacking = {*(field.name for field in fields(StoredCell)), "key", "checksum"} - set(about)
    except (KeyError, ValueError, TypeError):
        raise ValueError("it was not written by a sweep.") from None
    if lacking:
        raise ValueError("it does not say which cell it holds.")
    if about["format"] != FORMAT:
        raise ValueError(f"it has the format {about['format']}, and this gyrfalcon writes {FORMAT}.")
    return about

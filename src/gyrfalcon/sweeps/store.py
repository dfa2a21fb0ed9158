"""A folder of results: one Parquet data set, a file for each finished cell, each whole or not there at all.

`pandas.read_parquet(folder)`, `polars.read_parquet(folder)` and `pyarrow.dataset.dataset(folder)` read it.
A Parquet file that is damaged or foreign would be read with the results, so that it is set aside in a folder
beside them, named `<folder>.set-aside`, with a note on what was wrong. Everything else is left alone. Some
readers stumble over other files in a folder, or over a hidden one that a sweep is just writing: let them read
`<folder>/*.parquet`.

Two sweeps may write into one folder at the same time. A file appears under its name by being renamed, and
what has the same name has the same content, so that it does not matter which of them comes last.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gyrfalcon import __version__
from gyrfalcon.simulation.trace import Trace
from gyrfalcon.storage.atomic import remove_leftovers, write_atomically
from gyrfalcon.sweeps.content_key import as_text
from gyrfalcon.sweeps.grid import Cell, cell_key
from gyrfalcon.sweeps.tables import schema, table_of

if TYPE_CHECKING:
    import pyarrow as pa


_RESULT = re.compile(r"[0-9a-f]{32}\.parquet")
_TRIES = 3


@dataclass(frozen=True)
class SetAside:
    """A file that was found in the results and did not belong there: where it is now, and what was wrong."""

    file: str
    moved_to: str
    reason: str

    def __str__(self) -> str:
        return f"{self.file} was set aside as {self.moved_to}: {self.reason}"


@dataclass(frozen=True)
class Inventory:
    """What a folder holds: whole cells by their series, no replication twice; and what else there was."""

    cells: dict[str, tuple[StoredCell, ...]]
    set_aside: tuple[SetAside, ...]
    left_alone: tuple[Path, ...]
    """Files and folders that are not Parquet files, still where they were."""


class Store:
    """A folder of results, made if it is not there; ValueError if it is in use for something else."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder).resolve()
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"{self.folder} is not a folder; give one for the results.")
        self.folder.mkdir(parents=True, exist_ok=True)
        self._check_use()

    def path(self, key: str) -> Path:
        """Where the results of a cell are, or will be."""
        return self.folder / f"{key}.parquet"

    def put(self, key: str, content: bytes) -> None:
        """Store the results of a cell for good; OSError, and nothing left behind, if that is not possible."""
        for _ in range(_TRIES):
            # Its temporary file is gone only if another machine has taken it for a leftover.
            with contextlib.suppress(FileNotFoundError):
                write_atomically(self.path(key), content)
                return
        raise FileNotFoundError(errno.ENOENT, "temporary files vanish from the folder", str(self.folder))

    def inventory(self) -> Inventory:
        """All that is stored, every byte of it checked; what is not whole is set aside."""
        remove_leftovers(self.folder)
        found: dict[str, list[StoredCell]] = {}
        aside: list[SetAside] = []
        candidates, others = self._sorted_out()
        for path in candidates:
            cell = self._checked(path, aside)
            if cell is not None:
                found.setdefault(cell.series, []).append(cell)
        cells = {series: tuple(self._once(stored, aside)) for series, stored in found.items()}
        return Inventory(cells, tuple(aside), tuple(others))

    def set_aside(self, path: Path, reason: str) -> SetAside | None:
        """Move a file out of the results, with a note; None if somebody else already has."""
        beside = self.folder.with_name(f"{self.folder.name}.set-aside")
        beside.mkdir(exist_ok=True)
        target = beside / f"{path.stem}-{secrets.token_hex(4)}{path.suffix}"
        try:
            shutil.move(path, target)
        except FileNotFoundError:
            return None
        note = SetAside(str(path), str(target), reason)
        with contextlib.suppress(OSError):  # the disk may be full, and the caller has the note as well
            target.with_name(f"{target.name}.txt").write_text(f"{note}\n")
        return note

    def _check_use(self) -> None:
        names = [path.name for path in self._visible()]
        if names and not any(_RESULT.fullmatch(name) for name in names):
            raise ValueError(
                f"{self.folder} holds {names[0]!r} and no results of a sweep; "
                "give a new or empty folder, or one with results."
            )

    def _visible(self) -> list[Path]:
        return sorted(path for path in self.folder.iterdir() if not path.name.startswith((".", "_")))

    def _sorted_out(self) -> tuple[list[Path], list[Path]]:
        """What is taken for results by its name, by this store or by readers; and what is not."""
        candidates: list[Path] = []
        others: list[Path] = []
        for path in self._visible():
            taken = _RESULT.fullmatch(path.name) or _is_parquet(path)
            (candidates if taken else others).append(path)
        return candidates, others

    def _checked(self, path: Path, aside: list[SetAside]) -> StoredCell | None:
        try:
            if not _RESULT.fullmatch(path.name) or not path.is_file():
                raise ValueError("it is no file of results by its name.")
            return checked(path.read_bytes(), path.stem)
        except FileNotFoundError:
            return None  # another sweep has just set it aside
        except ValueError as error:
            note = self.set_aside(path, str(error))
            aside.extend([note] if note else [])
            return None

    def _once(self, stored: list[StoredCell], aside: list[SetAside]) -> Iterator[StoredCell]:
        """The cells of a series, of those that overlap the first: readers of the folder would count both."""
        last = 0
        for cell in sorted(stored, key=lambda one: (one.first_replication, -one.n_replications)):
            if cell.first_replication >= last:
                last = cell.replications.stop
                yield cell
                continue
            note = self.set_aside(self.path(cell.key), "some of its replications are stored in another file.")
            aside.extend([note] if note else [])


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() == ".parquet" and path.is_file()


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
        """The numbers of the replications."""
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

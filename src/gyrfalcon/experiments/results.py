"""A folder of results: one Parquet data set, a file for each finished cell, each whole or not there at all.

`pandas.read_parquet(folder)`, `polars.read_parquet(folder)` and `pyarrow.dataset.dataset(folder)` read it.
Some of them read whatever they find in a folder, so that nothing else may stay there: what is damaged or
foreign is set aside in a folder beside it, named `<folder>.set-aside`, with a note on what was wrong. While
a sweep is writing there may be a hidden file for a moment: read `<folder>/*.parquet` then.

Two sweeps may write into one folder at the same time. A file appears under its name by being renamed, and
what has the same name has the same content, so that it does not matter which of them comes last.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gyrfalcon.experiments.cell_files import StoredCell, checked

_RESULT = re.compile(r"[0-9a-f]{32}\.parquet")
_PART = re.compile(r"\.(?P<host>.*)-(?P<pid>\d+)-[0-9a-f]{16}\.gyrfalcon-part")
_LONG_AGO = 3600.0
"""Seconds after which a temporary file is a leftover, even of another machine: writing one takes moments."""
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
    """What a folder holds: whole cells by their series, no replication twice, and what was set aside."""

    cells: dict[str, tuple[StoredCell, ...]]
    set_aside: tuple[SetAside, ...]


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
                self._write(self.path(key), content)
                _sync(self.folder)
                return
        raise FileNotFoundError(errno.ENOENT, "temporary files vanish from the folder", str(self.folder))

    def inventory(self) -> Inventory:
        """All that is stored, every byte of it checked; what is not whole is set aside."""
        self._remove_leftovers()
        found: dict[str, list[StoredCell]] = {}
        aside: list[SetAside] = []
        for path in self._visible():
            cell = self._checked(path, aside)
            if cell is not None:
                found.setdefault(cell.series, []).append(cell)
        cells = {series: tuple(self._once(stored, aside)) for series, stored in found.items()}
        return Inventory(cells, tuple(aside))

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

    def _write(self, path: Path, content: bytes) -> None:
        name = f".{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(8)}.gyrfalcon-part"
        temporary = self.folder / name
        try:
            with temporary.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise

    def _remove_leftovers(self) -> None:
        for path in self.folder.glob(".*.gyrfalcon-part"):
            with contextlib.suppress(OSError):
                if _is_leftover(path):
                    path.unlink()


def _is_leftover(path: Path) -> bool:
    """Whether the process that was writing this file is gone."""
    if time.time() - path.stat().st_mtime > _LONG_AGO:
        return True
    match = _PART.fullmatch(path.name)
    if match is None or match["host"] != socket.gethostname() or os.name != "posix":
        return False
    return not _is_running(int(match["pid"]))


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it is somebody else's
    return True


def _sync(folder: Path) -> None:
    # Without this a power cut may forget the rename; some systems can't open folders, and lose nothing else.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

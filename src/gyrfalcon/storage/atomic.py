"""Atomic writes of files, and removal of temporary files that killed processes left behind."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import socket
import time
from pathlib import Path

_PART = re.compile(r"\.(?P<host>.*)-(?P<pid>\d+)-[0-9a-f]{16}\.gyrfalcon-part")
_LONG_AGO = 3600.0
"""Seconds after which a temporary file counts as left behind, even by another machine."""


def write_atomically(
    path: Path, content: str | bytes | memoryview, *, private: bool = False, synced: bool = True
) -> None:
    """Write a file in one step: after a crash the path holds the old file or the new one.

    A new file gets the permissions of any new file (the umask), or the owner's alone if it is `private`. A
    replaced one keeps those it had. What is not `synced` may be lost in a power cut.
    """
    path = path.resolve()  # a link stays a link, and its target is replaced
    if path.exists() and not path.is_file():
        kind = errno.EISDIR if path.is_dir() else errno.EINVAL
        raise OSError(kind, "the path is not that of a file", str(path))
    temporary = path.with_name(_part_name())
    try:
        _write_through(temporary, content.encode() if isinstance(content, str) else content, private, synced)
        if path.exists():
            temporary.chmod(path.stat().st_mode & 0o7777)
        temporary.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            error.filename = str(path)  # a temporary name says nothing, and a full disk names no file
        raise
    if synced:
        _sync_folder(path.parent)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of processes that no longer run."""
    for path in folder.glob(".*.gyrfalcon-part"):
        with contextlib.suppress(OSError):
            if _is_leftover(path):
                path.unlink()


def _part_name() -> str:
    """Name of a temporary file, with the host and process that write it."""
    return f".{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(8)}.gyrfalcon-part"


def _write_through(path: Path, content: bytes | memoryview, private: bool, synced: bool) -> None:
    path.touch(0o600 if private else 0o666, exist_ok=False)
    with path.open("r+b") as file:
        file.write(content)
        if synced:
            file.flush()
            os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    # Without this a power cut may forget the rename; some systems can't open folders, and lose nothing else.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _is_leftover(path: Path) -> bool:
    """Whether the process that was writing this file no longer runs."""
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
        return True  # a process of another user
    return True

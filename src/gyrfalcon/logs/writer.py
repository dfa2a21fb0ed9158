"""Writer of a decision log: lines are appended to a file, and to the next one when that is large."""

from __future__ import annotations

import contextlib
import os
import threading
import warnings
from collections.abc import Callable

from gyrfalcon.logs.lines.folder import LogFolder, new_file, text_of, unlock
from gyrfalcon.logs.lines.rows import Line


class LineWriter:
    """Appends lines to files of one process in a folder.

    Every line is written whole by one call of the operating system, so that a killed process leaves at most
    its last line cut off, which readers leave out. No two processes share a file.

    Parameters
    ----------
    folder
        The folder and its settings.
    header
        The first line of the first file.
    """

    def __init__(self, folder: LogFolder, header: Line) -> None:
        self._folder = folder
        self._file, self._process = -1, 0
        self._compaction: threading.Thread | None = None
        self._open(header)

    def write(self, line: Line, header: Callable[[], Line]) -> None:
        """Append a line, to a new file with this header where one is due; OSError if the disk is full."""
        text = text_of(line)
        is_elsewhere = self._process != os.getpid()  # after a fork, a child has a file of its own
        if is_elsewhere or os.fstat(self._file).st_size + len(text) > self._folder.max_bytes:
            self._open(header())
        _append(self._file, text)

    def _open(self, header: Line) -> None:
        """Go on in a new file, which replaces the one so far when its header is written."""
        file, path = new_file(self._folder.path)
        try:
            _append(file, text_of(header))
        except BaseException:
            os.close(file)
            path.unlink()
            raise
        self._close()
        self._file, self._process = file, os.getpid()
        if self._folder.format == "parquet":
            self._compact()

    def _close(self) -> None:
        if self._file < 0:
            return
        with contextlib.suppress(OSError):
            if self._process == os.getpid():
                unlock(self._file)  # a child may have the same file open
            os.close(self._file)
        self._file = -1

    def _compact(self) -> None:
        """Turn files that are closed into Parquet files, in another thread."""
        if self._compaction is None or not self._compaction.is_alive():
            self._compaction = threading.Thread(target=_compacted, args=(self._folder,), daemon=True)
            self._compaction.start()

    def __del__(self) -> None:
        self._close()


def _append(file: int, text: bytes) -> None:
    size = os.fstat(file).st_size
    if os.write(file, text) < len(text):
        os.ftruncate(file, size)
        raise OSError("the disk is full")


def _compacted(folder: LogFolder) -> None:
    from gyrfalcon.logs.compaction import compact_decision_log

    try:
        compact_decision_log(folder.path)
    except Exception as error:
        message = f"Closed files of the decision log stay as they are: {str(error).rstrip('.')}."
        warnings.warn(message, RuntimeWarning, stacklevel=2)

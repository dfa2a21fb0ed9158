"""Writer of tables of decisions: Parquet files of bounded size, each put in place in one step."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.validation import check_at_least
from gyrfalcon.frames import Values
from gyrfalcon.logs.arrow_extra import import_pyarrow
from gyrfalcon.logs.lines.folder import MIN_BYTES, new_name
from gyrfalcon.logs.parquet.encoding import arrow_table
from gyrfalcon.logs.parquet.files import GROUP_ROWS, ParquetContent, united_schema
from gyrfalcon.logs.parquet.schema import LogSchema, SimulatedRows, Uniforms
from gyrfalcon.storage.atomic import remove_leftovers, write_atomically

_NUMBERS = 2**23
"""Numbers in a row group at most."""


class LogWriter:
    """Writes tables of decisions to a folder as Parquet files, for `LogReader` and `read_log`.

    Rows wait in memory until a file of them has `max_bytes`; it is then written under a temporary name and
    renamed, so that a process that is killed loses no file that was closed and leaves no half of one. Any
    number of writers may share a folder, also with live bandits.

    Parameters
    ----------
    folder
        The folder; it is made if it is not there.
    max_bytes
        Size from which on a file is closed.
    uniforms
        What drew the actions, for audits.
    simulated
        Which replications of a simulation the rows are; None for other rows.

    Raises
    ------
    ValueError, ImportError
        If a setting is not valid, or PyArrow is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from gyrfalcon.logs import DecisionTable, LogReader
    >>> folder = tempfile.mkdtemp()
    >>> with LogWriter(folder) as writer:
    ...     writer.append(
    ...         DecisionTable.of(actions=["a", "b"], action=["b"], reward=[1.0], propensity=[0.5])
    ...     )
    >>> LogReader(folder)
    LogReader(1 decision, 2 actions, 0 features)
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        max_bytes: int = 2**25,
        uniforms: Uniforms = "unknown",
        simulated: SimulatedRows | None = None,
    ) -> None:
        check_at_least("max_bytes", max_bytes, MIN_BYTES)
        import_pyarrow()
        self._folder, self._max_bytes = Path(folder), max_bytes
        self._uniforms, self._simulated = uniforms, simulated
        self._about: dict[str, Any] | None = None
        self._columns: Any = None
        self._content: ParquetContent | None = None
        self._closed: tuple[Path, memoryview] | None = None
        self._written: list[Path] = []
        self._n_rows = 0
        _made(self._folder)
        remove_leftovers(self._folder)

    @property
    def n_rows(self) -> int:
        """Number of rows that were appended."""
        return self._n_rows

    def append(self, table: DecisionTable, others: Mapping[str, Values] | None = None) -> None:
        """Add the rows of a table.

        Parameters
        ----------
        table
            The rows. Where their actions, features or columns are others than before, a new file begins.
        others
            Further columns by name.

        Raises
        ------
        ValueError
            If two labels of actions are the same text.
        OSError
            If the disk is full. Rows up to `n_rows` were added and wait for the next attempt, later ones not.
        """
        for first in range(0, max(len(table), 1), step := _rows_at_once(table)):
            self._append(table.take(slice(first, first + step)), others, slice(first, first + step))

    def _append(self, part: DecisionTable, others: Mapping[str, Values] | None, rows: slice) -> None:
        """Add rows that make one row group at most."""
        further = {name: column[rows] for name, column in (others or {}).items()}
        schema = LogSchema.of(part, self._uniforms, self._simulated, self._versions())
        data = arrow_table(part, schema, further)
        content = self._content
        if content is not None and (content.n_bytes >= self._max_bytes or not content.takes(data.schema)):
            self.flush()
        if self._content is None:
            self._columns = united_schema(self._columns, data.schema)
            self._content = ParquetContent(self._columns, _rows_at_once(part))
        self._content.add(data)
        self._n_rows += len(part)

    def _versions(self) -> dict[str, Any]:
        from gyrfalcon.engine.fingerprint import fingerprint

        if self._about is None:
            self._about = fingerprint().to_dict()
        return self._about

    def flush(self) -> None:
        """Write the rows that wait in memory to a file of their own; OSError if the disk is full."""
        if self._content is not None and self._closed is None:
            self._closed = self._folder / f"{new_name()}.parquet", self._content.close()
        if self._closed is None:
            return
        path, content = self._closed
        try:
            write_atomically(path, content, private=True)
        except OSError as error:
            reason = (
                f"{error.strerror}, so the rows of this file wait in memory, and closed files are untouched; "
                "free space, and append or close again"
            )
            raise OSError(error.errno, reason, os.fspath(path)) from error
        self._written.append(path)
        self._content = self._closed = None

    def close(self) -> None:
        """Write what waits in memory; OSError if the disk is full, and `close` may then be called again."""
        self.flush()

    def discard(self) -> None:
        """Remove the files that this writer has closed, and forget the rows that wait."""
        for path in self._written:
            path.unlink(missing_ok=True)
        self._written, self._content, self._closed = [], None, None

    def __enter__(self) -> LogWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
            return
        with contextlib.suppress(OSError):  # the first error is the one to see
            self.close()


def _made(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file; give a folder.")
    folder.mkdir(parents=True, exist_ok=True)


def _rows_at_once(table: DecisionTable) -> int:
    """Rows of a row group: fewer where there are many actions or features."""
    per_row = 1 + len(table.features) + table.n_actions * (1 + len(table.action_features))
    return max(1, min(GROUP_ROWS, _NUMBERS // per_row))

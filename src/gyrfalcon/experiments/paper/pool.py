"""Work shared out to processes: results in the order of the work, whoever did it and whenever."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

from gyrfalcon.experiments.paper.exhibit import Piece

OnPiece = Callable[[int, int, str], object]
"""Told how many pieces are done, of how many, and what the last one belongs to."""


class Task(NamedTuple):
    """A piece of work and what it belongs to."""

    title: str
    piece: Piece


class PieceFailedError(RuntimeError):
    """A piece of work failed; the message says which, and why."""


def run_all(tasks: Sequence[Task], jobs: int | None, on_piece: OnPiece) -> list[Any]:
    """What each task returns; on all cores if `jobs` is None."""
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    results: list[Any] = [None] * len(tasks)
    try:
        with closing(_outcomes(tasks, jobs)) as outcomes:
            for done, (number, result) in enumerate(outcomes, start=1):
                results[number] = result
                on_piece(done, len(tasks), tasks[number].title)
    except TerminatedWorkerError as error:
        raise PieceFailedError(
            "a worker process was killed, most often because memory ran out; use fewer jobs, or free memory."
        ) from error
    return results


def _outcomes(tasks: Sequence[Task], jobs: int | None) -> Generator[tuple[int, Any], None, None]:
    """Each task's number and result, as soon as there is one."""
    from joblib import Parallel, delayed, parallel_config

    # One thread of linear algebra each: processes that all start threads only wait for each other.
    with parallel_config("loky", n_jobs=jobs or -1, inner_max_num_threads=1):
        # One task at a time: a batch would hide what is done, and leave the other workers idle at the end.
        workers = Parallel(return_as="generator_unordered", batch_size=1)
    with _deaf_children():
        outcomes = workers(delayed(_outcome)(number, task) for number, task in enumerate(tasks))
    with closing(outcomes):
        yield from outcomes


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Let processes that are started here ignore Ctrl-C, which reaches all processes of a terminal at once.

    The one that shared out the work answers for all, and ends the others.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set this, and only it hears of Ctrl-C
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _outcome(number: int, task: Task) -> tuple[int, Any]:
    try:
        return number, task.piece()
    except Exception as error:
        reason = str(error).rstrip(".") or type(error).__name__
        raise PieceFailedError(f"{task.title}: a part of its work failed: {reason}.") from error

"""Work shared out to processes of this machine: the same results whoever does it, and however many.

Every piece is done with one thread of linear algebra. The last digits of a product of wide matrices depend on
the number of threads, and processes that all start threads of their own only wait for each other.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, NamedTuple, TypeVar

Result = TypeVar("Result")
Numbered = Generator[tuple[int, Result], None, None]
OnPiece = Callable[[int, int, str], object]
"""Callback of progress: how many pieces are done, of how many, and what the last one belongs to."""


class Task(NamedTuple):
    """A piece of work and what it belongs to."""

    title: str
    piece: Callable[[], Any]


class PieceFailedError(RuntimeError):
    """A piece of work failed; the message says which, and why."""


class WorkerKilledError(PieceFailedError):
    """A worker process was killed."""


def run_all(tasks: Sequence[Task], jobs: int | None, on_piece: OnPiece) -> list[Any]:
    """What each task returns, in their order; on all cores if `jobs` is None."""
    results: list[Any] = [None] * len(tasks)
    with closing(completed((task.piece for task in map(_Named, tasks)), jobs or -1)) as running:
        for done, (number, result) in enumerate(running, start=1):
            results[number] = result
            on_piece(done, len(tasks), tasks[number].title)
    return results


def completed(work: Iterable[Callable[[], Result]], jobs: int) -> Numbered[Result]:
    """Each piece's place and result, as soon as there is one; close it to stop all work at once.

    One job works in this process, and -1 is one process per core.

    >>> list(completed([lambda: "a", lambda: "b"], jobs=1))
    [(0, 'a'), (1, 'b')]
    """
    if jobs != 1:
        yield from _shared_out(work, jobs)
        return
    for number, piece in enumerate(work):
        with one_thread():
            result = piece()
        yield number, result


@contextmanager
def one_thread() -> Iterator[None]:
    """Linear algebra with one thread, here and in all other threads of this process, until all have left."""
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()


class _Limit:
    """The limit of a process: set by who comes first, lifted by who leaves last.

    The threads of a Dask worker compute side by side, and the libraries know only one number for all.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_inside = 0
        self._limits: Any = None

    def enter(self) -> None:
        import scipy.linalg.lapack  # noqa: F401 - its library must be loaded to be limited
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        with self._lock:
            if self._n_inside == 0:
                self._limits = threadpool_limits(1)
            self._n_inside += 1

    def leave(self) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                self._limits.restore_original_limits()


_LIMIT = _Limit()


class _Named:
    """A task whose failure names it."""

    def __init__(self, task: Task) -> None:
        self._task = task

    def piece(self) -> Any:
        """What the task returns."""
        try:
            return self._task.piece()
        except Exception as error:
            reason = str(error).rstrip(".") or type(error).__name__
            raise PieceFailedError(f"{self._task.title}: a part of its work failed: {reason}.") from error


def _shared_out(work: Iterable[Callable[[], Result]], jobs: int) -> Numbered[Result]:
    from joblib import Parallel, delayed, parallel_config
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    # Libraries that a worker loads only later have one thread, too.
    with parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1):
        # One piece at a time: a batch would hide what is done, and leave the other workers idle at the end.
        workers = Parallel(
            return_as="generator_unordered", batch_size=1, initializer=_settle, initargs=(os.getpid(),)
        )
    running: Any = None
    try:
        with _ignored_interrupts():
            running = workers(delayed(_done)(number, piece) for number, piece in enumerate(work))
        for numbered in running:  # noqa: UP028 - which would close it before the warnings are off
            yield numbered
    except TerminatedWorkerError as error:
        raise WorkerKilledError(
            "a worker process was killed, most often because memory ran out; use fewer jobs, or free memory."
        ) from error
    finally:
        with _quiet_cancellation():
            if running is not None:
                running.close()


@contextmanager
def _quiet_cancellation() -> Iterator[None]:
    """Keep silent that work is cancelled, which is no news to who has just stopped it.

    loky's manager may still reach for a piece that was handed over as the work ended; it then finds the piece
    gone, and its thread, which would have ended anyway, ends with a KeyError.
    """
    before = threading.excepthook

    def unless_cancelled(ended: threading.ExceptHookArgs) -> None:
        is_manager = ended.thread is not None and ended.thread.name == "ExecutorManagerThread"
        if not (is_manager and ended.exc_type is KeyError):
            before(ended)

    threading.excepthook = unless_cancelled
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*cancelled|.*not used", category=UserWarning)
            yield
    finally:
        threading.excepthook = before


def _done(number: int, piece: Callable[[], Result]) -> tuple[int, Result]:
    with one_thread():
        return number, piece()


@contextmanager
def _ignored_interrupts() -> Iterator[None]:
    """Let processes that are started here ignore Ctrl-C, which reaches all processes of a terminal at once.

    The one that shared out the work handles it for all, a moment later, and ends the others.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set this, and only it receives Ctrl-C
        return
    interrupts: list[object] = []
    before = signal.signal(signal.SIGINT, lambda *signals: interrupts.append(signals))
    try:
        with _blocked_interrupts():
            yield
    finally:
        signal.signal(signal.SIGINT, before)
        if interrupts:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def _blocked_interrupts() -> Iterator[None]:
    if sys.platform == "win32":
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # all workers share it, and its start lets interrupts through again
    # A handler ends where another program begins; what is blocked stays so in the processes started here.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _settle(parent: int) -> None:
    """Make this process a worker of its parent: it ignores Ctrl-C, and ends when that has ended."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    """End this process when its parent has ended: after a kill nothing takes its results."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)

"""Refits in two steps: an immutable job that any thread may compute, and its result, installed once.

While a job is computed, decisions go on by the epoch in play. The result is installed only if that epoch is
still in play, so that a change of the actions in the meantime makes the job void.
"""

from __future__ import annotations

import atexit
import math
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from queue import SimpleQueue
from time import monotonic, perf_counter, sleep
from typing import Literal

from gyrfalcon.bandit.setting_aside import Refused, refused_rows
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.records import Log
from gyrfalcon.engine.threads import short_turns
from gyrfalcon.engine.turnover import turn_over
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.learners.steps import Summing, Sums

RefitMode = Literal["background", "inline"]


@dataclass(frozen=True, slots=True)
class RefitJob:
    """A refit that is due: the epoch in play, the rows, and the round in which it became due."""

    learner: Learner
    epoch: Epoch
    rows: Log
    sums: Sums | None
    positions: frozenset[int]
    n_log_rows: int
    round: int
    hash_of: Callable[[Epoch], str | None]
    searches: bool = False  # for rows that the learner fails on

    def run(self) -> Epoch:
        """The next epoch, which depends on the job alone."""
        if self.sums is None or not isinstance(self.learner, Summing):
            return turn_over(self.learner, self.epoch, self.rows, self.round)
        sums = self.learner.sums(self.epoch, self.rows, self.sums) if len(self.rows) else self.sums
        return turn_over(self.learner, self.epoch, sums, self.round)


@dataclass(frozen=True, slots=True)
class Refitted:
    """The outcome of a job: the next epoch or the error, and the seconds that it took."""

    job: RefitJob
    epoch: Epoch | None
    error: Exception | None
    seconds: float
    model: str | None = None  # content hash of the epoch's decision rule, where it is computed beforehand
    refused: Refused | None = None

    @staticmethod
    def of(job: RefitJob) -> Refitted:
        """The outcome of a job, computed here."""
        start = perf_counter()
        try:
            epoch, error = job.run(), None
        except Exception as failure:
            epoch, error = None, failure
        refused = refused_rows(job) if job.searches and error is not None else None
        return Refitted(job, epoch, error, perf_counter() - start, refused=refused)


def _compute(job: RefitJob, done: Callable[[Refitted], None]) -> None:
    """Hand on the outcome of a job in another thread, where an exception such as SystemExit would be lost.

    The decision rule is hashed here, so that no decision waits for that.
    """
    with short_turns():
        try:
            outcome = Refitted.of(job)
            if outcome.epoch is not None:
                outcome = replace(outcome, model=job.hash_of(outcome.epoch))
        except BaseException as error:
            outcome = Refitted(job, None, RuntimeError(f"the learner raised {error!r}"), 0.0)
        done(outcome)


class _Task:
    """A job that a thread is to compute, and whether that is done."""

    __slots__ = ("done", "is_over", "job")

    def __init__(self, job: RefitJob, done: Callable[[Refitted], None]) -> None:
        self.job, self.done, self.is_over = job, done, False


class _Worker:
    """What a thread works through: tasks one at a time, until there is None."""

    __slots__ = ("has_ended", "tasks")

    def __init__(self) -> None:
        self.tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self.has_ended = False

    def run(self) -> None:
        """Compute tasks; between two of them nothing of a bandit is held in memory."""
        try:
            while (task := self.tasks.get()) is not None:
                try:
                    _compute(task.job, task.done)
                finally:
                    task.is_over = True
                del task
        finally:
            self.has_ended = True


class RefitThread:
    """One thread that computes the jobs of a bandit, one at a time.

    An exception from a signal may come at any instruction of the caller, and would leave locks of futures and
    conditions locked for good. A queue is written to in one step, and whoever waits looks again and again.
    """

    def __init__(self) -> None:
        self._worker: _Worker | None = None
        self._latest: _Task | None = None
        _THREADS.add(self)

    def submit(self, job: RefitJob, done: Callable[[Refitted], None]) -> None:
        """Compute a job beside the caller, and call `done` with its outcome in the computing thread."""
        worker = self._worker
        if worker is None or worker.has_ended:
            worker = _Worker()
            try:
                threading.Thread(target=worker.run, name=_NAME, daemon=True).start()
            except RuntimeError:  # while the interpreter shuts down; the rows are there for another time
                return
            self._worker = worker
        task = _Task(job, done)
        worker.tasks.put(task)
        self._latest = task  # last: who waits for a task must not wait for one that is not on its way

    @property
    def is_busy(self) -> bool:
        """Whether a job is computed, or waits for its turn."""
        return self._latest is not None and not self._latest.is_over

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the job under way has been installed, or the time is up."""
        if threading.current_thread().name == _NAME:
            return
        deadline = math.inf if seconds is None else monotonic() + seconds
        pause = _FIRST_LOOK
        while self.is_busy and (remaining := deadline - monotonic()) > 0.0:
            sleep(min(pause, remaining))
            pause = min(2.0 * pause, _LAST_LOOK)

    def __del__(self) -> None:
        if self._worker is not None:
            self._worker.tasks.put(None)


_NAME = "gyrfalcon-refit"
_FIRST_LOOK, _LAST_LOOK = 0.0001, 0.005
"""Seconds between two looks at a refit that is waited for: each look takes the interpreter from it."""
_THREADS: weakref.WeakSet[RefitThread] = weakref.WeakSet()


def _finish() -> None:
    """Let refits that are under way come to their end before the interpreter does."""
    for thread in list(_THREADS):
        thread.wait()


atexit.register(_finish)

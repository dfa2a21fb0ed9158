"""Refits in two steps: an immutable job that any thread may compute, and its result, installed once.

While a job is computed, decisions go on by the epoch in play. The result is installed only if that epoch is
still in play, so that a change of the actions in the meantime makes the job void.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from time import perf_counter
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


class RefitThread:
    """One thread that computes the jobs of a bandit, one at a time."""

    def __init__(self) -> None:
        self._executor: ThreadPoolExecutor | None = None
        self._future: Future[None] | None = None
        self._process = 0

    def submit(self, job: RefitJob, process: int, done: Callable[[Refitted], None]) -> None:
        """Compute a job beside the caller, and call `done` with its outcome in the computing thread."""
        if self._executor is None or self._process != process:  # threads do not survive a fork
            self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="gyrfalcon-refit")
            self._process = process
        self._future = self._executor.submit(_compute, job, done)

    @property
    def is_busy(self) -> bool:
        """Whether a job is computed, or waits for its turn."""
        return self._future is not None and not self._future.done()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the job under way has been installed, or the time is up."""
        if self._future is not None and threading.current_thread().name[:15] != "gyrfalcon-refit":
            wait([self._future], seconds)

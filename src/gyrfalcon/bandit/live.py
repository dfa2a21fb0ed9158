"""An engine behind a lock, whose refits run beside decisions: threads, forks, copies and interruptions."""

from __future__ import annotations

import math
import os
import threading
import weakref
from importlib import import_module
from time import monotonic
from typing import get_args

from gyrfalcon.bandit.engine import BanditEngine
from gyrfalcon.bandit.identity import IdSource
from gyrfalcon.bandit.refits import RefitJob, RefitMode, Refitted, RefitThread
from gyrfalcon.bandit.warning import warn_caller
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.engine.threads import blas_libraries

YIELD = 0.002
"""Seconds that a decision waits for a refit that is under way."""

_NEEDED_BY_REFITS = (
    "numpy.random",
    "scipy.linalg.lapack",
    "scipy.special",
    "gyrfalcon.storage.content_hash",
)

_LIVE: weakref.WeakSet[LiveEngine] = weakref.WeakSet()


class LiveEngine:
    """A bandit's engine for any number of threads: each call holds the lock, and completes what was cut off.

    Parameters
    ----------
    engine
        The running state.
    refit
        "background": a refit runs in a thread of its own, decisions go on by the epoch in play, and the next
        epoch is swapped in when it is ready. "inline": the call that makes a refit due computes it.
    """

    def __init__(self, engine: BanditEngine, refit: RefitMode) -> None:
        if refit not in get_args(RefitMode):
            raise ValueError(f"refit is {short_repr(refit)}; choose 'background' or 'inline'.")
        _import_what_refits_need()
        self.engine = engine
        self.refit = refit
        self.lock = threading.RLock()
        self._thread = RefitThread()
        self._submitted: RefitJob | None = None
        self._failure: Exception | None = None
        _LIVE.add(self)

    def completed(self) -> BanditEngine:
        """The engine, for the holder of the lock: what an exception has cut off is complete."""
        self.engine.complete()
        self.engine.deliver()
        return self.engine

    def advance(self) -> None:
        """Refit if that is due; a learner that fails inline raises its error."""
        with self.lock:
            if self.refit == "inline":
                self.engine.job = None  # an interrupted one: nobody else computes here
            self.engine.sum_rows()
            job = self.engine.due() or self.engine.job
            if job is None or (job is self._submitted and self._thread.is_busy):
                return
            if self.refit == "inline":
                self.engine.install(Refitted.of(job))
                if job.searches:  # without the rows that were set aside
                    self.advance()
            else:
                self._thread.submit(job, self._installed)
                self._submitted = job

    def advance_or_warn(self) -> None:
        """Refit if that is due; a learner that fails gives a warning, because decisions must go on."""
        failure, self._failure = self._failure, None
        try:
            self.advance()
        except Exception as error:
            failure = error
        if failure is not None:
            reason = f"{type(failure).__name__}: {str(failure).rstrip('.')}."
            message = " ".join([reason, *getattr(failure, "__notes__", [])])
            warn_caller(message)

    def give_way(self) -> None:
        """Let a refit that is under way compute for a moment.

        A program that decides without a pause would hardly let the other thread run, and decide by an old
        epoch for as long as it goes on.
        """
        if self.engine.job is not None and self.refit == "background":
            self._thread.wait(YIELD)

    def wait(self, seconds: float | None = None) -> None:
        """Wait until no refit is under way."""
        deadline = math.inf if seconds is None else monotonic() + seconds
        while self.refit == "background" and self._is_refitting():
            remaining = deadline - monotonic()
            if remaining <= 0.0:
                return
            self._thread.wait(None if seconds is None else remaining)

    def _is_refitting(self) -> bool:
        with self.lock:  # between two refits in a row, nobody sees that there is none
            if self.engine.job is not None and not self._thread.is_busy:
                self.advance_or_warn()  # an exception had come between
            return self.engine.job is not None

    def _installed(self, done: Refitted) -> None:
        with self.lock:
            self.engine.complete()
            try:
                self.engine.install(done)
                self.advance()
            except Exception as error:
                self._failure = error

    def _after_fork(self) -> None:
        """In a child process: the lock's owner and the computing thread are not there."""
        self.lock = threading.RLock()
        self._thread, self._submitted = RefitThread(), None
        self.engine.job, self.engine.ids = None, IdSource.elsewhere(self.engine.seed)


def _import_what_refits_need() -> None:
    """Import the modules of a first refit, so that no reward waits; `import gyrfalcon` alone stays light."""
    for module in _NEEDED_BY_REFITS:
        import_module(module)
    blas_libraries()  # looked up once


_HELD: list[LiveEngine] = []
_FORKING = threading.Lock()


def _before_fork() -> None:
    """Hold every lock, so that a child finds no state in the middle of a change."""
    _FORKING.acquire()  # two threads that fork at once must not release each other's locks
    for one in sorted(_LIVE, key=id):
        one.lock.acquire()
        _HELD.append(one)


def _in_parent() -> None:
    while _HELD:
        _HELD.pop().lock.release()
    _FORKING.release()


def _in_child() -> None:
    while _HELD:
        _HELD.pop()._after_fork()
    _FORKING.release()


if hasattr(os, "register_at_fork"):  # not on Windows, where there are no forks
    os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)

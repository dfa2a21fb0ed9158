"""Progress of a long command on stderr: a bar with the time left, or a log line every few seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

LOG_EVERY = 10.0
"""Seconds between lines where stderr is no terminal."""


class Tracker(Protocol):
    """Receives the progress of a command."""

    def advance(self, done: float) -> None:
        """Report this much more finished work."""

    def resize(self, total: float) -> None:
        """Set the total amount of work."""


@contextmanager
def progress(title: str, total: float, unit: str) -> Iterator[Tracker]:
    """A tracker of this much work; its bar is removed at the end."""
    if not sys.stderr.isatty():
        yield _Lines(title, total, unit)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TaskProgressColumn(),
        TextColumn(f"of {{task.total:,.0f}} {unit}", markup=False),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield _Bar(bar, bar.add_task(title, total=total))


def by_piece(tracker: Tracker) -> Callable[[int, int, str], None]:
    """A callback that advances the tracker by one for every finished piece of work."""

    def on_piece(done: int, total: int, title: str) -> None:
        del done, title
        tracker.resize(total)
        tracker.advance(1)

    return on_piece


class _Bar:
    def __init__(self, bar: Progress, task: TaskID) -> None:
        self._bar, self._task = bar, task

    def advance(self, done: float) -> None:
        self._bar.advance(self._task, done)

    def resize(self, total: float) -> None:
        self._bar.update(self._task, total=total)


class _Lines:
    """Prints a plain line every few seconds, because a log keeps all of them."""

    def __init__(self, title: str, total: float, unit: str) -> None:
        self._title, self._total, self._unit = title, total, unit
        self._done = 0.0
        self._started = self._logged = time.monotonic()

    def resize(self, total: float) -> None:
        self._total = total

    def advance(self, done: float) -> None:
        self._done += done
        now = time.monotonic()
        if now - self._logged >= LOG_EVERY and 0.0 < self._done < self._total:
            self._logged = now
            left = (now - self._started) * (self._total / self._done - 1.0)
            count = f"{self._done:,.0f} of {self._total:,.0f} {self._unit}"
            sys.stderr.write(f"{self._title}: {count}, about {left:,.0f} s left\n")
            sys.stderr.flush()

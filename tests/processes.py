"""Other processes in tests: started, waited for as long as a busy machine needs, and never left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

LIMIT = 600.0
"""Seconds after which whatever a test waits for hangs, rather than being slow."""


@contextmanager
def started(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A process in a session of its own, killed with all its workers if a test leaves it running."""
    with subprocess.Popen(command, text=True, start_new_session=True, **options) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def wait_until(holds: Callable[[], object]) -> None:
    """Return as soon as a condition holds."""
    deadline = time.monotonic() + LIMIT
    while not holds():
        assert time.monotonic() < deadline, f"this did not come about in {LIMIT:.0f} seconds"
        time.sleep(0.02)


def workers_of(parent: int) -> list[int]:
    """The worker processes of a process that shares out its work."""
    command = ["ps", "-A", "-ww", "-o", "pid=", "-o", "ppid=", "-o", "args="]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split(maxsplit=2) for line in listed.stdout.splitlines()]
    return [int(row[0]) for row in rows if int(row[1]) == parent and "LokyProcess" in row[2]]


def is_running(pid: int) -> bool:
    """Whether a process is there and not just waiting to be noticed."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(state.stdout.strip()) and not state.stdout.strip().startswith("Z")

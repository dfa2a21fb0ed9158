"""Tests of work shared out to processes, where it is stopped half-way."""

from __future__ import annotations

import threading
import time
from contextlib import closing
from functools import partial
from typing import Any

import pytest
from joblib.externals.loky import process_executor

from gyrfalcon.sweeps.processes import completed

GONE = 10**9
"""Number of a piece that the pool does not know."""


@pytest.mark.filterwarnings("error")
def test_work_stopped_while_a_piece_is_handed_over_ends_in_silence(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    manager: Any = process_executor._ExecutorManagerThread
    cancel = manager.flag_executor_shutting_down
    raced = threading.Event()

    def cancel_during_a_handover(thread: Any) -> None:
        cancel(thread)
        thread.work_ids_queue.put(GONE)
        raced.set()

    monkeypatch.setattr(manager, "flag_executor_shutting_down", cancel_during_a_handover)
    pieces = [partial(time.sleep, 0.0), *[partial(time.sleep, 60.0)] * 3]
    with closing(completed(pieces, jobs=2)) as running:
        assert next(running) == (0, None)
    assert raced.is_set()
    assert capfd.readouterr().err == ""


def test_failures_of_other_threads_are_told_while_work_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[type[BaseException] | None] = []

    def tell(ended: threading.ExceptHookArgs) -> None:
        told.append(ended.exc_type)

    monkeypatch.setattr(threading, "excepthook", tell)
    manager: Any = process_executor._ExecutorManagerThread
    cancel = manager.flag_executor_shutting_down

    def cancel_while_another_thread_fails(thread: Any) -> None:
        other = threading.Thread(target=partial(dict[str, int]().__getitem__, "missing"))
        other.start()
        other.join()
        cancel(thread)

    monkeypatch.setattr(manager, "flag_executor_shutting_down", cancel_while_another_thread_fails)
    with closing(completed([partial(time.sleep, 0.0), partial(time.sleep, 60.0)], jobs=2)) as running:
        next(running)
    assert told == [KeyError]
    assert threading.excepthook is tell

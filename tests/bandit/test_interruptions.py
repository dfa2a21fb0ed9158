"""An exception at any line, such as that of Ctrl-C: a call has no effect, or the next one completes it."""

from __future__ import annotations

import subprocess
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, cast

import pytest

import gyrfalcon.bandit
from gyrfalcon import Bandit
from gyrfalcon.bandit.clock import MonotonicClock
from gyrfalcon.bandit.journal import Record
from gyrfalcon.bandit.learner_changes import LaterLearner, own_learner
from gyrfalcon.bandit.live import LiveEngine
from gyrfalcon.bandit.snapshot import Snapshot
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.storage.class_ids import ClassIds
from gyrfalcon.storage.codec import Encoder
from tests.bandit.helpers import Clock, Recorder, batches, check_books

FOLDER = str(Path(gyrfalcon.bandit.__file__).parent)
Call = Callable[[Bandit], object]


class InterruptedCallError(BaseException):
    """Stands for KeyboardInterrupt, which would end the tests if one were let through."""


@cache
def lines_of(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines()


@contextmanager
def interrupted_at(n: int) -> Iterator[list[int]]:
    """Raise at the n-th line that is run inside the bandit; how many there were, if there were fewer.

    A signal's handler never runs between the last line inside a `with` and the release of its lock, so that
    lines of `with` are left out, which Python visits once more at their end.
    """
    count = [0]

    def local(frame: FrameType, kind: str, _: Any) -> Any:
        if kind == "line" and not lines_of(frame.f_code.co_filename)[frame.f_lineno - 1].strip().startswith(
            "with "
        ):
            count[0] += 1
            if count[0] == n:
                raise InterruptedCallError
        return local

    def everywhere(frame: FrameType, kind: str, _: Any) -> Any:
        return local if frame.f_code.co_filename.startswith(FOLDER) else None

    before = sys.gettrace()
    sys.settrace(everywhere)
    try:
        yield count
    finally:
        sys.settrace(before)


def add(label: str) -> Call:
    return lambda bandit: None if label in bandit.problem.actions else bandit.add_actions([label])


def retire(label: str) -> Call:
    return lambda bandit: bandit.retire_actions([label]) if label in bandit.problem.actions else None


def update(bandit: Bandit) -> None:
    problem = bandit.problem
    if any(9.0 in log.contexts.shared for log in rows_seen(bandit)):
        bandit.reward_many({})  # what was cut off goes on
    else:
        bandit.update(problem.log(problem.contexts([[9.0], [8.0]]), ["b", "c"], [1, 0], [0.5, 0.5]))


def change_learner(bandit: Bandit) -> None:
    learner = own_learner(bandit._live.engine.learner)
    assert isinstance(learner, Recorder)
    if learner.size == 3:
        bandit.change_learner(Recorder(2, learner.logs))


def rows_seen(bandit: Bandit) -> list[Any]:
    learner = own_learner(bandit._live.engine.learner)
    assert isinstance(learner, Recorder)
    return [*learner.logs, *bandit._live.engine.ledger.logs]


WITHOUT_TIMEOUT: list[Call | float] = [
    lambda bandit: bandit.decide([1.0], event_id="first"),
    lambda bandit: bandit.decide_many([[2.0], [3.0]], event_ids=["second", "third"]),
    lambda bandit: bandit.reward("second", 0.5),
    lambda bandit: bandit.reward_many({"first": 1.0, "third": 0.0}),
    add("c"),
    lambda bandit: bandit.decide([4.0], event_id="fourth"),
    lambda bandit: bandit.withdraw("fourth", shown=None),
    update,
    lambda bandit: bandit.decide_many([[5.0], [1.0]], event_ids=["fifth", "first"]),
    retire("a"),
    lambda bandit: bandit.reward("fifth", 0.25),
    lambda bandit: bandit.decide([6.0], event_id="sixth"),
    lambda bandit: bandit.reward("sixth", 0.75),
    lambda bandit: bandit.decide([7.0], event_id="seventh"),
    change_learner,
    lambda bandit: bandit.change_rules(reward_timeout=9.0, out_of_range="clip"),
    lambda bandit: bandit.change_rules(reward_timeout=None),
    lambda bandit: bandit.reward("seventh", 5.0),
]
WITH_TIMEOUT: list[Call | float] = [  # numbers are seconds that pass
    lambda bandit: bandit.decide_many([[2.0], [3.0]], event_ids=["first", "second"]),
    lambda bandit: bandit.reward("first", 0.5),
    5.0,
    lambda bandit: bandit.decide([2.0], event_id="third"),
    lambda bandit: bandit.reward("third", 1.0, final=True),
    5.0,
    lambda bandit: bandit.decide([3.0], event_id="fourth"),
    5.0,
    lambda bandit: bandit.decide_many([[1.0]] * 4, event_ids=["p", "q", "r", "s"]),
    lambda bandit: bandit.reward_many({"r": 1.0, "p": 0.5}),
    10.0,
    lambda bandit: bandit.reward_many({}),
    lambda bandit: bandit.decide([3.0], event_id="last"),
]


def bandit_of(timeout: float | None) -> Bandit:
    return Bandit(
        ["a", "b"],
        learner=Recorder(3),
        seed=1,
        on_duplicate="first",
        reward_timeout=timeout,
        default_reward=None if timeout is None else 0.0,
        max_pending=4,
        clock=Clock(),
    )


def restored(snapshot: Snapshot, now: float) -> tuple[Bandit, list[tuple[int, str]]]:
    """The bandit of a snapshot, and the records that it will deliver."""
    learner = own_learner(cast(Learner, snapshot.learner))
    assert isinstance(learner, Recorder)
    fresh: Learner = Recorder(learner.size, list(learner.logs))
    if isinstance(snapshot.learner, LaterLearner):
        fresh = replace(snapshot.learner, learner=fresh)
    clock = MonotonicClock(Clock(now), snapshot.clock_latest, snapshot.clock_offset)
    engine = replace(snapshot, learner=fresh).engine(clock)
    seen: list[tuple[int, str]] = []

    def sink(number: int, record: Record) -> None:
        if seen[-1:] != [(number, type(record).__name__)]:  # the last one may come again
            seen.append((number, type(record).__name__))

    engine.sink, engine.ledger.outbox = sink, deque()
    bandit = Bandit.__new__(Bandit)
    bandit._live = LiveEngine(engine, "inline")
    return bandit, seen


def after(call: Call, snapshot: Snapshot, now: float, n: int) -> tuple[Bandit, list[tuple[int, str]], int]:
    """The bandit after a call, which is made again where it is interrupted at line n."""
    bandit, seen = restored(snapshot, now)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with interrupted_at(n) as count:
                call(bandit)
        except InterruptedCallError:
            check_books(bandit)
            call(bandit)
    check_books(bandit)
    return bandit, seen, count[0]


def encoded(bandit: Bandit) -> str:
    """The state but for the learner, whose list of logs may have one twice, and the seconds of refits."""
    encoder = Encoder(ClassIds([Recorder]))
    snapshot = replace(Snapshot.of(bandit._live.completed(), "inline"), learner=None, refit_seconds=0.0)
    return repr((encoder.encode(snapshot), [array.tolist() for array in encoder.arrays]))


@pytest.mark.parametrize("stride", [9, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("timeout", [None, 10.0])
def test_any_line_may_be_interrupted_and_nothing_is_lost_or_counted_twice(
    timeout: float | None, stride: int
) -> None:
    snapshot, now, n_lines = Snapshot.of(bandit_of(timeout)._live.engine, "inline"), 1000.0, 0
    for number, call in enumerate(WITHOUT_TIMEOUT if timeout is None else WITH_TIMEOUT):
        if isinstance(call, float):
            now += call
            continue
        whole, records, n = after(call, snapshot, now, 0)
        expected = encoded(whole)
        for line in range(1 + number % stride, n + 1, stride):
            bandit, seen, _ = after(call, snapshot, now, line)
            assert encoded(bandit) == expected, (number, line)
            assert seen == records, (number, line)
        n_lines += n
        snapshot = Snapshot.of(whole._live.engine, "inline")
    assert n_lines > 2000
    assert snapshot.n_refits > 1


def test_a_refit_that_is_interrupted_is_made_by_the_next_call() -> None:
    learner = Recorder(2)
    bandit = Bandit(["a", "b"], learner=learner, seed=1)
    for _ in range(2):
        last = bandit.decide().event_id
        if bandit._live.engine.ledger.counts.n_decided == 1:
            bandit.reward(last, 1.0)

    class Stopping(list[Any]):
        def append(self, _: Any) -> None:
            raise InterruptedCallError

    logs, stopping = learner.logs, Stopping()
    object.__setattr__(learner, "logs", stopping)
    with pytest.raises(InterruptedCallError):
        bandit.reward(last, 1.0)
    assert bandit.epoch.index == 1
    object.__setattr__(learner, "logs", logs)
    assert bandit.decide().epoch == 2
    assert [len(log) for log in logs] == [2]


def test_many_rewards_are_all_credited_although_an_exception_comes_in_between() -> None:
    for n in range(1, 10_000):
        bandit = Bandit(["a", "b"], learner=batches(100), seed=1)
        ids = bandit.decide_many(n=3).event_id
        try:
            with interrupted_at(n):
                bandit.reward_many(dict.fromkeys(ids, 1.0))
        except InterruptedCallError:
            check_books(bandit)
            assert bandit.n_pending in (0, 3)
        else:
            break
    assert n > 50


@dataclass(frozen=True)
class WaitingLearner:
    """Epsilon-greedy whose refits wait until they may go on."""

    goes_on: threading.Event

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        return batches().start(problem, log)

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        assert self.goes_on.wait(60.0)
        return batches().next_epoch(epoch, log)

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        return batches().adapt(epoch, problem)


@contextmanager
def interrupted_anywhere_at(n: int) -> Iterator[list[int]]:
    """Raise at the n-th line that is run in any module of Python's or ours, also inside its locks."""
    count = [0]

    def local(frame: FrameType, kind: str, _: Any) -> Any:
        count[0] += kind == "line"
        if count[0] == n and kind == "line":
            raise InterruptedCallError
        return local

    before = sys.gettrace()
    sys.settrace(lambda frame, *_: None if frame.f_code.co_filename == __file__ else local)
    try:
        yield count
    finally:
        sys.settrace(before)


def test_an_exception_while_a_decision_waits_for_a_refit_does_not_stop_learning() -> None:
    """Before, the lock of a future could stay locked, and the thread that refits waited for it for good."""
    n, n_lines = 1, 10**9
    while n <= n_lines:
        learner = WaitingLearner(threading.Event())
        bandit = Bandit(["a", "b"], learner=learner, features=["x"], seed=1, refit="background")
        for _ in range(4):
            bandit.reward(bandit.decide([1.0]).event_id, 1.0)
        assert bandit.status().refit_is_running
        with suppress(InterruptedCallError), interrupted_anywhere_at(n):
            bandit._live.give_way()
            n_lines = n  # there were no more
        learner.goes_on.set()
        bandit.wait(30.0)
        for _ in range(4):
            bandit.reward(bandit.decide([1.0]).event_id, 1.0)
        bandit.wait(30.0)
        assert bandit.status().n_refits == 2, n
        check_books(bandit)
        n += 1
    assert n > 10


def test_a_reward_while_the_interpreter_shuts_down_is_credited() -> None:
    """Before, the thread that refits refused its work then, and so did the reward."""
    script = """
import atexit, threading, time
from gyrfalcon import Bandit, LinUCB, FixedBatch

bandit = Bandit(["a", "b"], learner=LinUCB(schedule=FixedBatch(2)), features=["x"], refit="background")

def play():
    for _ in range(6):
        bandit.reward(bandit.decide([0.5]).event_id, 1.0)
    print(bandit.status().n_final)

def later():
    threading.main_thread().join()
    play()

threading.Thread(target=later).start()
atexit.register(play)
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, check=False, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["6", "12"]

"""An exception at any line, such as that of Ctrl-C: a call has had no effect, or the next one completes it."""

from __future__ import annotations

import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import gyrfalcon.bandit
from gyrfalcon import Bandit
from gyrfalcon.bandit.journal import Record
from tests.bandit.helpers import Clock, Recorder, batches, bytes_of_engine, check_books

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
    if not any(9.0 in log.contexts.shared for log in rows_seen(bandit)):
        bandit.update(problem.log(problem.contexts([[9.0], [8.0]]), ["b", "c"], [1, 0]))


def rows_seen(bandit: Bandit) -> list[Any]:
    learner = bandit._live.engine.learner
    assert isinstance(learner, Recorder)
    return [*learner.logs, *bandit._live.engine.ledger.logs]


def later(seconds: float) -> Call:
    def call(bandit: Bandit) -> None:
        clock = bandit._live.engine.clock.source
        assert isinstance(clock, Clock)
        clock.now += seconds

    return call


WITHOUT_TIMEOUT: list[Call] = [
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
]
WITH_TIMEOUT: list[Call] = [
    lambda bandit: bandit.decide_many([[2.0], [3.0]], event_ids=["first", "second"]),
    lambda bandit: bandit.reward("first", 0.5),
    later(5.0),
    lambda bandit: bandit.decide([2.0], event_id="third"),
    lambda bandit: bandit.reward("third", 1.0, final=True),
    later(5.0),
    lambda bandit: bandit.decide([3.0], event_id="fourth"),
    later(5.0),
    lambda bandit: bandit.decide_many([[1.0]] * 4, event_ids=["p", "q", "r", "s"]),
    lambda bandit: bandit.reward_many({"r": 1.0, "p": 0.5}),
    later(10.0),
    lambda bandit: bandit.reward_many({}),
    lambda bandit: bandit.decide([3.0], event_id="last"),
]


def bandit_of(timeout: float | None) -> Bandit:
    bandit = Bandit(
        ["a", "b"],
        learner=Recorder(3),
        seed=1,
        on_duplicate="first",
        reward_timeout=timeout,
        default_reward=None if timeout is None else 0.0,
        max_pending=4,
        clock=Clock(),
    )
    bandit._live.engine.ledger.outbox = deque()
    return bandit


@pytest.mark.parametrize("timeout", [None, 10.0])
def test_every_line_may_be_interrupted_and_nothing_is_lost_or_counted_twice(timeout: float | None) -> None:
    calls = WITHOUT_TIMEOUT if timeout is None else WITH_TIMEOUT
    expected, journal, n_lines = played(calls, timeout, 0)
    assert n_lines > 500
    n_interrupted = 0
    for n in range(1, n_lines + 1):
        state, records, n_run = played(calls, timeout, n)
        n_interrupted += n_run >= n
        assert state == expected, n
        assert records == journal, n
    assert n_interrupted == n_lines


def played(calls: list[Call], timeout: float | None, n: int) -> tuple[bytes, list[tuple[int, str]], int]:
    """The state after all calls, of which the one that was interrupted at line n is made again."""
    bandit, seen = bandit_of(timeout), dict[int, Record]()

    def sink(number: int, record: Record) -> None:
        assert number in (len(seen), len(seen) + 1)  # an interrupted one may come again
        seen[number] = record

    bandit._live.engine.sink = sink
    n_run = 0
    for call in calls:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                with interrupted_at(n - n_run if n > n_run else 0) as count:
                    call(bandit)
            except InterruptedCallError:
                with interrupted_at(0) as again:
                    check_books(bandit)
                    call(bandit)
                n_run += again[0] * 0
            n_run += count[0]
        check_books(bandit)
    state = bytes_of_engine(bandit._live.engine, learner=None)
    return state, [(number, type(record).__name__) for number, record in seen.items()], n_run


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
    n_lines, state = 10_000, b""
    for n in range(1, n_lines):
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
    assert not state


def test_probabilities_of_arrays_are_as_they_were() -> None:
    bandit = Bandit(["a", "b"], learner=batches(100), features=1, seed=1)
    before = bytes_of_engine(bandit._live.engine)
    assert sum(bandit.probabilities([1.0]).values()) == pytest.approx(1.0)
    assert np.array_equal(before, bytes_of_engine(bandit._live.engine))

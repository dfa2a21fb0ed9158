"""A clock to turn by hand, a learner that may fail, and what it means that a refusal changes nothing."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gyrfalcon.bandit import Bandit
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.learners.baselines.epsilon_greedy import EpsilonGreedy


class Clock:
    """Seconds that pass only when told."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True)
class Recorder:
    """Epsilon-greedy in batches that keeps what it was given, and fails while `fails` is not empty."""

    size: int = 4
    logs: list[Log] = field(default_factory=list)
    fails: list[str] = field(default_factory=list)

    @property
    def _inner(self) -> EpsilonGreedy:
        return EpsilonGreedy(schedule=FixedBatch(self.size))

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        return self._inner.start(problem, log)

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        if self.fails:
            raise ArithmeticError(self.fails[-1])
        following = self._inner.next_epoch(epoch, log)
        self.logs.append(log)
        return following

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        return self._inner.adapt(epoch, problem)


def batches(size: int = 4) -> EpsilonGreedy:
    return EpsilonGreedy(schedule=FixedBatch(size))


def bytes_of(bandit: Bandit) -> bytes:
    """The whole state: a file is the same for the same state."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bandit"
        bandit.save(path, classes=[Recorder, Log])
        return path.read_bytes()


@contextmanager
def refused(
    bandit: Bandit, match: str, kind: type[Exception] = ValueError, *, whole: bool = True
) -> Iterator[None]:
    """What is done inside is refused with a sentence, and changes nothing."""
    before = bytes_of(bandit)
    with pytest.raises(kind, match=match) as caught:
        yield
    assert str(caught.value)[-1] in ".?" or not whole
    assert bytes_of(bandit) == before

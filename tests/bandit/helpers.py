"""A clock to turn by hand, a learner that may fail, and what it means that a refusal changes nothing."""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from gyrfalcon import Bandit
from gyrfalcon.bandit.engine import BanditEngine
from gyrfalcon.bandit.event_table import Status
from gyrfalcon.bandit.refits import RefitMode
from gyrfalcon.bandit.snapshot import Snapshot
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.learners.baselines.epsilon_greedy import EpsilonGreedy
from gyrfalcon.storage import files

_WERE_FINAL = (Status.FINAL, Status.LEARNED, Status.SET_ASIDE)


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
    with bandit._live.lock:
        return bytes_of_engine(bandit._live.completed(), bandit._live.refit)


def bytes_of_engine(engine: BanditEngine, refit: RefitMode = "inline", **but_for: object) -> bytes:
    """The whole state of an engine, but for the seconds that refits took and what is given."""
    snapshot = replace(Snapshot.of(engine, refit), **({"refit_seconds": 0.0} | but_for))  # type: ignore[arg-type]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bandit"
        files.save(path, snapshot, classes=[Recorder, Log])
        return path.read_bytes()


def waiting_ids(bandit: Bandit) -> list[str]:
    """Ids of the events whose outcome is open, in the order of their decisions."""
    ledger = bandit._live.engine.ledger
    return [one for one, position in ledger.live.items() if ledger.table.event(position).is_waiting]


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


def check_books(bandit: Bandit) -> None:
    """Every event stands in exactly one place, and all counts follow from where they stand."""
    engine = bandit._live.completed()
    ledger, counts = engine.ledger, engine.ledger.counts
    events = {one: ledger.table.event(position) for one, position in ledger.live.items()}
    waiting = [one for one, event in events.items() if event.is_waiting]
    assert not ledger.live.keys() & ledger.ended.keys()
    assert all(event.status <= Status.FINAL for event in events.values())
    assert all(event.status > Status.FINAL for event in ledger.ended.values())
    assert all(ledger.table.event_id(position) == one for one, position in ledger.live.items())
    assert list(ledger.live.values()) == sorted(set(ledger.live.values()))
    assert counts.n_waiting == len(waiting)
    epoch = engine.epoch
    planned = [events[one] for one in waiting if events[one].round < epoch.stop]
    assert counts.n_open == sum(event.epoch == epoch.index for event in planned)
    final = [position for one, position in ledger.live.items() if events[one].status == Status.FINAL]
    first_open = min((ledger.live[one] for one in waiting), default=counts.n_decided)
    ready = [position for position in final if position < first_open or not ledger.whole_cohorts]
    assert sorted(ledger.ready) == ready
    ends = Counter(event.status for event in ledger.ended.values())
    assert counts.n_decided >= len(ledger.live) + len(ledger.ended)
    had_one_cap = all(change.setting != "max_pending" for change in engine.history)
    if len(ledger.ended) < ledger.max_ended and had_one_cap:  # none is forgotten
        assert counts.n_decided == len(ledger.live) + len(ledger.ended)
        for status, count in (
            (Status.LEARNED, counts.n_learned),
            (Status.DROPPED, counts.n_dropped),
            (Status.WITHDRAWN, counts.n_withdrawn),
            (Status.SET_ASIDE, counts.n_set_aside),
        ):
            assert ends[status] == count, status
        both = [*events.values(), *ledger.ended.values()]
        assert counts.n_expired == sum(event.expired for event in both)
        assert counts.n_crowded == sum(event.crowded for event in both)
        kept = [event for event in both if event.action >= 0 and event.status != Status.WITHDRAWN]
        tallies = ledger.tallies
        assert len(kept) == tallies.decided.sum()
        assert sum(not math.isnan(one.reward) and not one.expired for one in kept) == tallies.rewarded.sum()
        assert sum(one.status in _WERE_FINAL for one in kept) == tallies.final.sum()
    assert (ledger.stop, ledger.epoch_index) == (engine.epoch.stop, engine.epoch.index)

"""Replay of a journal: the state that follows from settings and records alone."""

from __future__ import annotations

from collections.abc import Iterable

from gyrfalcon.bandit.engine import BanditEngine
from gyrfalcon.bandit.journal import Record


def replay(engine: BanditEngine, records: Iterable[tuple[int, Record]]) -> BanditEngine:
    """Let numbered records take effect on an engine, which then stands as the one that wrote them.

    A record that the engine has had already is passed over; one that does not follow is refused.
    """
    for number, record in records:
        expected = engine.ledger.counts.sequence + 1
        if number > expected:
            raise ValueError(f"record {number} follows record {expected - 1}; give the journal without gaps.")
        if number == expected:
            engine.apply(record)
    return engine

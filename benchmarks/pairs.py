"""Two ways to do the same thing, timed in turns: what else the machine does then meets both alike."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

SECONDS_PER_SAMPLE = 0.02
LONG = 0.5
"""Seconds of a call that needs no second one to be warm."""

Call = Callable[[], object]
Clock = Callable[[], float]


class Spread(NamedTuple):
    """Median and quartiles."""

    low: float
    median: float
    high: float

    @staticmethod
    def of(values: list[float]) -> Spread:
        low, median, high = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
        return Spread(low, median, high)


def interleaved(
    ours: Call,
    theirs: Call,
    n_pairs: int,
    *,
    clock: Clock = time.process_time,
    on_pair: Callable[[], None] = lambda: None,
) -> list[tuple[float, float]]:
    """Seconds per call of ours and of theirs, pair by pair; who comes first alternates."""
    gc.collect()
    calls = ours, theirs
    numbers = [repetitions(call, clock) for call in calls]
    pairs = []
    for pair in range(n_pairs):
        seconds = [0.0, 0.0]
        for side in (0, 1) if pair % 2 == 0 else (1, 0):
            seconds[side] = sample(calls[side], numbers[side], clock)
        pairs.append((seconds[0], seconds[1]))
        on_pair()
    return pairs


def repeated(
    call: Call,
    n_samples: int,
    *,
    clock: Clock = time.process_time,
    on_pair: Callable[[], None] = lambda: None,
) -> list[float]:
    """Seconds per call, sample by sample."""
    gc.collect()
    number = repetitions(call, clock)
    samples = []
    for _ in range(n_samples):
        samples.append(sample(call, number, clock))
        on_pair()
    return samples


def repetitions(call: Call, clock: Clock) -> int:
    """How many calls make a sample long enough for the clock; finding out warms the call up."""
    if sample(call, 1, clock) > LONG:
        return 1
    number = 1
    while (seconds := sample(call, number, clock) * number) < SECONDS_PER_SAMPLE:
        number = max(2 * number, int(1.2 * number * SECONDS_PER_SAMPLE / max(seconds, 1e-6)))
    return number


def sample(call: Call, number: int, clock: Clock) -> float:
    """Mean seconds of a call over several calls."""
    turns = range(number)
    start = clock()
    for _ in turns:
        call()
    return (clock() - start) / number

"""Monotonic time for events that may expire."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class MonotonicClock:
    """A clock whose steps back are left out, so that events expire in the order of their decisions.

    >>> hours = iter([10.0, 7.0, 8.0])
    >>> clock = MonotonicClock(lambda: next(hours))
    >>> clock.tick(), clock.tick(), clock.tick()
    (10.0, 10.0, 11.0)
    """

    source: Callable[[], float]
    latest: float = -math.inf
    offset: float = 0.0

    def now(self) -> float:
        """The current time, which leaves the clock as it is."""
        return max(self.latest, self.source() + self.offset)

    def tick(self) -> float:
        """The current time, which no later time will be before."""
        reading = self.source()
        if reading + self.offset < self.latest:
            self.offset = self.latest - reading
        self.latest = max(self.latest, reading + self.offset)
        return self.latest

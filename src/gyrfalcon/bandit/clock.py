"""Time for what may expire: it follows a clock, and only runs forwards."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class Ageing:
    """A clock whose steps back are left out, so that events expire in the order of their decisions.

    >>> hours = iter([10.0, 7.0, 8.0])
    >>> ageing = Ageing(lambda: next(hours))
    >>> ageing.tick(), ageing.tick(), ageing.tick()
    (10.0, 10.0, 11.0)
    """

    clock: Callable[[], float]
    latest: float = -math.inf
    offset: float = 0.0

    def now(self) -> float:
        """The time, without remembering that it was asked for."""
        return max(self.latest, self.clock() + self.offset)

    def tick(self) -> float:
        """The time, from which on it runs forwards."""
        reading = self.clock()
        if reading + self.offset < self.latest:
            self.offset = self.latest - reading
        self.latest = max(self.latest, reading + self.offset)
        return self.latest

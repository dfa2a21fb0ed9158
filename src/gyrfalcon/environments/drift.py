"""Worlds that change: at once, in turns, or little by little."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise

import numpy as np

from gyrfalcon.core.checks import check_whole
from gyrfalcon.core.problems import Problem
from gyrfalcon.core.types import Floats, Ints
from gyrfalcon.environments.edge import problem_of
from gyrfalcon.environments.environment import BLOCK, Drawable, World
from gyrfalcon.environments.streams import DRIFT, rows_of, stream
from gyrfalcon.environments.wrapping import check_same_problem, check_world, layers, rows_from


@dataclass(frozen=True)
class Switching:
    """Several worlds that pose the same problem, one after the other.

    Every world counts all rounds, and not only its own: a switch at round 1000 goes on with round 1000 of the
    next world. Worlds that differ in their truth alone meet the same contexts and the same luck.

    Parameters
    ----------
    at
        The round (counted from 0) that is the next world's first, or one for each world but the first.
    every
        Instead of that: each world has so many rounds, and after the last comes the first again.

    Examples
    --------
    >>> from gyrfalcon.environments.families import LinearWorld
    >>> before, after = LinearWorld(world_seed=0), LinearWorld(world_seed=1)
    >>> Switching((before, after), at=1000).numbers(998, 1002).tolist()
    [0, 0, 1, 1]
    >>> Switching((before, after), every=2).numbers(0, 6).tolist()
    [0, 0, 1, 1, 0, 0]
    """

    worlds: Sequence[Drawable]
    _: KW_ONLY
    at: int | Sequence[int] | None = None
    every: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.worlds, list | tuple) or len(self.worlds) < 2:
            raise ValueError(f"worlds is {self.worlds!r}; give at least two, such as (before, after).")
        for number, world in enumerate(self.worlds):
            check_world(f"worlds[{number}]", world)
        # Settings are values: a list would leave them without a hash.
        object.__setattr__(self, "worlds", tuple(self.worlds))
        if isinstance(self.at, list | np.ndarray):
            object.__setattr__(self, "at", tuple(self.at))
        self._check_rounds()
        check_same_problem(self.worlds)

    @property
    def problem(self) -> Problem:
        """The one that all worlds pose."""
        return problem_of(self.worlds[0])

    def draw(self, start: int, stop: int, seed: int) -> World:
        """Rounds start..stop-1."""
        return rows_from(self.worlds, self.numbers(start, stop), start, seed)

    def numbers(self, start: int, stop: int) -> Ints:
        """Which of the worlds the rounds start..stop-1 come from, (n,)."""
        rounds = np.arange(start, stop)
        if self.every is not None:
            return rounds // self.every % len(self.worlds)
        return np.searchsorted(self._switches, rounds, side="right")

    @property
    def _switches(self) -> tuple[int, ...]:
        return self.at if isinstance(self.at, tuple) else (self.at,)

    def _check_rounds(self) -> None:
        if (self.at is None) == (self.every is None):
            raise ValueError(f"at is {self.at!r} and every is {self.every!r}; give one of the two.")
        if self.every is not None:
            check_whole("every", self.every)
            return
        for switch in self._switches:
            check_whole("at", switch)
        if len(self._switches) != len(self.worlds) - 1:
            raise ValueError(
                f"at is {self.at!r} for {len(self.worlds)} worlds; give {len(self.worlds) - 1} rounds."
            )
        if any(later <= sooner for sooner, later in pairwise(self._switches)):
            raise ValueError(f"at is {self.at!r}; give rounds that increase.")


@dataclass(frozen=True)
class Drifting:
    """One world that turns into another, row by row.

    A round comes from the world `after` with a probability that is 0 up to round `start` (counted from 0),
    rises in a line, and is 1 from round `stop` on. Which rounds those are depends on the seed alone, and is
    independent of both worlds. For more worlds, let one that drifts turn into a third.

    >>> from gyrfalcon.environments.families import LinearWorld
    >>> drift = Drifting(LinearWorld(world_seed=0), LinearWorld(world_seed=1), start=1000, stop=5000)
    >>> drift.shares(0, 6000)[[500, 1000, 2000, 4000, 5500]].tolist()
    [0.0, 0.0, 0.25, 0.75, 1.0]
    """

    before: Drawable
    after: Drawable
    _: KW_ONLY
    start: int
    stop: int

    def __post_init__(self) -> None:
        check_world("before", self.before)
        check_world("after", self.after)
        check_whole("start", self.start, 0)
        check_whole("stop", self.stop, 0)
        if self.stop <= self.start:
            raise ValueError(f"stop is {self.stop} and start is {self.start}; give a later round to stop at.")
        check_same_problem((self.before, self.after))

    @property
    def problem(self) -> Problem:
        """The one that both worlds pose."""
        return problem_of(self.before)

    def draw(self, start: int, stop: int, seed: int) -> World:
        """Rounds start..stop-1."""
        return rows_from((self.before, self.after), self.numbers(start, stop, seed), start, seed)

    def shares(self, start: int, stop: int) -> Floats:
        """The probability that a round comes from the world `after`, (n,)."""
        risen = (np.arange(start, stop) - self.start) / (self.stop - self.start)
        return np.clip(risen, 0.0, 1.0)

    def numbers(self, start: int, stop: int, seed: int) -> Ints:
        """0 where a round comes from the world `before`, 1 where it comes from `after`, (n,)."""
        layer = max(layers(world, Drifting) for world in (self.before, self.after))
        coins = rows_of(lambda block: stream(seed, block, DRIFT, layer).random(BLOCK), start, stop)
        return (coins < self.shares(start, stop)).astype(np.int64)

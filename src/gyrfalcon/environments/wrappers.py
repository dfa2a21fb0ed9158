"""Wrappers of environments that change over time: abruptly or gradually."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.settings import changed_settings_repr
from gyrfalcon.core.validation import check_whole
from gyrfalcon.environments.protocol import BLOCK, Drawable, PotentialOutcomes
from gyrfalcon.environments.streams import DRIFT, layers, rows_from, rows_of, stream
from gyrfalcon.environments.validation import check_environment, check_same_problem, problem_of


@dataclass(frozen=True, repr=False)
class Switching:
    """Several environments with the same problem, one after the other.

    Every environment counts all rounds, not only its own: a switch at round 1000 goes on with round 1000 of
    the next environment. Environments that differ in their true means alone share contexts and noise.

    Parameters
    ----------
    environments : sequence of Environment
        The environments, in their order.
    at : int or Sequence[int], optional
        The first round (counted from 0) of the second environment, or one such round for each environment but
        the first.
    every : int, optional
        Length of each environment's turn in rounds, instead of `at`; after the last comes the first again.

    Examples
    --------
    >>> from gyrfalcon.environments.synthetic.families import LinearEnvironment
    >>> before, after = LinearEnvironment(environment_seed=0), LinearEnvironment(environment_seed=1)
    >>> Switching((before, after), at=1000).numbers(998, 1002).tolist()
    [0, 0, 1, 1]
    >>> Switching((before, after), every=2).numbers(0, 6).tolist()
    [0, 0, 1, 1, 0, 0]
    """

    environments: Sequence[Drawable]
    _: KW_ONLY
    at: int | Sequence[int] | None = None
    every: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.environments, list | tuple) or len(self.environments) < 2:
            raise ValueError(
                f"environments is {self.environments!r}; give at least two, such as (before, after)."
            )
        for number, environment in enumerate(self.environments):
            check_environment(f"environments[{number}]", environment)
        # Settings are values: a list would leave them without a hash.
        object.__setattr__(self, "environments", tuple(self.environments))
        if isinstance(self.at, list | np.ndarray):
            object.__setattr__(self, "at", tuple(self.at))
        self._check_rounds()
        check_same_problem(self.environments)

    def __repr__(self) -> str:
        return changed_settings_repr(self)

    @property
    def problem(self) -> Problem:
        """The common problem of all environments."""
        return problem_of(self.environments[0])

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        """Outcomes of rounds start..stop-1."""
        return rows_from(self.environments, self.numbers(start, stop), start, seed)

    def numbers(self, start: int, stop: int) -> Ints:
        """Which of the environments the rounds start..stop-1 come from, (n,)."""
        rounds = np.arange(start, stop)
        if self.every is not None:
            return rounds // self.every % len(self.environments)
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
        if len(self._switches) != len(self.environments) - 1:
            raise ValueError(
                f"at is {self.at!r} for {len(self.environments)} environments; "
                f"give {len(self.environments) - 1} rounds."
            )
        if any(later <= sooner for sooner, later in pairwise(self._switches)):
            raise ValueError(f"at is {self.at!r}; give rounds that increase.")


@dataclass(frozen=True, repr=False)
class Drifting:
    """An environment that turns gradually into another one.

    A round comes from `after` with a probability that is 0 up to round `start`, rises linearly, and is 1 from
    round `stop` on. Which rounds those are depends on the seed alone, and is independent of both
    environments. For more environments, let one that drifts turn into a third.

    Parameters
    ----------
    before : Environment
        The environment up to round `start`.
    after : Environment
        The environment from round `stop` on.
    start : int
        The round (counted from 0) at which the change begins.
    stop : int
        The round at which the change is complete.

    Examples
    --------
    >>> from gyrfalcon.environments.synthetic.families import LinearEnvironment
    >>> before, after = LinearEnvironment(environment_seed=0), LinearEnvironment(environment_seed=1)
    >>> drift = Drifting(before, after, start=1000, stop=5000)
    >>> drift.shares(0, 6000)[[500, 1000, 2000, 4000, 5500]].tolist()
    [0.0, 0.0, 0.25, 0.75, 1.0]
    """

    before: Drawable
    after: Drawable
    _: KW_ONLY
    start: int
    stop: int

    def __post_init__(self) -> None:
        check_environment("before", self.before)
        check_environment("after", self.after)
        check_whole("start", self.start, 0)
        check_whole("stop", self.stop, 0)
        if self.stop <= self.start:
            raise ValueError(f"stop is {self.stop} and start is {self.start}; give a later round to stop at.")
        check_same_problem((self.before, self.after))

    def __repr__(self) -> str:
        return changed_settings_repr(self)

    @property
    def problem(self) -> Problem:
        """The common problem of both environments."""
        return problem_of(self.before)

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        """Outcomes of rounds start..stop-1."""
        return rows_from((self.before, self.after), self.numbers(start, stop, seed), start, seed)

    def shares(self, start: int, stop: int) -> Floats:
        """The probability that a round comes from the environment `after`, (n,)."""
        risen = (np.arange(start, stop) - self.start) / (self.stop - self.start)
        return np.clip(risen, 0.0, 1.0)

    def numbers(self, start: int, stop: int, seed: int) -> Ints:
        """0 where a round comes from the environment `before`, 1 where it comes from `after`, (n,)."""
        layer = max(layers(environment, Drifting) for environment in (self.before, self.after))
        coins = rows_of(lambda block: stream(seed, block, DRIFT, layer).random(BLOCK), start, stop)
        return (coins < self.shares(start, stop)).astype(np.int64)

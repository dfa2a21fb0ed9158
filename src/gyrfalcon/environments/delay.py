"""Worlds whose rewards are known later."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np

from gyrfalcon.core.checks import is_number
from gyrfalcon.core.problems import Problem
from gyrfalcon.core.types import Ints
from gyrfalcon.environments.edge import problem_of
from gyrfalcon.environments.environment import BLOCK, Drawable, World
from gyrfalcon.environments.streams import DELAYS, rows_of, stream
from gyrfalcon.environments.wrapping import check_world, layers

Distribution: TypeAlias = Literal["fixed", "geometric", "poisson"]
_LONGEST = 2.0**53
"""Sums of delays of such means stay far below what 64 bits can hold."""


@dataclass(frozen=True)
class Delayed:
    """Any world, but the reward of a round is known only some rounds after it.

    A delay of 0 is no delay: the reward is known at the end of its own round. Delays are drawn for each round
    on their own, independently of contexts, rewards and what a learner does. Where the world itself delays,
    the delays add up.

    Parameters
    ----------
    mean
        Rounds that a reward takes on average.
    distribution
        "fixed": all take the same number; "geometric": a reward that is still out comes with the same
        probability at the end of every round; "poisson": delays stay close to their mean.

    Examples
    --------
    >>> from gyrfalcon.environments.paper import StepExample
    >>> Delayed(StepExample(), mean=100).draw(0, 3, seed=0).reward_round.tolist()
    [100, 101, 102]
    >>> Delayed(StepExample(), mean=2.5, distribution="geometric").draw(0, 3, seed=0).reward_round.tolist()
    [3, 5, 3]
    """

    world: Drawable
    _: KW_ONLY
    mean: float
    distribution: Distribution = "fixed"

    def __post_init__(self) -> None:
        check_world("world", self.world)
        if self.distribution not in get_args(Distribution):
            raise ValueError(
                f"distribution is {self.distribution!r}; give 'fixed', 'geometric' or 'poisson'."
            )
        if not (is_number(self.mean) and 0.0 <= self.mean <= _LONGEST):
            raise ValueError(f"mean is {self.mean!r}; give a number of rounds from 0 to 2**53.")
        if self.distribution == "fixed" and self.mean != int(self.mean):
            raise ValueError(
                f"mean is {self.mean!r}, and a fixed delay is a whole number of rounds; "
                "give one, or distribution='geometric' or 'poisson'."
            )

    @property
    def problem(self) -> Problem:
        """That of the world."""
        return problem_of(self.world)

    def draw(self, start: int, stop: int, seed: int) -> World:
        """Rounds start..stop-1."""
        drawn = self.world.draw(start, stop, seed)
        known = np.arange(start, stop) if drawn.reward_round is None else drawn.reward_round
        return replace(drawn, reward_round=known + self.delays(start, stop, seed))

    def delays(self, start: int, stop: int, seed: int) -> Ints:
        """What this wrapper adds to the rounds start..stop-1, (n,)."""
        if self.distribution == "fixed":
            return np.full(stop - start, int(self.mean))
        layer = layers(self.world, Delayed)
        return rows_of(lambda block: self._block(stream(seed, block, DELAYS, layer)), start, stop)

    def _block(self, rng: np.random.Generator) -> Ints:
        if self.distribution == "poisson":
            return rng.poisson(self.mean, BLOCK)
        return rng.geometric(1.0 / (1.0 + self.mean), BLOCK) - 1

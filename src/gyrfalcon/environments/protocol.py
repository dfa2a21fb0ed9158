"""Protocol of environments: potential outcomes, so that all learners see the same contexts and rewards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.problem import Problem

BLOCK = 8192
"""Number of consecutive rounds that share a random stream."""


@dataclass(frozen=True, slots=True)
class PotentialOutcomes:
    """Contexts of n rounds with the expected and the realised reward of every action.

    All learners see the same contexts and rewards: common random numbers.

    Parameters
    ----------
    contexts : Contexts
        The n contexts.
    means : array of float
        (n, K) expected rewards, nan where they are unknown.
    rewards : array of float
        (n, K) realised rewards.
    reward_round : array of int, optional
        (n,) rounds at whose end each reward is known; by default the end of its own round.
    """

    contexts: Contexts
    means: Floats
    rewards: Floats
    reward_round: Ints | None = None

    def __len__(self) -> int:
        return len(self.means)

    def take(self, rows: slice | Ints) -> PotentialOutcomes:
        """The outcomes of some of the rounds."""
        late = None if self.reward_round is None else self.reward_round[rows]
        return PotentialOutcomes(self.contexts.take(rows), self.means[rows], self.rewards[rows], late)

    @staticmethod
    def concat(environments: Sequence[PotentialOutcomes], rounds: Sequence[Ints]) -> PotentialOutcomes:
        """The outcomes of several environments, in the order given; `rounds` are their round numbers."""
        if len(environments) == 1:
            return environments[0]
        late = None
        if any(environment.reward_round is not None for environment in environments):
            late = np.concatenate(
                [
                    own if environment.reward_round is None else environment.reward_round
                    for environment, own in zip(environments, rounds, strict=True)
                ]
            )
        return PotentialOutcomes(
            Contexts.concat(
                [environment.contexts for environment in environments], environments[0].means.shape[1]
            ),
            np.concatenate([environment.means for environment in environments]),
            np.concatenate([environment.rewards for environment in environments]),
            late,
        )


class Drawable(Protocol):
    """What an environment must offer at least: rounds to draw."""

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        """Outcomes of rounds start..stop-1: the same rows however rounds are divided into calls."""
        ...


class Environment(Drawable, Protocol):
    """An environment that can be drawn, and the problem that it poses."""

    @property
    def problem(self) -> Problem:
        """Actions, features and range of rewards."""
        ...


def blocks(start: int, stop: int) -> Iterator[tuple[int, slice]]:
    """The fixed blocks that cover rounds start..stop-1, with the rows of each that are needed.

    Parameters
    ----------
    start : int
        First round.
    stop : int
        Round after the last.

    Examples
    --------
    >>> list(blocks(8000, 8200))
    [(0, slice(8000, 8192, None)), (1, slice(0, 8, None))]
    """
    for block in range(start // BLOCK, -(-stop // BLOCK)):
        first = block * BLOCK
        yield block, slice(max(start - first, 0), min(stop - first, BLOCK))


def block_generator(seed: int, block: int) -> np.random.Generator:
    """The random generator of one block of an environment's rounds.

    Environments and learners have independent streams.

    Parameters
    ----------
    seed : int
        Seed of the replication.
    block : int
        Number of the block: rounds `BLOCK` * block and on.
    """
    return np.random.default_rng([seed, 0, block])


def drawn(environment_of: Callable[[int], PotentialOutcomes], start: int, stop: int) -> PotentialOutcomes:
    """Rounds start..stop-1 of an environment that is drawn block by block.

    Means are computed for complete blocks too: matrix products round differently for fewer rows.

    Parameters
    ----------
    environment_of : Callable[[int], PotentialOutcomes]
        Function from the number of a block to its `BLOCK` rounds.
    start : int
        First round.
    stop : int
        Round after the last.
    """
    cuts = list(blocks(start, stop)) or [(start // BLOCK, slice(0, 0))]
    return PotentialOutcomes.concat(
        [environment_of(block).take(rows) for block, rows in cuts],
        [block * BLOCK + np.arange(rows.start, rows.stop) for block, rows in cuts],
    )

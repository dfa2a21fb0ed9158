"""Protocol of environments: potential outcomes, so that all learners see the same contexts and rewards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.settings import shapes_repr

BLOCK = 8192
"""Number of consecutive rounds that share a random stream."""

NEVER = 2**62
"""The round in which rewards become known that never do; sums with delays still fit into 64 bits."""


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
        (n,) or (n, K) rounds at whose end each reward is known, `NEVER` for those that do not arrive; by
        default the end of its own round.
    final_round : array of int, optional
        (n,) or (n, K) rounds at whose end outcomes are final. Fits then read rows in the order of their
        decisions, each when it and all before it are final; by default as soon as they are rewarded.
    """

    contexts: Contexts
    means: Floats
    rewards: Floats
    reward_round: Ints | None = None
    final_round: Ints | None = None

    __repr__ = shapes_repr

    def __len__(self) -> int:
        return len(self.means)

    def take(self, rows: slice | Ints) -> PotentialOutcomes:
        """The outcomes of some of the rounds."""
        known, final = (
            None if column is None else column[rows] for column in (self.reward_round, self.final_round)
        )
        return PotentialOutcomes(self.contexts.take(rows), self.means[rows], self.rewards[rows], known, final)

    @staticmethod
    def concat(parts: Sequence[PotentialOutcomes], rounds: Sequence[Ints]) -> PotentialOutcomes:
        """Outcomes of several parts as one, in the order given; `rounds` are the round numbers of each."""
        if len(parts) == 1:
            return parts[0]
        known = [part.reward_round for part in parts]
        final = [part.final_round for part in parts]
        at_once = [own if one is None else one for one, own in zip(known, rounds, strict=True)]
        return PotentialOutcomes(
            Contexts.concat([part.contexts for part in parts], parts[0].means.shape[1]),
            np.concatenate([part.means for part in parts]),
            np.concatenate([part.rewards for part in parts]),
            _joined_rounds(known, rounds),
            _joined_rounds(final, at_once),
        )


def _joined_rounds(parts: Sequence[Ints | None], otherwise: Sequence[Ints]) -> Ints | None:
    """Columns of round numbers as one, with others in place of missing ones; None if all are missing."""
    if all(part is None for part in parts):
        return None
    columns = [other if part is None else part for part, other in zip(parts, otherwise, strict=True)]
    widest = max(columns, key=np.ndim)
    if widest.ndim == 2:
        columns = [
            column if column.ndim == 2 else np.repeat(column[:, np.newaxis], widest.shape[1], axis=1)
            for column in columns
        ]
    return np.concatenate(columns)


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


def drawn(outcomes_of: Callable[[int], PotentialOutcomes], start: int, stop: int) -> PotentialOutcomes:
    """Rounds start..stop-1 of an environment that is drawn block by block.

    Means are computed for complete blocks too: matrix products round differently for fewer rows.

    Parameters
    ----------
    outcomes_of : Callable[[int], PotentialOutcomes]
        Function from the number of a block to its `BLOCK` rounds.
    start : int
        First round.
    stop : int
        Round after the last.
    """
    cuts = list(blocks(start, stop)) or [(start // BLOCK, slice(0, 0))]
    return PotentialOutcomes.concat(
        [outcomes_of(block).take(rows) for block, rows in cuts],
        [block * BLOCK + np.arange(rows.start, rows.stop) for block, rows in cuts],
    )

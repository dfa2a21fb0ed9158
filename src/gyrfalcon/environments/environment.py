"""Worlds that can be drawn: potential outcomes, so that all learners meet the same luck."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.problems import Problem
from gyrfalcon.core.types import Floats, Ints

BLOCK = 8192
"""Rounds of a world that share a random stream."""


@dataclass(frozen=True, slots=True)
class World:
    """n rounds of a world: contexts, and for every action its expected and its realised reward, (n, K).

    Expected rewards that nobody knows are nan. `reward_round` says for each row at the end of which round its
    reward is known; None means at the end of its own.
    """

    contexts: Contexts
    means: Floats
    rewards: Floats
    reward_round: Ints | None = None

    def __len__(self) -> int:
        return len(self.means)

    def take(self, rows: slice | Ints) -> World:
        """Some of the rounds."""
        late = None if self.reward_round is None else self.reward_round[rows]
        return World(self.contexts.take(rows), self.means[rows], self.rewards[rows], late)

    @staticmethod
    def concat(worlds: Sequence[World], rounds: Sequence[Ints]) -> World:
        """All rounds of some worlds, in the order given; `rounds` says which they are."""
        if len(worlds) == 1:
            return worlds[0]
        late = None
        if any(world.reward_round is not None for world in worlds):
            late = np.concatenate(
                [
                    own if world.reward_round is None else world.reward_round
                    for world, own in zip(worlds, rounds, strict=True)
                ]
            )
        return World(
            Contexts.concat([world.contexts for world in worlds], worlds[0].means.shape[1]),
            np.concatenate([world.means for world in worlds]),
            np.concatenate([world.rewards for world in worlds]),
            late,
        )


class Drawable(Protocol):
    """The least that a world must offer to be played in."""

    def draw(self, start: int, stop: int, seed: int) -> World:
        """Rounds start..stop-1: the same rows however the rounds are cut."""
        ...


class Environment(Drawable, Protocol):
    """A world and the problem that it poses."""

    @property
    def problem(self) -> Problem:
        """Actions, features and the range of rewards."""
        ...


def blocks(start: int, stop: int) -> Iterator[tuple[int, slice]]:
    """The fixed blocks of rounds that cover start..stop-1, and which rows of each are wanted.

    >>> list(blocks(8000, 8200))
    [(0, slice(8000, 8192, None)), (1, slice(0, 8, None))]
    """
    for block in range(start // BLOCK, -(-stop // BLOCK)):
        first = block * BLOCK
        yield block, slice(max(start - first, 0), min(stop - first, BLOCK))


def block_generator(seed: int, block: int) -> np.random.Generator:
    """The random stream of one block of a world; worlds and learners have streams of their own."""
    return np.random.default_rng([seed, 0, block])


def drawn(world_of: Callable[[int], World], start: int, stop: int) -> World:
    """Rounds start..stop-1 of a world that is drawn by whole blocks.

    Means are computed for whole blocks too: products of matrices round differently for fewer rows.
    """
    cuts = list(blocks(start, stop)) or [(start // BLOCK, slice(0, 0))]
    return World.concat(
        [world_of(block).take(rows) for block, rows in cuts],
        [block * BLOCK + np.arange(rows.start, rows.stop) for block, rows in cuts],
    )

"""Worlds that can be drawn: potential outcomes, so that all learners meet the same luck."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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

    def take(self, rows: slice) -> World:
        """Some of the rounds."""
        late = None if self.reward_round is None else self.reward_round[rows]
        return World(self.contexts.take(rows), self.means[rows], self.rewards[rows], late)


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


def problem_of(environment: Drawable) -> Problem:
    """The problem that a world poses; one that does not say has actions 1 to K and rewards of any size.

    >>> from gyrfalcon.environments.paper import StepExample
    >>> problem_of(StepExample()).actions
    (1, 2)
    """
    problem = getattr(environment, "problem", None)
    if isinstance(problem, Problem):
        return problem
    if problem is not None:
        raise TypeError(
            f"the environment's problem is {problem!r}; give a gyrfalcon.Problem, or none at all."
        )
    world = environment.draw(0, 1, 0)
    n_features, cube = world.contexts.shared.shape[1], world.contexts.actions
    return Problem(
        range(1, world.means.shape[1] + 1),
        n_features or None,
        None if cube is None else cube.shape[2],
        outside="accept",
    )


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


def drawn(world_of: Callable[[int], World], start: int, stop: int, n_actions: int) -> World:
    """Rounds start..stop-1 of a world that is drawn by whole blocks.

    Means are computed for whole blocks too: products of matrices round differently for fewer rows.
    """
    cuts = list(blocks(start, stop)) or [(start // BLOCK, slice(0, 0))]
    worlds = [world_of(block).take(rows) for block, rows in cuts]
    if len(worlds) == 1:
        return worlds[0]
    return World(
        Contexts.concat([world.contexts for world in worlds], n_actions),
        np.concatenate([world.means for world in worlds]),
        np.concatenate([world.rewards for world in worlds]),
    )

"""Worlds that can be drawn: potential outcomes, so that all learners meet the same luck."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.problems import Problem
from gyrfalcon.core.types import Floats

BLOCK = 4096


@dataclass(frozen=True, slots=True)
class World:
    """n rounds of a world: contexts, and for every action its expected and its realised reward, (n, K)."""

    contexts: Contexts
    means: Floats
    rewards: Floats


class Environment(Protocol):
    """A world and the problem that it poses."""

    @property
    def problem(self) -> Problem:
        """Actions, features and the range of rewards."""
        ...

    def draw(self, start: int, stop: int, seed: int) -> World:
        """Rounds start..stop-1: the same rows however the rounds are cut."""
        ...


def blocks(start: int, stop: int) -> Iterator[tuple[int, slice]]:
    """The fixed blocks of rounds that cover start..stop-1, and which rows of each are wanted.

    >>> list(blocks(4000, 4100))
    [(0, slice(4000, 4096, None)), (1, slice(0, 4, None))]
    """
    for block in range(start // BLOCK, -(-stop // BLOCK)):
        first = block * BLOCK
        yield block, slice(max(start - first, 0), min(stop - first, BLOCK))


def block_generator(seed: int, block: int) -> np.random.Generator:
    """The random stream of one block of a world; worlds and learners have streams of their own."""
    return np.random.default_rng([seed, 0, block])

"""The paper's own examples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.problems import Problem
from gyrfalcon.core.types import Floats
from gyrfalcon.environments.environment import BLOCK, World, block_generator, blocks


@dataclass(frozen=True, slots=True)
class StepExample:
    """Section 1.1: x ~ U(0, 1), f_1 = 1{x > .5}, f_2 = .5, Gaussian noise of variance .01.

    The best linear model (-.25 + 1.5 x, .5) induces the optimal policy, yet learners that trust it drift away
    from it. Rewards leave [0, 1], so the problem accepts that.

    >>> StepExample().draw(0, 3, seed=0).means.shape
    (3, 2)
    """

    noise: float = 0.1

    @property
    def problem(self) -> Problem:
        """Two actions, one feature, rewards accepted outside (0, 1)."""
        return Problem(actions=(1, 2), features=["x"], outside="accept")

    def draw(self, start: int, stop: int, seed: int) -> World:
        """Rounds start..stop-1."""
        parts = [self._block(seed, block, rows) for block, rows in blocks(start, stop)]
        x = np.concatenate([part[0] for part in parts])
        noise = np.concatenate([part[1] for part in parts])
        means = self.means(x)
        return World(Contexts(x[:, np.newaxis]), means, means + self.noise * noise)

    @staticmethod
    def means(x: Floats) -> Floats:
        """Expected rewards of both actions, (n, 2)."""
        return np.stack([(x > 0.5).astype(np.float64), np.full(len(x), 0.5)], axis=1)

    @staticmethod
    def _block(seed: int, block: int, rows: slice) -> tuple[Floats, Floats]:
        rng = block_generator(seed, block)
        x = rng.random(BLOCK)
        noise = rng.standard_normal((BLOCK, 2))
        return x[rows], noise[rows]

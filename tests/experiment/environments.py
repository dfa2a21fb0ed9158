"""Rewards of 0 and 1 whose means are linear in one feature, so that gains over a control are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.environments.protocol import BLOCK, PotentialOutcomes


@dataclass(frozen=True)
class Effects:
    """Action k has the mean base + main[k] + slope[k] x, with x uniform on (-1, 1).

    The best policy gains the mean of max(0, s x) over action 0, a quarter of s, where a slope is s alone.
    """

    main: tuple[float, ...]
    slope: tuple[float, ...]
    base: float = 0.5

    @property
    def problem(self) -> Problem:
        return Problem(list(range(len(self.main))), features=1)

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        n_actions, parts = len(self.main), []
        for block in range(start // BLOCK, (stop - 1) // BLOCK + 1):
            first = block * BLOCK
            rows = np.random.default_rng([seed, block]).random((BLOCK, 1 + n_actions))
            parts.append(rows[max(start - first, 0) : stop - first])
        drawn = np.concatenate(parts)
        x = 2.0 * drawn[:, :1] - 1.0
        means = self.base + np.array(self.main) + np.array(self.slope) * x
        return PotentialOutcomes(Contexts(x), means, (drawn[:, 1:] < means).astype(np.float64))

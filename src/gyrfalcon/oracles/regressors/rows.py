"""Rows kept whole, for regressors that no sum of squares can stand in for."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints

Rows = tuple[Floats, Floats, Floats]
"""Features (n, p), rewards (n,) and weights (n,)."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some rows as columns: features (n, p), their block, reward and weight, (n,) each."""

    features: Floats
    block: Ints
    reward: Floats
    weight: Floats

    def __len__(self) -> int:
        return len(self.reward)

    def where(self, rows: Bools) -> Part:
        """The rows where the mask is true."""
        return Part(self.features[rows], self.block[rows], self.reward[rows], self.weight[rows])

    def followed_by(self, other: Part) -> Part:
        """The rows of this part, followed by those of another."""
        return Part(
            np.concatenate([self.features, other.features]),
            np.concatenate([self.block, other.block]),
            np.concatenate([self.reward, other.reward]),
            np.concatenate([self.weight, other.weight]),
        )


@dataclass(frozen=True, slots=True)
class RowSummary:
    """Rows in parts, which later summaries share; sums merge parts of like size, so that they stay few.

    >>> block = np.zeros(2, dtype=np.int64)
    >>> one = RowSummary((Part(np.zeros((2, 1)), block, np.array([0.0, 1.0]), np.ones(2)),))
    >>> (one + one).n, (one + one).reward_variance, one.scaled(0.5).n
    (4.0, 0.25, 1.0)
    """

    parts: tuple[Part, ...] = ()

    @property
    def n(self) -> float:
        """The total weight of the rows."""
        return float(sum(part.weight.sum() for part in self.parts))

    @property
    def reward_variance(self) -> float:
        """The weighted variance of the rewards; 0 without rows."""
        if self.n == 0.0:
            return 0.0
        reward, weight = self._column("reward"), self._column("weight")
        mean = float(np.average(reward, weights=weight))
        deviations = np.where(np.abs(reward - mean) <= 1e-14 * np.abs(mean), 0.0, reward - mean)
        return float(np.average(deviations**2, weights=weight))

    def __add__(self, other: RowSummary) -> RowSummary:
        parts = list(self.parts)
        for new in other.parts:
            part = new
            while parts and len(parts[-1]) < 2 * len(part):
                part = parts.pop().followed_by(part)
            parts.append(part)
        return RowSummary(tuple(parts))

    def scaled(self, factor: float) -> RowSummary:
        """The rows with every weight times a factor of at least 0, as forgetting does."""
        if not factor >= 0.0:
            raise ValueError(f"factor is {factor}; weights stay weights only under a factor of at least 0.")
        return RowSummary(
            tuple(Part(part.features, part.block, part.reward, part.weight * factor) for part in self.parts)
        )

    def of_block(self, block: int) -> Rows:
        """Features, rewards and weights of one block's rows that weigh anything."""
        chosen = [(part, (part.block == block) & (part.weight > 0.0)) for part in self.parts]
        if not chosen:
            return np.zeros((0, 0)), np.zeros(0), np.zeros(0)
        return (
            _read_only(np.concatenate([part.features[rows] for part, rows in chosen])),
            _read_only(np.concatenate([part.reward[rows] for part, rows in chosen])),
            _read_only(np.concatenate([part.weight[rows] for part, rows in chosen])),
        )

    def halves(self) -> tuple[RowSummary, RowSummary]:
        """Every second row of each block, and the others."""
        if not self.parts:
            return self, self
        whole = reduce(Part.followed_by, self.parts)
        order = np.argsort(whole.block, kind="stable")
        rank = np.empty(len(whole), dtype=np.int64)
        rank[order] = np.arange(len(whole))
        first = rank % 2 == 0
        return RowSummary((whole.where(first),)), RowSummary((whole.where(~first),))

    def reindexed(self, source: Ints) -> RowSummary:
        """The rows whose block is still there, numbered anew: block k was source[k] before."""
        return RowSummary(tuple(_renumbered(part, source) for part in self.parts))

    def _column(self, name: str) -> Floats:
        return np.concatenate([getattr(part, name) for part in self.parts])


class Sides:
    """Active and passive rows of one block, joined at any weight of the passive ones."""

    def __init__(self, active: RowSummary, passive: RowSummary, block: int) -> None:
        self.active, self.passive = active.of_block(block), passive.of_block(block)

    def at(self, passive_weight: float) -> Rows:
        """Active rows as they are and passive rows at this weight each.

        At infinity passive rows count alone, at 0 active ones; a side without rows leaves it to the other.
        """
        if len(self.active[1]) == 0 or (passive_weight == math.inf and len(self.passive[1])):
            return self.passive
        if len(self.passive[1]) == 0 or passive_weight == 0.0:
            return self.active
        return *self._both, np.concatenate([self.active[2], self.passive[2] * passive_weight])

    @cached_property
    def _both(self) -> tuple[Floats, Floats]:
        # The same arrays at every weight: a regressor that is refitted on them may recognise them.
        return (
            _read_only(np.concatenate([self.active[0], self.passive[0]])),
            _read_only(np.concatenate([self.active[1], self.passive[1]])),
        )


def _read_only(values: Floats) -> Floats:
    """The values, which a regressor that works in place can't spoil for the next one."""
    values.setflags(write=False)
    return values


def _renumbered(part: Part, source: Ints) -> Part:
    position = np.full(max(int(part.block.max(initial=-1)), int(source.max(initial=-1))) + 1, -1)
    position[source[source >= 0]] = np.flatnonzero(source >= 0)
    block = position[part.block]
    return replace(part, block=block).where(block >= 0)

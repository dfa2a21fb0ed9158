"""Environments that change over time, and environments whose actions are items with features."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.special import expit

from benchmarks.regret.practice.families import unit_directions, within
from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.environments.protocol import BLOCK, PotentialOutcomes, block_generator, drawn
from gyrfalcon.environments.synthetic.box import noisy, truth_generator

Change = Literal["none", "abrupt", "slow", "seasonal"]


@dataclass(frozen=True, kw_only=True)
class ChangingLinear:
    """Rewards of 0 and 1 with linear means 0.5 + signal w_a(t) x, whose slopes w_a change with the round.

    "abrupt": new slopes `times` times, evenly over `n_rounds`. "slow": slopes turn by 90 degrees, `times`
    times in all, from one direction to another and on. "seasonal": slopes w + v sin, with `times` periods.
    """

    change: Change = "none"
    n_rounds: int = 20_000
    times: int = 3
    n_actions: int = 5
    n_features: int = 10
    signal: float = 0.15
    environment_seed: int = 0

    @property
    def problem(self) -> Problem:
        """Actions 1 to K, p features, rewards 0 and 1."""
        return Problem(range(1, self.n_actions + 1), self.n_features)

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        """Outcomes of rounds start..stop-1."""
        return drawn(lambda block: self._block(seed, block), start, stop)

    def weights(self, rounds: Ints) -> Floats:
        """What each of the true directions counts in these rounds, (n, directions)."""
        passed = rounds / self.n_rounds
        if self.change == "abrupt":
            stage = np.minimum((passed * (self.times + 1)).astype(np.int64), self.times)
            return np.eye(self.times + 1)[stage]
        if self.change == "slow":
            angle = 0.5 * math.pi * self.times * passed
            return np.column_stack([np.cos(angle), np.sin(angle)])
        wave = np.sin(2.0 * math.pi * self.times * passed) if self.change == "seasonal" else 0.0 * passed
        return np.column_stack([np.ones(len(rounds)), wave])

    @cached_property
    def directions(self) -> Floats:
        """Slopes of length 1 for each action, several times, (directions, p, K)."""
        rng = truth_generator(self.environment_seed)
        size = self.n_features, self.n_actions
        return np.stack([unit_directions(rng, *size) for _ in range(max(self.times + 1, 2))])

    def _block(self, seed: int, block: int) -> PotentialOutcomes:
        rng = block_generator(seed, block)
        x = rng.standard_normal((BLOCK, self.n_features))
        weights = self.weights(block * BLOCK + np.arange(BLOCK))
        values = np.zeros((BLOCK, self.n_actions))
        for number, column in enumerate(weights.T):
            values += column[:, np.newaxis] * (x @ self.directions[number])
        means = within(0.5 + self.signal * values)
        return PotentialOutcomes(Contexts(x), means, noisy(rng, means, "bernoulli"))


@dataclass(frozen=True, kw_only=True)
class ItemsByTaste:
    """Items with features v that suit a visitor the better, the nearer they are to the taste T x.

    Mean rewards are 1 / (1 + exp(-z)), z = low + height exp(-|T x - v|^2 / (2 width^2)) + popularity e_a.
    They are not linear in v and x v. Items and their popularities stay the same in all rounds.
    """

    n_actions: int = 100
    n_features: int = 5
    n_action_features: int = 3
    width: float = 0.7
    low: float = -2.0
    height: float = 4.0
    popularity: float = 0.3
    environment_seed: int = 0

    @property
    def problem(self) -> Problem:
        """Actions 1 to K, p features of visitors and q of items, rewards 0 and 1."""
        return Problem(range(1, self.n_actions + 1), self.n_features, self.n_action_features)

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        """Outcomes of rounds start..stop-1."""
        return drawn(lambda block: self._block(seed, block), start, stop)

    def means(self, x: Floats) -> Floats:
        """Expected rewards of all actions at (n, p) features, (n, K)."""
        taste, items, popularities = self.truth
        wished = x @ taste
        squares = (wished**2).sum(axis=1)[:, np.newaxis] + (items**2).sum(axis=1) - 2.0 * wished @ items.T
        match = np.exp(-squares / (2.0 * self.width**2))
        return np.asarray(expit(self.low + self.height * match + self.popularity * popularities))

    @cached_property
    def truth(self) -> tuple[Floats, Floats, Floats]:
        """Tastes by features (p, q), features of items (K, q), popularities (K,)."""
        rng = truth_generator(self.environment_seed)
        taste = unit_directions(rng, self.n_features, self.n_action_features)
        items = rng.uniform(-1.0, 1.0, (self.n_actions, self.n_action_features))
        return taste, items, rng.standard_normal(self.n_actions)

    def _block(self, seed: int, block: int) -> PotentialOutcomes:
        rng = block_generator(seed, block)
        x = rng.uniform(-1.0, 1.0, (BLOCK, self.n_features))
        means = self.means(x)
        items = np.broadcast_to(self.truth[1], (BLOCK, *self.truth[1].shape))
        return PotentialOutcomes(Contexts(x, items), means, noisy(rng, means, "bernoulli"))

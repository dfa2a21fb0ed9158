"""Families of environments with a dial each: weak signals or none, many actions, clicks, one-hot columns."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.special import expit, logit

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.environments.protocol import BLOCK, PotentialOutcomes, block_generator, drawn
from gyrfalcon.environments.synthetic.box import noisy, truth_generator

SIGNAL = 0.15
"""Standard deviation of mean rewards over contexts, where the noise is what is dialled."""


@dataclass(frozen=True, kw_only=True)
class Family(ABC):
    """Base: standard normal features, mean rewards in [0, 1], rewards of 0 and 1."""

    n_actions: int = 5
    n_features: int = 20
    environment_seed: int = 0

    @property
    def problem(self) -> Problem:
        """Actions 1 to K, p features, rewards 0 and 1."""
        return Problem(range(1, self.n_actions + 1), self.n_features)

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        """Outcomes of rounds start..stop-1."""
        return drawn(lambda block: self._block(seed, block), start, stop)

    def contexts(self, rng: np.random.Generator) -> Floats:
        """The features of a block of rounds, (BLOCK, p)."""
        return rng.standard_normal((BLOCK, self.n_features))

    @abstractmethod
    def means(self, x: Floats) -> Floats:
        """Expected rewards of all actions at (n, p) features, (n, K)."""

    def rewards(self, rng: np.random.Generator, means: Floats) -> Floats:
        """Realised rewards of all actions, (n, K)."""
        return noisy(rng, means, "bernoulli")

    @cached_property
    def directions(self) -> Floats:
        """A random direction of length 1 for each action, (p, K)."""
        return unit_directions(truth_generator(self.environment_seed), self.n_features, self.n_actions)

    def _block(self, seed: int, block: int) -> PotentialOutcomes:
        rng = block_generator(seed, block)
        x = self.contexts(rng)
        means = self.means(x)
        return PotentialOutcomes(Contexts(x), means, self.rewards(rng, means))


@dataclass(frozen=True, kw_only=True)
class LinearSignal(Family):
    """Mean rewards 0.5 + s w_a x, linear in the features but for a cut at 0 and 1.

    The signal-to-noise ratio is the variance of the mean rewards over that of the noise. Rewards of 0 and 1
    have a variance of 0.25 in all, so that their ratio sets s. With the other noises s is 0.15, and the ratio
    sets the noise: Gaussian, which leaves [0, 1], or a beta distribution, which does not.
    """

    signal_to_noise: float = 0.03
    noise: Literal["bernoulli", "gaussian", "beta"] = "bernoulli"

    @property
    def problem(self) -> Problem:
        """Gaussian rewards are accepted outside (0, 1)."""
        out_of_range: Literal["accept", "error"] = "accept" if self.noise == "gaussian" else "error"
        return Problem(range(1, self.n_actions + 1), self.n_features, out_of_range=out_of_range)

    @property
    def signal(self) -> float:
        """The standard deviation of mean rewards over contexts."""
        ratio = self.signal_to_noise
        return 0.5 * math.sqrt(ratio / (1.0 + ratio)) if self.noise == "bernoulli" else SIGNAL

    def means(self, x: Floats) -> Floats:
        """Expected rewards of all actions at (n, p) features, (n, K)."""
        return within(0.5 + self.signal * (x @ self.directions))

    def rewards(self, rng: np.random.Generator, means: Floats) -> Floats:
        """Realised rewards of all actions, (n, K)."""
        variance = SIGNAL**2 / self.signal_to_noise
        if self.noise == "beta":
            return beta_rewards(rng, means, 0.25 / variance - 1.0)
        return noisy(rng, means, "bernoulli" if self.noise == "bernoulli" else math.sqrt(variance))


@dataclass(frozen=True, kw_only=True)
class OneBetterAction(Family):
    """Coins of which one is better by a lead, whatever the features say; a lead of 0 is the null problem."""

    lead: float = 0.05

    def means(self, x: Floats) -> Floats:
        """Expected rewards of all actions at (n, p) features, (n, K)."""
        means = np.full((len(x), self.n_actions), 0.5)
        means[:, truth_generator(self.environment_seed).integers(self.n_actions)] += self.lead
        return means


@dataclass(frozen=True, kw_only=True)
class LogisticActions(Family):
    """Mean rewards 1 / (1 + exp(-z)), z = logit(rate) + scale w_a x; a rate of 0.01 is that of clicks."""

    rate: float = 0.5
    scale: float = 2.0

    def means(self, x: Floats) -> Floats:
        """Expected rewards of all actions at (n, p) features, (n, K)."""
        return np.asarray(expit(logit(self.rate) + self.scale * (x @ self.directions)))


@dataclass(frozen=True, kw_only=True)
class LowRankActions(Family):
    """Logistic means whose slopes, (p, K), are of low rank: actions resemble each other."""

    n_actions: int = 100
    rank: int = 3
    scale: float = 1.6

    def means(self, x: Floats) -> Floats:
        """Expected rewards of all actions at (n, p) features, (n, K)."""
        return np.asarray(expit(x @ self.slopes))

    @cached_property
    def slopes(self) -> Floats:
        """Coefficients of the features, (p, K)."""
        rng = truth_generator(self.environment_seed)
        orthonormal, _ = np.linalg.qr(rng.standard_normal((self.n_features, self.rank)))
        loadings = rng.standard_normal((self.rank, self.n_actions)) / math.sqrt(self.rank)
        return self.scale * (orthonormal @ loadings)


@dataclass(frozen=True, kw_only=True)
class OneHotLevels(Family):
    """Some categorical features as columns of 0 and 1; each level adds to the mean rewards."""

    levels: tuple[int, ...] = (200, 10)
    signal: float = 0.15

    @property
    def problem(self) -> Problem:
        """Actions 1 to K, a column per level, rewards 0 and 1."""
        return Problem(range(1, self.n_actions + 1), sum(self.levels))

    def contexts(self, rng: np.random.Generator) -> Floats:
        """A 1 in the column of each categorical feature's level, (BLOCK, levels in all)."""
        x, first = np.zeros((BLOCK, sum(self.levels))), 0
        for n_levels in self.levels:
            x[np.arange(BLOCK), first + rng.integers(n_levels, size=BLOCK)] = 1.0
            first += n_levels
        return x

    def means(self, x: Floats) -> Floats:
        """Expected rewards of all actions at (n, p) features, (n, K)."""
        return within(0.5 + self.signal * (x @ self.effects))

    @cached_property
    def effects(self) -> Floats:
        """What each level adds, in multiples of the signal, (levels in all, K)."""
        size = sum(self.levels), self.n_actions
        return truth_generator(self.environment_seed).standard_normal(size)


def unit_directions(rng: np.random.Generator, n_features: int, n_actions: int) -> Floats:
    """Random directions of length 1, (p, K)."""
    normals = rng.standard_normal((n_features, n_actions))
    unit: Floats = normals / np.linalg.norm(normals, axis=0)
    return unit


def within(means: Floats) -> Floats:
    """Means cut to [0.01, 0.99]."""
    return np.clip(means, 0.01, 0.99)


def beta_rewards(rng: np.random.Generator, means: Floats, concentration: float) -> Floats:
    """Rewards in [0, 1] with these means; the more concentrated, the less noise."""
    return rng.beta(means * concentration, (1.0 - means) * concentration)

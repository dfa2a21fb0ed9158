"""Rewards in units of their own: euros with a heavy tail, declared ranges that do not fit, absurd values."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.regret.practice.families import Family
from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.environments.protocol import Environment, PotentialOutcomes

_ABSURD = 17
"""Part of the seed of absurd rewards' rounds, distinct from the streams of environments."""


@dataclass(frozen=True, kw_only=True)
class LognormalEuros(Family):
    """Lognormal amounts of about 5 euros at the median, declared in (0, 100), accepted beyond.

    The logarithm is normal with standard deviation sigma around log(5) + scale w_a x.
    """

    n_features: int = 10
    sigma: float = 1.0
    scale: float = 0.5

    @property
    def problem(self) -> Problem:
        """Euros from 0 to 100, more accepted."""
        return Problem(
            range(1, self.n_actions + 1), self.n_features, reward_range=(0.0, 100.0), out_of_range="accept"
        )

    def means(self, x: Floats) -> Floats:
        """Expected rewards of all actions at (n, p) features, (n, K)."""
        medians: Floats = 5.0 * np.exp(self.scale * (x @ self.directions))
        return medians * math.exp(0.5 * self.sigma**2)

    def rewards(self, rng: np.random.Generator, means: Floats) -> Floats:
        """Realised rewards of all actions, (n, K)."""
        noise = rng.standard_normal(means.shape)
        amounts: Floats = means * np.exp(self.sigma * noise - 0.5 * self.sigma**2)
        return amounts


@dataclass(frozen=True, kw_only=True)
class InUnits:
    """An environment whose rewards r become low + (high - low) r, or costs high - (high - low) r.

    The range that is declared need not be the one from low to high.
    """

    environment: Environment
    low: float
    high: float
    reward_range: tuple[float, float]
    cost: bool = False

    @property
    def problem(self) -> Problem:
        """The environment's actions and features, with the range that is declared."""
        inner = self.environment.problem
        return Problem(
            inner.actions,
            inner.features,
            reward_range=self.reward_range,
            out_of_range=inner.out_of_range,
            cost=self.cost,
        )

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        """Outcomes of rounds start..stop-1."""
        outcomes = self.environment.draw(start, stop, seed)
        return replace(outcomes, means=self._of(outcomes.means), rewards=self._of(outcomes.rewards))

    def _of(self, values: Floats) -> Floats:
        width = self.high - self.low
        return self.high - width * values if self.cost else self.low + width * values


@dataclass(frozen=True, kw_only=True)
class AbsurdRewards:
    """An environment in which some rounds, drawn by the seed, give the same absurd reward to all actions.

    Expected rewards stay as they are: an absurd reward is an error of measurement.
    """

    environment: Environment
    n_rounds: int = 20_000
    n_absurd: int = 20
    value: float = 30.0

    @property
    def problem(self) -> Problem:
        """The environment's, with rewards outside its range accepted."""
        inner = self.environment.problem
        return Problem(inner.actions, inner.features, reward_range=inner.reward_range, out_of_range="accept")

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        """Outcomes of rounds start..stop-1."""
        outcomes = self.environment.draw(start, stop, seed)
        rng = np.random.default_rng([seed, _ABSURD])
        rounds = rng.choice(self.n_rounds, min(self.n_absurd, self.n_rounds), replace=False)
        signs = rng.choice((-1.0, 1.0), len(rounds))
        here = (rounds >= start) & (rounds < stop)
        rewards = outcomes.rewards.copy()
        rewards[rounds[here] - start] = self.value * signs[here, np.newaxis]
        return replace(outcomes, rewards=rewards)

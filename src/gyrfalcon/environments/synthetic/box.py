"""Environments with features uniform on the box (-1, 1)^p, and their populations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.settings import changed_settings_repr
from gyrfalcon.core.validation import Noise, check_whole
from gyrfalcon.environments.population.population import Population
from gyrfalcon.environments.protocol import BLOCK, PotentialOutcomes, block_generator, drawn

_MOST_FEATURES = 3
"""Largest number of features for a grid of quadrature nodes."""
_TRUTH = 3
"""Part of the seed of true means, distinct from the streams of a simulation."""


@dataclass(frozen=True, kw_only=True, repr=False)
class BoxEnvironment(ABC):
    """Base of environments with K actions and p features, uniform on (-1, 1)^p."""

    n_actions: int = 3
    n_features: int = 2
    environment_seed: int = 0

    def __post_init__(self) -> None:
        check_whole("n_actions", self.n_actions, 2)
        check_whole("n_features", self.n_features, 1)
        check_whole("environment_seed", self.environment_seed, 0)

    def __repr__(self) -> str:
        return changed_settings_repr(self)

    @abstractmethod
    def means(self, x: Floats) -> Floats:
        """Expected rewards of all actions at (n, p) features, (n, K)."""

    @abstractmethod
    def breaks(self, feature: int) -> Floats:
        """Points along a feature where the means jump, or a quadrature rule is best divided."""

    @abstractmethod
    def rewards(self, rng: np.random.Generator, x: Floats, means: Floats) -> Floats:
        """Realised rewards of all actions, (n, K)."""

    @property
    @abstractmethod
    def problem(self) -> Problem:
        """Actions 1 to K, p features, and the range of rewards."""

    @property
    def population(self) -> Population:
        """The distribution that rounds are drawn from, for up to three features."""
        p = self.n_features
        if p > _MOST_FEATURES:
            raise ValueError(
                f"n_features is {p}, and quadrature goes up to {_MOST_FEATURES}; "
                "use Population.sampled(environment, n, seed) instead."
            )
        intervals = [np.union1d([-1.0, 1.0], self.breaks(feature)) for feature in range(p)]
        if p == 1:
            return Population.on_interval(lambda x: self.means(x[:, np.newaxis]), intervals[0].tolist())
        return Population.on_box(self.means, [interval.tolist() for interval in intervals])

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        """Outcomes of rounds start..stop-1."""
        return drawn(lambda block: self._block(seed, block), start, stop)

    def _block(self, seed: int, block: int) -> PotentialOutcomes:
        rng = block_generator(seed, block)
        x = rng.random((BLOCK, self.n_features))
        x *= 2.0
        x -= 1.0
        means = self.means(x)
        return PotentialOutcomes(Contexts(x), means, self.rewards(rng, x, means))


def noisy(rng: np.random.Generator, means: Floats, noise: Noise) -> Floats:
    """Rewards with these means: with Gaussian noise, or 0 and 1.

    >>> noisy(np.random.default_rng(0), np.array([[0.0, 0.5, 1.0]]), "bernoulli").tolist()
    [[0.0, 1.0, 1.0]]
    """
    if isinstance(noise, str):
        return (rng.random(means.shape) < means).astype(np.float64)
    rewards = rng.standard_normal(means.shape)
    rewards *= noise
    rewards += means
    return rewards


def box_problem(n_actions: int, n_features: int, n_action_features: int, noise: Noise) -> Problem:
    """Actions 1 to K; Gaussian rewards leave [0, 1], so the problem accepts that."""
    return Problem(
        range(1, n_actions + 1),
        n_features or None,
        n_action_features or None,
        out_of_range="error" if noise == "bernoulli" else "accept",
    )


def within_unit(values: Floats) -> Floats:
    """Values in [-1, 1] as means in [0, 1]; sums that round to just outside are moved back."""
    means = 0.5 * values
    means += 0.5
    return np.clip(means, 0.0, 1.0, out=means)


def truth_generator(environment_seed: int) -> np.random.Generator:
    """The random generator of an environment's true means."""
    return np.random.default_rng([environment_seed, _TRUTH])

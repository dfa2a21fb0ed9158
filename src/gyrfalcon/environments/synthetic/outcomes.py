"""Environments with rare rewards, and with noise that depends on the context."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.validation import check_deviation, check_positive, check_share
from gyrfalcon.environments.synthetic.box import (
    BoxEnvironment,
    box_problem,
    noisy,
    truth_generator,
    within_unit,
)
from gyrfalcon.environments.synthetic.shapes import LinearMeans, SinusoidMeans


@dataclass(frozen=True, kw_only=True, repr=False)
class _PartlySinusoidEnvironment(BoxEnvironment):
    """Base of environments between linear means and sinusoids, centred over contexts and actions."""

    misspecification: float = 0.0
    frequency: float = 4.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share("misspecification", self.misspecification)
        check_positive("frequency", self.frequency)

    @cached_property
    def parts(self) -> tuple[LinearMeans, SinusoidMeans]:
        """The linear and the sinusoidal part of the means."""
        rng = truth_generator(self.environment_seed)
        size = self.n_actions, self.n_features
        return LinearMeans.drawn(rng, *size).centred(), SinusoidMeans.drawn(
            rng, *size, frequency=self.frequency, odd=True
        )

    def breaks(self, feature: int) -> Floats:
        """Points along a feature where a quadrature rule is best divided."""
        return self.parts[1].breaks(feature)

    def _values(self, x: Floats) -> Floats:
        linear, sinusoids = self.parts
        return (1.0 - self.misspecification) * linear.values(x) + self.misspecification * sinusoids.values(x)


@dataclass(frozen=True, kw_only=True, repr=False)
class RareRewardEnvironment(_PartlySinusoidEnvironment):
    """Rewards of 0 and 1, of which few are 1 under uniform play.

    Features are uniform on (-1, 1)^p. Means run from 0 to twice the rate, between linear ones and sinusoids
    of random projections, and average to the rate whatever the misspecification.

    Parameters
    ----------
    n_actions : int, default 3
        Number of actions K.
    n_features : int, default 2
        Number of features p of a context.
    environment_seed : int, default 0
        Seed of the true mean rewards, which do not depend on the seed of a simulation.
    misspecification : float, default 0.0
        Weight of the nonlinear part of the means: 0 leaves a linear truth, 1 leaves no linear part.
    frequency : float, default 4.0
        Radians per unit of the projection that a sinusoid is a function of; features run over 2 units.
    rate : float, default 0.05
        Share of rounds with a reward of 1 under uniform play, at most 0.5.

    Examples
    --------
    >>> outcomes = RareRewardEnvironment(misspecification=0.5).draw(0, 20_000, seed=0)
    >>> round(float(outcomes.rewards.mean()), 2), bool(outcomes.means.max() <= 0.1)
    (0.05, True)
    """

    rate: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("rate", self.rate)
        if self.rate > 0.5:
            raise ValueError(f"rate is {self.rate!r}; means run to twice the rate, so give at most 0.5.")

    @property
    def problem(self) -> Problem:
        """Actions 1 to K, p features, rewards 0 and 1."""
        return box_problem(self.n_actions, self.n_features, 0, "bernoulli")

    def means(self, x: Floats) -> Floats:
        """Expected rewards of all actions at (n, p) features, (n, K)."""
        return 2.0 * self.rate * within_unit(self._values(x))

    def rewards(self, rng: np.random.Generator, x: Floats, means: Floats) -> Floats:  # noqa: ARG002
        """Realised rewards of all actions, (n, K)."""
        return noisy(rng, means, "bernoulli")


@dataclass(frozen=True, kw_only=True, repr=False)
class HeteroscedasticEnvironment(_PartlySinusoidEnvironment):
    """Gaussian rewards whose noise grows along the first feature.

    Features are uniform on (-1, 1)^p. Means are between linear ones and sinusoids of random projections.

    Parameters
    ----------
    n_actions : int, default 3
        Number of actions K.
    n_features : int, default 2
        Number of features p of a context.
    environment_seed : int, default 0
        Seed of the true mean rewards, which do not depend on the seed of a simulation.
    misspecification : float, default 0.0
        Weight of the nonlinear part of the means: 0 leaves a linear truth, 1 leaves no linear part.
    frequency : float, default 4.0
        Radians per unit of the projection that a sinusoid is a function of; features run over 2 units.
    noise : float, default 0.05
        Smallest standard deviation of the rewards, where the first feature is -1.
    most_noise : float, default 0.5
        Largest standard deviation of the rewards, where the first feature is 1.

    Examples
    --------
    >>> environment = HeteroscedasticEnvironment(noise=0.1, most_noise=0.5)
    >>> environment.deviations(np.array([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])).round(12).tolist()
    [0.1, 0.3, 0.5]
    """

    noise: float = 0.05
    most_noise: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_deviation("noise", self.noise)
        check_deviation("most_noise", self.most_noise)
        if self.most_noise < self.noise:
            raise ValueError(
                f"most_noise is {self.most_noise!r}, below the noise, {self.noise!r}; give no less than that."
            )

    @property
    def problem(self) -> Problem:
        """Actions 1 to K, p features, rewards accepted outside (0, 1)."""
        return box_problem(self.n_actions, self.n_features, 0, self.noise)

    def deviations(self, x: Floats) -> Floats:
        """The standard deviation of rewards at (n, p) features, (n,)."""
        return self.noise + (self.most_noise - self.noise) * (1.0 + x[:, 0]) / 2.0

    def means(self, x: Floats) -> Floats:
        """Expected rewards of all actions at (n, p) features, (n, K)."""
        return within_unit(self._values(x))

    def rewards(self, rng: np.random.Generator, x: Floats, means: Floats) -> Floats:
        """Realised rewards of all actions, (n, K)."""
        return means + self.deviations(x)[:, np.newaxis] * rng.standard_normal(means.shape)

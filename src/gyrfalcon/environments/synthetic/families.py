"""Environments between linear mean rewards and sinusoids, xor or bumps, by a misspecification parameter."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.validation import Noise, check_noise, check_positive, check_share
from gyrfalcon.environments.synthetic.box import (
    BoxEnvironment,
    box_problem,
    noisy,
    truth_generator,
    within_unit,
)
from gyrfalcon.environments.synthetic.shapes import BumpMeans, LinearMeans, Shape, SinusoidMeans, XorMeans


@dataclass(frozen=True, kw_only=True, repr=False)
class LinearEnvironment(BoxEnvironment):
    """Mean rewards that are linear in uniform features: b = 0.

    Features are uniform on (-1, 1)^p. The means of each action reach 0 or 1 in a corner of that box. Gaussian
    rewards leave [0, 1], which the problem accepts.

    Parameters
    ----------
    n_actions : int, default 3
        Number of actions K.
    n_features : int, default 2
        Number of features p of a context.
    environment_seed : int, default 0
        Seed of the true mean rewards, which do not depend on the seed of a simulation.
    noise : float or 'bernoulli', default 0.1
        Standard deviation of Gaussian rewards around their means, or 'bernoulli' for rewards of 0 and 1.

    Examples
    --------
    >>> environment = LinearEnvironment(n_actions=4, n_features=2, noise="bernoulli")
    >>> environment.draw(0, 3, seed=0).rewards.shape
    (3, 4)
    """

    noise: Noise = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_noise(self.noise)

    @property
    def problem(self) -> Problem:
        """Actions 1 to K and p features; Gaussian rewards are accepted outside (0, 1)."""
        return box_problem(self.n_actions, self.n_features, 0, self.noise)

    def means(self, x: Floats) -> Floats:
        """Expected rewards of all actions at (n, p) features, (n, K)."""
        return within_unit(self.linear_part.values(x))

    def breaks(self, feature: int) -> Floats:
        """No points: linear functions are smooth."""
        return self.linear_part.breaks(feature)

    def rewards(self, rng: np.random.Generator, x: Floats, means: Floats) -> Floats:  # noqa: ARG002
        """Realised rewards of all actions, (n, K)."""
        return noisy(rng, means, self.noise)

    @cached_property
    def linear_part(self) -> LinearMeans:
        """The linear part, the same for all families with this environment seed."""
        return LinearMeans.drawn(truth_generator(self.environment_seed), self.n_actions, self.n_features)


@dataclass(frozen=True, kw_only=True, repr=False)
class MisspecifiedEnvironment(LinearEnvironment):
    """Mean rewards (1 + (1 - m) l + m s) / 2 of a linear part l and a nonlinear part s.

    m is the misspecification. The linear part is in the class of linear models, so that b(m) = m^2 b(1), and
    likewise B; the largest error of the best linear model grows as m.
    """

    misspecification: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share("misspecification", self.misspecification)

    def means(self, x: Floats) -> Floats:
        """Expected rewards of all actions at (n, p) features, (n, K)."""
        m = self.misspecification
        return within_unit((1.0 - m) * self.linear_part.values(x) + m * self.shape.values(x))

    def breaks(self, feature: int) -> Floats:
        """Points along a feature where the means jump, or a quadrature rule is best divided."""
        return self.shape.breaks(feature)

    @cached_property
    def shape(self) -> Shape:
        """The nonlinear part of the means."""
        rng = truth_generator(self.environment_seed)
        # The linear part comes first in this stream.
        LinearMeans.drawn(rng, self.n_actions, self.n_features)
        return self._drawn_shape(rng)

    @abstractmethod
    def _drawn_shape(self, rng: np.random.Generator) -> Shape: ...


@dataclass(frozen=True, kw_only=True, repr=False)
class SinusoidEnvironment(MisspecifiedEnvironment):
    """Mean rewards between linear ones and sinusoids of random projections.

    Features are uniform on (-1, 1)^p, and each action has a projection and a phase of its own.

    Parameters
    ----------
    n_actions : int, default 3
        Number of actions K.
    n_features : int, default 2
        Number of features p of a context.
    environment_seed : int, default 0
        Seed of the true mean rewards, which do not depend on the seed of a simulation.
    noise : float or 'bernoulli', default 0.1
        Standard deviation of Gaussian rewards around their means, or 'bernoulli' for rewards of 0 and 1.
    misspecification : float, default 1.0
        Weight of the nonlinear part of the means: 0 leaves a linear truth, 1 leaves no linear part.
    frequency : float, default 4.0
        Radians per unit of the projection that a sinusoid is a function of; features run over 2 units.

    Examples
    --------
    >>> from gyrfalcon.environments.population.best_in_class import misspecification
    >>> from gyrfalcon.oracles.linear.linear import Linear
    >>> environments = [SinusoidEnvironment(n_features=1, misspecification=m) for m in (0.0, 0.5, 1.0)]
    >>> [round(misspecification(environment.population, Linear()).b, 6) for environment in environments]
    [0.0, 0.027806, 0.111224]
    """

    frequency: float = 4.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("frequency", self.frequency)

    def _drawn_shape(self, rng: np.random.Generator) -> Shape:
        return SinusoidMeans.drawn(rng, self.n_actions, self.n_features, frequency=self.frequency)


@dataclass(frozen=True, kw_only=True, repr=False)
class XorEnvironment(MisspecifiedEnvironment):
    """Mean rewards between linear ones and the xor of the signs of two features.

    Features are uniform on (-1, 1)^p. The best linear model of a xor is constant: at misspecification 1, b is
    a quarter of the mean square height of the actions.

    Parameters
    ----------
    n_actions : int, default 3
        Number of actions K.
    n_features : int, default 2
        Number of features p of a context, at least 2.
    environment_seed : int, default 0
        Seed of the true mean rewards, which do not depend on the seed of a simulation.
    noise : float or 'bernoulli', default 0.1
        Standard deviation of Gaussian rewards around their means, or 'bernoulli' for rewards of 0 and 1.
    misspecification : float, default 1.0
        Weight of the nonlinear part of the means: 0 leaves a linear truth, 1 leaves no linear part.

    Examples
    --------
    >>> environment = XorEnvironment(n_actions=2, n_features=3)
    >>> environment.means(np.array([[0.5, 0.5, 0.5], [-0.5, -0.5, -0.5]])).round(3).tolist()
    [[0.977, 0.115], [0.977, 0.115]]
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_features < 2:
            raise ValueError(f"n_features is {self.n_features}; xor is of two features, so give at least 2.")

    def _drawn_shape(self, rng: np.random.Generator) -> Shape:
        return XorMeans.drawn(rng, self.n_actions, self.n_features)


@dataclass(frozen=True, kw_only=True, repr=False)
class BumpEnvironment(MisspecifiedEnvironment):
    """Mean rewards between linear ones and indicators of a small region per action.

    Features are uniform on (-1, 1)^p. The region of an action is an interval where there is one feature, and
    a square in two of them where there are more.

    Parameters
    ----------
    n_actions : int, default 3
        Number of actions K.
    n_features : int, default 2
        Number of features p of a context.
    environment_seed : int, default 0
        Seed of the true mean rewards, which do not depend on the seed of a simulation.
    noise : float or 'bernoulli', default 0.1
        Standard deviation of Gaussian rewards around their means, or 'bernoulli' for rewards of 0 and 1.
    misspecification : float, default 1.0
        Weight of the nonlinear part of the means: 0 leaves a linear truth, 1 leaves no linear part.
    radius : float, default 0.5
        Half the length of a region's sides, below 1; features run over 2 units.

    Examples
    --------
    >>> environment = BumpEnvironment(n_actions=2, n_features=1, radius=0.25)
    >>> round(float(environment.draw(0, 4096, seed=0).means.mean()), 2)
    0.25
    """

    radius: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("radius", self.radius)
        if self.radius >= 1.0:
            raise ValueError(f"radius is {self.radius!r}; the bump lies in (-1, 1), so give less than 1.")

    def _drawn_shape(self, rng: np.random.Generator) -> Shape:
        return BumpMeans.drawn(rng, self.n_actions, self.n_features, radius=self.radius)

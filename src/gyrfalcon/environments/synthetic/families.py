"""Environments with a misspecification dial: from a truth that is linear to a wave, a xor or a bump."""

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
from gyrfalcon.environments.synthetic.shapes import Bumps, Checkers, Lines, Shape, Waves


@dataclass(frozen=True, kw_only=True)
class LinearEnvironment(BoxEnvironment):
    """Means linear in features uniform on (-1, 1)^p: b = 0.

    Each line spans a part of [0, 1] and touches an end of it in a corner. `noise` is the standard deviation
    of Gaussian rewards, which leave [0, 1], or "bernoulli" for rewards that are 0 or 1.

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
        return within_unit(self.lines.values(x))

    def breaks(self, feature: int) -> Floats:
        """None: lines are smooth."""
        return self.lines.breaks(feature)

    def rewards(self, rng: np.random.Generator, x: Floats, means: Floats) -> Floats:  # noqa: ARG002
        """Realised rewards of all actions, (n, K)."""
        return noisy(rng, means, self.noise)

    @cached_property
    def lines(self) -> Lines:
        """The linear part, the same for all families with this environment seed."""
        return Lines.drawn(truth_generator(self.environment_seed), self.n_actions, self.n_features)


@dataclass(frozen=True, kw_only=True)
class BentEnvironment(LinearEnvironment):
    """Means (1 + (1 - m) line + m shape) / 2, where m is the dial `misspecification`.

    The linear part is in the class of linear models, so that b(m) = m^2 b(1), and likewise B; the largest
    error of the best linear model grows as m.
    """

    misspecification: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share("misspecification", self.misspecification)

    def means(self, x: Floats) -> Floats:
        """Expected rewards of all actions at (n, p) features, (n, K)."""
        m = self.misspecification
        return within_unit((1.0 - m) * self.lines.values(x) + m * self.shape.values(x))

    def breaks(self, feature: int) -> Floats:
        """Where the shape jumps along a feature, or a quadrature rule is best cut."""
        return self.shape.breaks(feature)

    @cached_property
    def shape(self) -> Shape:
        """What the dial turns to."""
        rng = truth_generator(self.environment_seed)
        # The lines come first in this stream.
        Lines.drawn(rng, self.n_actions, self.n_features)
        return self._drawn_shape(rng)

    @abstractmethod
    def _drawn_shape(self, rng: np.random.Generator) -> Shape: ...


@dataclass(frozen=True, kw_only=True)
class SinusoidEnvironment(BentEnvironment):
    """Means that turn from lines into sinusoids of random projections, one per action.

    `frequency` is in radians per unit of the projection; features run over 2 units.

    >>> from gyrfalcon.environments.population.best_in_class import misspecification
    >>> from gyrfalcon.oracles.linear.linear import Linear
    >>> environments = [SinusoidEnvironment(n_features=1, misspecification=dial) for dial in (0.0, 0.5, 1.0)]
    >>> [round(misspecification(environment.population, Linear()).b, 6) for environment in environments]
    [0.0, 0.027806, 0.111224]
    """

    frequency: float = 4.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("frequency", self.frequency)

    def _drawn_shape(self, rng: np.random.Generator) -> Shape:
        return Waves.drawn(rng, self.n_actions, self.n_features, frequency=self.frequency)


@dataclass(frozen=True, kw_only=True)
class XorEnvironment(BentEnvironment):
    """Means that turn from lines into the xor of the signs of two features, of which lines see nothing.

    At dial 1 the best linear model is constant: b is a quarter of the mean square height of the actions.

    >>> environment = XorEnvironment(n_actions=2, n_features=3)
    >>> environment.means(np.array([[0.5, 0.5, 0.5], [-0.5, -0.5, -0.5]])).round(3).tolist()
    [[0.977, 0.115], [0.977, 0.115]]
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_features < 2:
            raise ValueError(f"n_features is {self.n_features}; xor is of two features, so give at least 2.")

    def _drawn_shape(self, rng: np.random.Generator) -> Shape:
        return Checkers.drawn(rng, self.n_actions, self.n_features)


@dataclass(frozen=True, kw_only=True)
class BumpEnvironment(BentEnvironment):
    """Means that turn from lines into indicators: 1 on an interval or a square of the action's own, else 0.

    With one feature it is an interval, with more a square in two of them; its sides are 2 `radius` long, of
    the 2 that features run over.

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
        return Bumps.drawn(rng, self.n_actions, self.n_features, radius=self.radius)

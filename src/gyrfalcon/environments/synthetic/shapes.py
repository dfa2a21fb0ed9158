"""Mean rewards on the box (-1, 1)^p, within [-1, 1]: linear, sinusoidal, xor and bumps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints

_RADIANS_PER_PIECE = 5.0
"""Length over which 12 Gauss-Legendre nodes integrate the square of a sinusoid, up to rounding."""


class Shape(Protocol):
    """One function of the features per action."""

    def values(self, x: Floats) -> Floats:
        """(n, p) features to (n, K) numbers within [-1, 1]."""
        ...

    def breaks(self, feature: int) -> Floats:
        """Points in (-1, 1) along a feature where values jump, or a quadrature rule is best divided."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class LinearMeans:
    """Linear functions that reach 1 or -1 in a corner of the box, with an intercept and p slopes each.

    >>> linear = LinearMeans.drawn(np.random.default_rng(0), 3, 2)
    >>> (abs(linear.intercepts) + abs(linear.slopes).sum(axis=1)).round(12).tolist()
    [1.0, 1.0, 1.0]
    """

    intercepts: Floats  # (K,)
    slopes: Floats  # (K, p)

    @staticmethod
    def drawn(rng: np.random.Generator, n_actions: int, n_features: int) -> LinearMeans:
        """Normal coefficients, scaled to the box; intercepts are half as large as slopes."""
        normals = rng.standard_normal((n_actions, n_features + 1))
        normals[:, 0] /= 2.0
        scaled = normals / np.abs(normals).sum(axis=1, keepdims=True)
        return LinearMeans(scaled[:, 0], scaled[:, 1:])

    def centred(self) -> LinearMeans:
        """Linear functions with these slopes and intercepts that sum to 0, within [-1, 1]."""
        intercepts = self.intercepts - self.intercepts.mean()
        reach = np.abs(intercepts) + np.abs(self.slopes).sum(axis=1)
        # One factor for all actions keeps the sum of the intercepts at 0.
        scale = max(1.0, float(reach.max()))
        return LinearMeans(intercepts / scale, self.slopes / scale)

    def values(self, x: Floats) -> Floats:
        """Values of the linear functions at these features."""
        values: Floats = x @ self.slopes.T
        values += self.intercepts
        return values

    def breaks(self, feature: int) -> Floats:  # noqa: ARG002 - there are none along any
        """No points: linear functions are smooth."""
        return np.zeros(0)


@dataclass(frozen=True, slots=True, eq=False)
class SinusoidMeans:
    """Sinusoids of random projections: sin(frequencies . x + phase).

    >>> sinusoids = SinusoidMeans.drawn(np.random.default_rng(0), 2, 1, frequency=4.0)
    >>> sinusoids.frequencies.tolist(), sinusoids.breaks(0).tolist()
    ([[4.0], [-4.0]], [0.0])
    """

    frequencies: Floats  # (K, p), in radians per unit
    phases: Floats  # (K,)

    @staticmethod
    def drawn(
        rng: np.random.Generator, n_actions: int, n_features: int, *, frequency: float, odd: bool = False
    ) -> SinusoidMeans:
        """Directions uniform on the sphere, phases on the circle; odd sinusoids have phase 0 and mean 0."""
        normals = rng.standard_normal((n_actions, n_features))
        directions = normals / np.linalg.norm(normals, axis=1, keepdims=True)
        phases = rng.uniform(0.0, 2.0 * math.pi, n_actions)
        return SinusoidMeans(frequency * directions, np.zeros(n_actions) if odd else phases)

    def values(self, x: Floats) -> Floats:
        """Values sin(frequencies . x + phase) at these features."""
        return np.asarray(np.sin(x @ self.frequencies.T + self.phases))

    def breaks(self, feature: int) -> Floats:
        """Equal pieces, short enough for a quadrature rule of order 12."""
        fastest = float(np.abs(self.frequencies[:, feature]).max())
        n_pieces = math.ceil(2.0 * fastest / _RADIANS_PER_PIECE)
        return np.linspace(-1.0, 1.0, n_pieces + 1)[1:-1]


@dataclass(frozen=True, slots=True, eq=False)
class XorMeans:
    """Xor of the signs of two features: an action's height where they agree, its negative where they differ.

    Heights alternate in sign and differ in size, so that no two actions tie.

    >>> XorMeans(np.array([0, 1]), np.array([1.0, -0.5])).values(np.array([[0.3, 0.2], [0.3, -0.2]])).tolist()
    [[1.0, -0.5], [-1.0, 0.5]]
    """

    pair: Ints  # (2,)
    heights: Floats  # (K,)

    @staticmethod
    def drawn(rng: np.random.Generator, n_actions: int, n_features: int) -> XorMeans:
        """Two different features, and heights of 0.5 to 1 with alternating signs."""
        signs = np.where(np.arange(n_actions) % 2, -1.0, 1.0)
        return XorMeans(some_features(rng, n_features), signs * rng.uniform(0.5, 1.0, n_actions))

    def values(self, x: Floats) -> Floats:
        """Each height where the signs agree, else its negative."""
        agree = (x[:, self.pair] > 0.0).sum(axis=1) != 1
        return np.outer(np.where(agree, 1.0, -1.0), self.heights)

    def breaks(self, feature: int) -> Floats:
        """The point 0 along the two features."""
        return np.zeros(int(feature in self.pair))


@dataclass(frozen=True, slots=True, eq=False)
class BumpMeans:
    """1 within a radius of an action's own centre in every one of `features`, -1 elsewhere.

    The ball is that of the maximum norm, an interval or a square with sides along the features, so that
    quadrature is exact. It lies inside the box.

    >>> bump = BumpMeans(np.array([0]), np.array([[0.2]]), 0.5)
    >>> bump.values(np.array([[-0.4], [0.6], [0.8]])).ravel().tolist()
    [-1.0, 1.0, -1.0]
    """

    features: Ints  # (1,) or (2,)
    centres: Floats  # (K, 1) or (K, 2)
    radius: float

    @staticmethod
    def drawn(rng: np.random.Generator, n_actions: int, n_features: int, *, radius: float) -> BumpMeans:
        """Intervals of the only feature, or squares of two features, with centres uniform in what fits."""
        features = some_features(rng, n_features)
        centres = rng.uniform(radius - 1.0, 1.0 - radius, (n_actions, len(features)))
        return BumpMeans(features, centres, radius)

    def values(self, x: Floats) -> Floats:
        """Values 1 inside a bump and -1 outside."""
        distances = np.abs(x[:, np.newaxis, self.features] - self.centres)
        return np.where((distances < self.radius).all(axis=2), 1.0, -1.0)

    def breaks(self, feature: int) -> Floats:
        """Both sides of every action's bump."""
        centres = self.centres[:, self.features == feature].ravel()
        sides = np.unique(np.concatenate([centres - self.radius, centres + self.radius]))
        inside: Floats = sides[np.abs(sides) < 1.0]
        return inside


def some_features(rng: np.random.Generator, n_features: int) -> Ints:
    """Two different features in order, or the only one."""
    return np.sort(rng.choice(n_features, size=min(2, n_features), replace=False)).astype(np.int64)

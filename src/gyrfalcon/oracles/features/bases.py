"""Basis expansions: settings learn a feature map from rows, and the map turns inputs into features.

No map contains the intercept. Every map treats a row alone exactly, bit for bit, as within a batch.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb, isfinite, pi, prod, sqrt
from typing import Protocol

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.oracles.linalg.batch_invariant import inner_products

MAX_MONOMIALS = 10_000


class FeatureMap(Protocol):
    """A fixed function from p inputs to D features, held as numbers and arrays."""

    @property
    def n_inputs(self) -> int:
        """The number p of inputs."""
        ...

    @property
    def n_features(self) -> int:
        """The number D of features."""
        ...

    def expand(self, x: Floats) -> Floats:
        """The features (..., D) of the inputs (..., p)."""
        ...


class Basis(Protocol):
    """Settings from which rows of inputs make a feature map."""

    def fit(self, x: Floats) -> FeatureMap:
        """The feature map for inputs distributed like the rows of x, (n, p)."""
        ...


def require_rows(x: Floats) -> None:
    """Nothing, or a refusal when there is no row to learn a map from."""
    if x.shape[0] == 0:
        raise ValueError("A basis cannot be fitted to 0 rows; give at least 1 row of inputs.")


def moments(x: Floats) -> tuple[Floats, Floats]:
    """The means and scales (p,), (p,) that standardise the columns; a constant column has scale 1."""
    require_rows(x)
    low, high = x.min(axis=0), x.max(axis=0)
    # The mean of equal numbers can be rounded away from them, which would pass for a tiny spread.
    means = np.clip(x.mean(axis=0), low, high)
    scales = np.sqrt(np.mean((x - means) ** 2, axis=0))
    rounding = 4.0 * np.finfo(np.float64).eps * np.maximum(np.abs(low), np.abs(high))
    return means, np.where(scales > rounding, scales, 1.0)


@dataclass(frozen=True, slots=True)
class IdentityMap:
    """Feature map that returns its inputs unchanged.

    >>> IdentityMap(2).expand(np.array([3.0, 4.0]))
    array([3., 4.])
    """

    n_inputs: int

    @property
    def n_features(self) -> int:
        """The number of inputs."""
        return self.n_inputs

    def expand(self, x: Floats) -> Floats:
        """The very array x, not a copy."""
        return x


@dataclass(frozen=True, slots=True)
class Identity:
    """Basis of the inputs themselves, without any transformation.

    >>> Identity().fit(np.zeros((1, 2)))
    IdentityMap(n_inputs=2)
    """

    def fit(self, x: Floats) -> IdentityMap:
        """The identity on as many inputs as x has columns."""
        require_rows(x)
        return IdentityMap(x.shape[1])


@dataclass(frozen=True, slots=True)
class PolynomialMap:
    """Products of standardised inputs.

    Row d of `factors`, (D, degree), lists what feature d multiplies: 0 is the constant 1, j + 1 is input j.

    >>> square = PolynomialMap(means=np.array([1.0]), scales=np.array([2.0]), factors=np.array([[1, 1]]))
    >>> square.expand(np.array([[7.0], [1.0]]))
    array([[9.],
           [0.]])
    """

    means: Floats
    scales: Floats
    factors: Ints

    @property
    def n_inputs(self) -> int:
        """The number p of inputs."""
        return self.means.size

    @property
    def n_features(self) -> int:
        """The number of monomials."""
        return len(self.factors)

    def expand(self, x: Floats) -> Floats:
        """The monomials (..., D), by multiplication alone, which rounds the same in every batch."""
        inputs = np.concatenate([np.ones((*x.shape[:-1], 1)), (x - self.means) / self.scales], axis=-1)
        features = np.take(inputs, self.factors[:, 0], axis=-1)
        for column in self.factors.T[1:]:
            features *= np.take(inputs, column, axis=-1)
        return features


@dataclass(frozen=True, slots=True)
class Polynomial:
    """Monomials of the standardised inputs up to a total degree.

    Parameters
    ----------
    degree : int, default 2
        Largest total degree.
    interactions : bool, default True
        Whether products of different inputs are included.

    Examples
    --------
    >>> rows = np.array([[0.0, 5.0], [2.0, 9.0]])
    >>> Polynomial(degree=2).fit(rows).expand(rows)  # a, b, a a, a b, b b
    array([[-1., -1.,  1.,  1.,  1.],
           [ 1.,  1.,  1.,  1.,  1.]])
    >>> Polynomial(degree=3, interactions=False).fit(rows).n_features
    6
    """

    degree: int = 2
    interactions: bool = True

    def __post_init__(self) -> None:
        if not 1 <= self.degree <= 10:
            raise ValueError(f"degree is {self.degree}; give 1 to 10, or use Splines for more flexibility.")

    def fit(self, x: Floats) -> PolynomialMap:
        """The monomials of inputs standardised with the means and scales of these rows."""
        self._require_few(x.shape[1])
        means, scales = moments(x)
        return PolynomialMap(means, scales, self._factors(x.shape[1]))

    def _require_few(self, p: int) -> None:
        size = comb(p + self.degree, p) - 1 if self.interactions else p * self.degree
        if size > MAX_MONOMIALS:
            raise ValueError(
                f"Degree {self.degree} in {p} inputs makes {size:,} features, above the limit of "
                f"{MAX_MONOMIALS:,}; lower the degree, set interactions=False, or give fewer inputs."
            )

    def _factors(self, p: int) -> Ints:
        rows = [
            [*monomial, *(0,) * (self.degree - order)]
            for order in range(1, self.degree + 1)
            for monomial in self._monomials(range(1, p + 1), order)
        ]
        return np.array(rows, dtype=np.int64).reshape(-1, self.degree)

    def _monomials(self, columns: range, order: int) -> Iterable[tuple[int, ...]]:
        if self.interactions:
            return combinations_with_replacement(columns, order)
        return ((j,) * order for j in columns)


@dataclass(frozen=True, slots=True)
class FourierMap:
    """Random Fourier features: cosines of standardised inputs, with `frequencies` (p, D) and `phases` (D,).

    >>> cosines = FourierMap(np.zeros(1), np.ones(1), frequencies=np.array([[1.0, 2.0]]), phases=np.zeros(2))
    >>> cosines.expand(np.array([np.pi])).round(6)
    array([-1.,  1.])
    """

    means: Floats
    scales: Floats
    frequencies: Floats
    phases: Floats

    @property
    def n_inputs(self) -> int:
        """The number p of inputs."""
        return self.means.size

    @property
    def n_features(self) -> int:
        """The number D of random Fourier features."""
        return self.phases.size

    def expand(self, x: Floats) -> Floats:
        """sqrt(2 / D) cos(W z + phase), (..., D), of the standardised inputs z."""
        z = np.ascontiguousarray((x - self.means) / self.scales).reshape(prod(x.shape[:-1]), len(self.means))
        # Contiguous, so that the cosine runs over the same kind of loop whatever the batch.
        angles = inner_products(z, self.frequencies.T)
        angles += self.phases
        features: Floats = np.cos(angles)
        features *= sqrt(2.0 / len(self.phases))
        return features.reshape(*x.shape[:-1], len(self.phases))


@dataclass(frozen=True, slots=True)
class RandomFourier:
    """Random Fourier features: their inner products approximate a Gaussian kernel.

    The kernel is exp(-|z - z'|^2 / (2 length_scale^2)) of standardised inputs z (Rahimi and Recht, 2007,
    Algorithm 1). The features depend on the seed and the number of inputs alone.

    Parameters
    ----------
    n_features : int, default 100
        Number of features.
    length_scale : float, default 1.0
        Length scale of the kernel, in standard deviations of the inputs.
    seed : int, default 0
        Seed of the random frequencies and phases.

    Examples
    --------
    >>> features = RandomFourier(n_features=2000, length_scale=2.0).fit(np.array([[0.0], [2.0]]))
    >>> a, b = features.expand(np.array([[0.0], [2.0]]))  # these are z = -1 and z = 1
    >>> bool(abs(a @ b - np.exp(-0.5)) < 0.05)
    True
    """

    n_features: int = 100
    length_scale: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.n_features < 2:
            raise ValueError(f"n_features is {self.n_features}; give at least 2, better 100 or more.")
        if not (isfinite(self.length_scale) and self.length_scale > 0.0):
            raise ValueError(f"length_scale is {self.length_scale}; give a finite number above 0, such as 1.")
        if self.seed < 0:
            raise ValueError(f"seed is {self.seed}; give a whole number that is not negative.")

    def fit(self, x: Floats) -> FourierMap:
        """Random Fourier features drawn from the seed, of inputs standardised with these rows."""
        means, scales = moments(x)
        rng = np.random.default_rng(self.seed)
        frequencies = rng.standard_normal((x.shape[1], self.n_features)) / self.length_scale
        return FourierMap(means, scales, frequencies, rng.uniform(0.0, 2.0 * pi, self.n_features))

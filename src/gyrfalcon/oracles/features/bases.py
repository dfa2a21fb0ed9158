"""Basis expansions: settings learn a feature map from rows, and the map turns inputs into features.

Here are the plain bases, and maps that are made of others; splines and random Fourier features are in
`smooth`.

No map contains the intercept. Every map treats a row alone exactly, bit for bit, as within a batch.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb
from typing import Protocol

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints

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
    """Map that returns the inputs themselves.

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
class JoinedMap:
    """The features of several maps of the same inputs, side by side."""

    maps: tuple[FeatureMap, ...]

    @property
    def n_inputs(self) -> int:
        """The number p of inputs."""
        return self.maps[0].n_inputs

    @property
    def n_features(self) -> int:
        """The number D of features of all maps."""
        return sum(one.n_features for one in self.maps)

    def expand(self, x: Floats) -> Floats:
        """The features (..., D) of the inputs (..., p)."""
        return np.concatenate([one.expand(x) for one in self.maps], axis=-1)


@dataclass(frozen=True, slots=True)
class Joined:
    """Several bases side by side.

    >>> Joined((Identity(), Polynomial(degree=2))).fit(np.zeros((1, 3))).n_features
    12
    """

    bases: tuple[Basis, ...]

    def fit(self, x: Floats) -> JoinedMap:
        """Each basis, fitted to these rows."""
        return JoinedMap(tuple(basis.fit(x) for basis in self.bases))


@dataclass(frozen=True, slots=True)
class StandardisedMap:
    """What another map gives, less `means` (D,), in units of `scales` (D,), and within +-`limit`.

    The limit keeps a value far outside of what was seen early from outweighing all others.

    >>> rows = np.array([[1.0, 7.0], [3.0, 7.0]])
    >>> StandardisedMap.of(IdentityMap(2), rows).expand(np.array([[5.0, 7.5], [1e9, 7.0]]))
    array([[ 3. ,  0.5],
           [10. ,  0. ]])
    """

    map: FeatureMap
    means: Floats
    scales: Floats
    limit: float = 10.0

    @staticmethod
    def of(map_: FeatureMap, x: Floats, limit: float = 10.0) -> StandardisedMap:
        """The map standardised over rows of inputs, (n, p); a feature that is constant there has scale 1."""
        return StandardisedMap(map_, *moments(map_.expand(x)), limit)

    @property
    def n_inputs(self) -> int:
        """The number p of inputs."""
        return self.map.n_inputs

    @property
    def n_features(self) -> int:
        """The number D of features of the other map."""
        return self.map.n_features

    def expand(self, x: Floats) -> Floats:
        """The standardised features (..., D) of the inputs (..., p)."""
        features = self.map.expand(x) - self.means
        features /= self.scales
        return np.clip(features, -self.limit, self.limit, out=features)


@dataclass(frozen=True, slots=True)
class ChainedMap:
    """What the second map makes of the features of the first.

    >>> halved = StandardisedMap(IdentityMap(1), np.zeros(1), np.full(1, 2.0))
    >>> ChainedMap(halved, halved).expand(np.array([4.0]))
    array([1.])
    """

    first: FeatureMap
    second: FeatureMap

    @property
    def n_inputs(self) -> int:
        """The number p of inputs of the first map."""
        return self.first.n_inputs

    @property
    def n_features(self) -> int:
        """The number D of features of the second map."""
        return self.second.n_features

    def expand(self, x: Floats) -> Floats:
        """The features (..., D) of the inputs (..., p)."""
        return self.second.expand(self.first.expand(x))

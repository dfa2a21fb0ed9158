"""Feature maps made of others: several side by side, and one whose features have mean 0 and scale 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.oracles.features.bases import Basis, FeatureMap, moments


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
        """The number of features of all maps together."""
        return sum(one.n_features for one in self.maps)

    def expand(self, x: Floats) -> Floats:
        """The features (..., D) of the inputs (..., p)."""
        return np.concatenate([one.expand(x) for one in self.maps], axis=-1)


@dataclass(frozen=True, slots=True)
class Joined:
    """Several bases side by side.

    >>> from gyrfalcon.oracles.features.bases import Identity, Polynomial
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

    >>> from gyrfalcon.oracles.features.bases import IdentityMap
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

    >>> from gyrfalcon.oracles.features.bases import IdentityMap
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

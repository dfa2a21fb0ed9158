"""A class that contains another and sees more: the same linear features, and random waves beside them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.types import Floats
from gyrfalcon.estimates.result import NotEstimableError
from gyrfalcon.oracles.bases import Basis, FeatureMap, RandomFourier
from gyrfalcon.oracles.linear import Linear, LinearOracle


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
        """Those of all maps."""
        return sum(one.n_features for one in self.maps)

    def expand(self, x: Floats) -> Floats:
        """The features (..., D) of the inputs (..., p)."""
        return np.concatenate([one.expand(x) for one in self.maps], axis=-1)


@dataclass(frozen=True, slots=True)
class Joined:
    """Several bases side by side.

    >>> from gyrfalcon.oracles.bases import Identity, Polynomial
    >>> Joined((Identity(), Polynomial(degree=2))).fit(np.zeros((1, 3))).n_features
    12
    """

    bases: tuple[Basis, ...]

    def fit(self, x: Floats) -> JoinedMap:
        """Each basis, fitted to these rows."""
        return JoinedMap(tuple(basis.fit(x) for basis in self.bases))


@dataclass(frozen=True, slots=True)
class _Fixed:
    """A map that was fitted before."""

    made: FeatureMap

    def fit(self, x: Floats) -> FeatureMap:  # noqa: ARG002 - a basis is asked with rows
        return self.made


def richer_oracle(oracle: LinearOracle, contexts: Contexts, n_rows: int) -> LinearOracle:
    """The oracle of a linear class with random waves added, a tenth of the rows' number over all actions.

    Waves are as long as contexts are far from each other, sqrt(d) in units of the features' spread. They are
    waves of shared features: what is curved in the features of actions stays unseen.
    """
    settings, d = oracle.settings, contexts.shared.shape[1]
    if d == 0:
        raise NotEstimableError(
            "contexts have no shared features for a richer class to look at; give `richer`, or choose "
            "method='residual products'."
        )
    n_waves = min(max(n_rows // (10 * oracle.design.n_blocks), 8), 100)
    waves = RandomFourier(n_features=n_waves, length_scale=math.sqrt(d))
    basis = Joined((_Fixed(oracle.design.basis), waves))
    # A ridge keeps waves in check that the rows hardly tell apart.
    richer: Linear = replace(settings, basis=basis, ridge=max(settings.ridge, 1.0))
    return richer.oracle(contexts, oracle.design.n_actions)

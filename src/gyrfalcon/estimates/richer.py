"""A class that contains another and sees more: the same linear features, and random waves beside them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.types import Floats
from gyrfalcon.estimates.result import NotEstimableError
from gyrfalcon.oracles.bases import FeatureMap, RandomFourier
from gyrfalcon.oracles.joined import Joined
from gyrfalcon.oracles.linear import Linear, LinearOracle


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

"""Extremely randomised trees as features of a linear class: their predictions per action, beside the inputs.

Trees overfit their training rows, so cross-fitted predictions are used as features: for the rows that the
forest was grown on, the regression sees predictions of trees grown on the other half of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import Log
from gyrfalcon.oracles.features.bases import FeatureMap, Identity, StandardisedMap
from gyrfalcon.oracles.features.forest import Forest
from gyrfalcon.oracles.features.forest_growth import Growth, grow_forest
from gyrfalcon.oracles.regressors.fitted import RegressorModel

_WHOLE, _HALF = Growth(n_trees=40), Growth(n_trees=15)
"""The forest that decides, and those that predict the rewards of each other's rows."""

_ROWS_AT_ONCE = 1024
"""Rows that are laid out for every action at a time."""


@dataclass(frozen=True, slots=True)
class ForestMap:
    """The inputs, and the predictions of a forest for each action."""

    inputs: FeatureMap
    forest: Forest

    @property
    def n_inputs(self) -> int:
        """The number p of inputs."""
        return self.inputs.n_inputs

    @property
    def n_features(self) -> int:
        """The number of input features, plus one per action."""
        return self.inputs.n_features + self.forest.n_actions

    def expand(self, x: Floats) -> Floats:
        """The features (..., D) of the inputs (..., p)."""
        predicted = self.forest.predict(x.reshape(-1, self.n_inputs))
        return np.concatenate(
            [self.inputs.expand(x), predicted.reshape(*x.shape[:-1], predicted.shape[1])], axis=-1
        )


@dataclass(frozen=True, slots=True)
class TreeMap:
    """The inputs, and the predictions of a forest of scikit-learn for each action.

    Such maps are no longer made, but stand in files of earlier days, which load and decide as they did.
    """

    inputs: FeatureMap
    model: RegressorModel

    @property
    def n_inputs(self) -> int:
        """The number p of inputs."""
        return self.inputs.n_inputs

    @property
    def n_features(self) -> int:
        """The number of input features, plus one per action."""
        return self.inputs.n_features + self.model.design.n_actions

    def expand(self, x: Floats) -> Floats:
        """The features (..., D) of the inputs (..., p)."""
        rows = x.reshape(-1, self.n_inputs)
        predicted = np.empty((len(rows), self.model.design.n_actions))
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            predicted[part] = self.model.scores(Contexts(rows[part]))
        return np.concatenate(
            [self.inputs.expand(x), predicted.reshape(*x.shape[:-1], predicted.shape[1])], axis=-1
        )


def grown(rows: Log, n_actions: int, seed: int = 0) -> tuple[ForestMap, Floats]:
    """The map to inputs and predictions of trees that are grown on these rows, and their columns (n, d).

    The columns of the rows themselves have predictions of trees that were grown on others.
    """
    inputs = StandardisedMap.of(Identity().fit(rows.contexts.shared), rows.contexts.shared)
    forest = ForestMap(inputs, _forest(rows, n_actions, _WHOLE, seed))
    return forest, _crossfitted(inputs, rows, n_actions, seed)


def _crossfitted(inputs: FeatureMap, rows: Log, n_actions: int, seed: int) -> Floats:
    """(n, d): the columns of the rows, with predictions of trees that were grown on others."""
    halves = dealt(rows)
    phi = np.empty((len(rows), 1 + inputs.n_features + n_actions))
    phi[:, 0] = 1.0
    for half in (halves, ~halves):
        others = rows.where(~half)
        if half.any():
            unseen = ForestMap(inputs, _forest(others if len(others) else rows, n_actions, _HALF, seed))
            phi[half, 1:] = unseen.expand(rows.contexts.shared[half])
    return phi


def _forest(rows: Log, n_actions: int, settings: Growth, seed: int) -> Forest:
    return grow_forest(rows.contexts.shared, rows.action, rows.reward, n_actions, settings, seed)


def dealt(rows: Log) -> Bools:
    """(n,): every other row of each action, so that both halves have all contexts and actions."""
    chosen = np.zeros(len(rows), dtype=np.bool_)
    for action in np.unique(rows.action):
        chosen[np.flatnonzero(rows.action == action)[1::2]] = True
    return chosen

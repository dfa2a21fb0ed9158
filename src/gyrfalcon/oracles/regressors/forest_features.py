"""Extremely randomised trees as features of a linear class: their predictions per action, beside the inputs.

Trees overfit their training rows, so cross-fitted predictions are used as features: for the rows that the
forest was grown on, the regression sees predictions of trees grown on the other half of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import Log
from gyrfalcon.oracles.features.bases import FeatureMap, Identity, StandardisedMap
from gyrfalcon.oracles.regressors.fitted import RegressorModel
from gyrfalcon.oracles.regressors.regressor import Regressor, RegressorOracle
from gyrfalcon.oracles.regressors.spec import Estimator, class_named

_KIND = "sklearn.ensemble.ExtraTreesRegressor"
_FOREST = Estimator(_KIND, (("min_samples_leaf", 2), ("n_estimators", 40)))
_HALF = Estimator(_KIND, (("min_samples_leaf", 2), ("n_estimators", 15)))

_ROWS_AT_ONCE = 1024
"""Rows that are laid out for every action at a time, and from which features are scaled."""


@dataclass(frozen=True, slots=True)
class TreeMap:
    """The inputs, and the predictions of a forest for each action."""

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


def check_installed() -> None:
    """Raise ValueError where scikit-learn, which grows the trees, is not installed."""
    try:
        class_named(_KIND)
    except ValueError as error:
        raise ValueError(
            "classes names 'trees', which scikit-learn grows, and that is not installed; install "
            "gyrfalcon[sklearn], or choose classes='auto'."
        ) from error


def grown(rows: Log, n_actions: int, seed: int = 0) -> tuple[TreeMap, Floats]:
    """The map to inputs and predictions of trees that are grown on these rows, and their columns (n, d).

    The columns of the rows themselves have predictions of trees that were grown on others.
    """
    inputs = StandardisedMap.of(Identity().fit(rows.contexts.shared), rows.contexts.shared)
    some = Contexts(rows.contexts.shared[:_ROWS_AT_ONCE])
    forest = Regressor(_FOREST, seed=seed).oracle(some, n_actions)
    half = replace(forest, settings=Regressor(_HALF, seed=seed))
    return TreeMap(inputs, _forests(forest, rows)), _crossfitted(half, inputs, rows)


def _crossfitted(oracle: RegressorOracle, inputs: FeatureMap, rows: Log) -> Floats:
    """(n, d): the columns of the rows, with predictions of trees that were grown on others."""
    halves = dealt(rows)
    phi = np.empty((len(rows), 1 + inputs.n_features + oracle.design.n_actions))
    phi[:, 0] = 1.0
    for half in (halves, ~halves):
        unseen = TreeMap(inputs, _forests(oracle, rows.where(~half)))
        phi[half, 1:] = unseen.expand(rows.contexts.shared[half])
    return phi


def _forests(oracle: RegressorOracle, rows: Log) -> RegressorModel:
    """A forest for each action that has rows."""
    model, _ = oracle.fit(oracle.summarise(rows), oracle.empty())
    assert isinstance(model, RegressorModel)
    return model


def dealt(rows: Log) -> Bools:
    """(n,): every other row of each action, so that both halves have all contexts and actions."""
    chosen = np.zeros(len(rows), dtype=np.bool_)
    for action in np.unique(rows.action):
        chosen[np.flatnonzero(rows.action == action)[1::2]] = True
    return chosen

"""Extremely randomised trees as features of a linear class: what they tell of each action, beside the inputs.

Trees that are grown on rows know these by heart. So the regression on top of them sees, for the rows that
they were grown on, what trees of the other half of the rows tell, and is as sure of them as they deserve.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import Log
from gyrfalcon.oracles.features.bases import FeatureMap, Identity
from gyrfalcon.oracles.features.union import StandardisedMap
from gyrfalcon.oracles.recursive.ridge import RunningRidge, by_action
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
    """The inputs, and what trees tell of each action there."""

    inputs: FeatureMap
    model: RegressorModel

    @property
    def n_inputs(self) -> int:
        """The number p of inputs."""
        return self.inputs.n_inputs

    @property
    def n_features(self) -> int:
        """Those of the inputs, and one for each action that the trees know."""
        return self.inputs.n_features + self.model.design.n_actions

    def expand(self, x: Floats) -> Floats:
        """The features (..., D) of the inputs (..., p)."""
        rows = x.reshape(-1, self.n_inputs)
        told = np.empty((len(rows), self.model.design.n_actions))
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            told[part] = self.model.scores(Contexts(rows[part]))
        return np.concatenate([self.inputs.expand(x), told.reshape(*x.shape[:-1], told.shape[1])], axis=-1)


def check_installed() -> None:
    """Refuse trees where there is no scikit-learn to grow them."""
    try:
        class_named(_KIND)
    except ValueError as error:
        raise ValueError(
            "classes names 'trees', which scikit-learn grows, and that is not installed; install "
            "gyrfalcon[sklearn], or choose classes='auto'."
        ) from error


def grown(rows: Log, n_actions: int, ridge: float = 1.0, seed: int = 0) -> RunningRidge:
    """The regression of these rows on their inputs and on trees, which are grown on the same rows."""
    inputs = StandardisedMap.of(Identity().fit(rows.contexts.shared), rows.contexts.shared)
    some = Contexts(rows.contexts.shared[:_ROWS_AT_ONCE])
    whole = Regressor(_FOREST, seed=seed).oracle(some, n_actions)
    half = replace(whole, settings=Regressor(_HALF, seed=seed))
    fit = RunningRidge.start(TreeMap(inputs, _forests(whole, rows)), n_actions, ridge)
    return fit.advanced(rows, _honest(half, inputs, rows))[0]


def _honest(oracle: RegressorOracle, inputs: FeatureMap, rows: Log) -> Floats:
    """(n, d): the columns of the rows, with what trees tell that have not seen them."""
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
    """(n,) every other row of each action, so that both halves have seen all of it."""
    order, played = by_action(rows.action)
    chosen = np.zeros(len(rows), dtype=np.bool_)
    for _, part in played:
        chosen[order[part][1::2]] = True
    return chosen

"""Fitted regressors that can be made again: what they were fitted on is kept, not what they became."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import InitVar, dataclass, field, replace
from typing import Any

import numpy as np

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.types import Bools, Floats, Ints
from gyrfalcon.oracles.estimators import Estimator
from gyrfalcon.oracles.expansions import kernel_expansion
from gyrfalcon.oracles.features import Design
from gyrfalcon.oracles.models import fill_unknown
from gyrfalcon.oracles.rows import Rows, RowSummary, Sides

_PROBES = 64
_PROBE_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class WeightedRows:
    """What one block's regressor is fitted on: active rows, and passive rows at a weight of their own."""

    active: RowSummary
    passive: RowSummary
    block: int
    passive_weight: float
    """Weight of each passive row beside active rows of weight 1; inf: passive rows alone."""

    def arrays(self) -> Rows:
        """Features, rewards and weights."""
        return Sides(self.active, self.passive, self.block).at(self.passive_weight)


@dataclass(frozen=True, slots=True)
class FittedRegressor:
    """A regressor, fitted on making; made again from a file it must predict what it predicted before."""

    estimator: Estimator
    seed: int
    rows: WeightedRows
    probe: Floats | None = None
    """Predictions at some of the rows, by which a copy is checked."""
    library: str = ""
    """What it was fitted by."""
    fitted: InitVar[Any] = None
    warned: tuple[str, ...] = field(default=(), init=False)
    """What the regressor said about its own fit."""
    _predict: Any = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self, fitted: Any) -> None:
        regressor = fitted
        warned: tuple[str, ...] = ()
        features, rewards, weights = self.rows.arrays()
        if regressor is None:
            regressor = self.estimator.built(self.seed)
            warned = fit_quietly(regressor, features, rewards, weights)
        probes = features[np.linspace(0, len(features) - 1, min(_PROBES, len(features))).astype(np.int64)]
        predictions = as_floats(regressor.predict(probes))
        self._check(predictions)
        object.__setattr__(self, "probe", predictions)
        object.__setattr__(self, "library", self.estimator.library)
        object.__setattr__(self, "warned", warned)
        object.__setattr__(self, "_predict", _exact_by_row(regressor, probes, predictions))

    def predict(self, features: Floats) -> Floats:
        """(n,) predictions, the same bits for a row alone and in any batch."""
        predictions: Floats = self._predict(features) if len(features) else np.zeros(0)
        return predictions

    def _check(self, predictions: Floats) -> None:
        if not np.isfinite(predictions).all():
            raise ValueError(
                f"{self.estimator} predicts {predictions[~np.isfinite(predictions)][0]}; check it."
            )
        if self.probe is None:
            return
        scale = max(float(np.abs(self.probe).max(initial=0.0)), 1.0)
        if (
            len(self.probe) != len(predictions)
            or np.abs(self.probe - predictions).max() > _PROBE_TOLERANCE * scale
        ):
            raise ValueError(
                f"{self.estimator}, fitted again by {self.estimator.library}, does not predict what it "
                f"did when {self.library} had fitted it; install that version, or start anew from the rows."
            )


@dataclass(frozen=True, slots=True)
class RegressorModel:
    """One regressor per action, or one for all where actions have features."""

    design: Design
    scale: Floats  # (D,) of the design's columns
    regressors: tuple[FittedRegressor | None, ...]  # None: no data
    multiplier: float = 0.0  # of the constraint, from where the next search may start
    eager: bool = False

    def scores(self, contexts: Contexts) -> Floats:
        """(n, K); an action without data scores about as the best of the others, so that it is tried."""
        cube = self.design.cube(contexts)[:, :, 1:] / self.scale
        n, k = cube.shape[:2]
        columns = np.zeros((k, n))
        for action in range(k):
            regressor = self.regressors[action if len(self.regressors) > 1 else 0]
            if regressor is not None:
                columns[action] = regressor.predict(padded(cube[:, action]))
        known = self._known(k)
        if not known.all():
            fill_unknown(columns, known, contexts.eligible, self.eager)
        return np.transpose(columns)

    def eagerly(self) -> RegressorModel:
        """The same model, in which an action without data scores just above the best of the others."""
        return replace(self, eager=True)

    def reindexed(self, source: Ints, design: Design) -> RegressorModel:
        """The model in which action k scores as action source[k] did, and a new one (-1) is unknown."""
        if self.design.n_blocks == 1 and design.n_blocks == 1 and len(self.regressors) == 1:
            return replace(self, design=design)
        kept = tuple(self.regressors[k] if k >= 0 else None for k in source.tolist())
        return replace(self, design=design, regressors=kept)

    def _known(self, k: int) -> Bools:
        known = np.array([regressor is not None for regressor in self.regressors])
        return np.broadcast_to(known, (k,))


def padded(features: Floats) -> Floats:
    """Contiguous features, with a constant where there are none, as regressors refuse to have none."""
    return np.ascontiguousarray(features) if features.shape[1] else np.ones((len(features), 1))


def fit_quietly(regressor: Any, features: Floats, rewards: Floats, weights: Floats) -> tuple[str, ...]:
    """Fit, and return what the regressor warned of instead of warning everybody."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        regressor.fit(features, rewards, sample_weight=weights)
    return tuple(dict.fromkeys(f"{type(regressor).__name__}: {str(one.message).strip()}" for one in caught))


def as_floats(predictions: object) -> Floats:
    """Predictions as (n,) float64."""
    return np.asarray(predictions, dtype=np.float64).reshape(-1)


def _exact_by_row(regressor: Any, probes: Floats, predictions: Floats) -> Callable[[Floats], Floats]:
    """A way to predict that gives a row the same bits alone and in any batch.

    Many regressors do so themselves. Where arithmetic depends on the batch, sums are done over or, as a last
    resort, rows are asked for one by one.
    """
    if np.array_equal(_one_by_one(regressor, probes), predictions):
        return lambda features: as_floats(regressor.predict(features))
    expansion = kernel_expansion(regressor)
    if expansion is not None and np.allclose(expansion(probes), predictions, rtol=1e-9, atol=1e-12):
        return expansion
    return lambda features: _one_by_one(regressor, features)


def _one_by_one(regressor: Any, features: Floats) -> Floats:
    return np.array([as_floats(regressor.predict(row[np.newaxis]))[0] for row in features])

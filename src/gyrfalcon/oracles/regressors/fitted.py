"""Fitted regressors that can be made again: what they were fitted on is kept, not what they became."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import InitVar, dataclass, field, replace
from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.oracles.features.design import Design
from gyrfalcon.oracles.linear.models import fill_unknown
from gyrfalcon.oracles.regressors.prediction import exact_by_row, padded, predictions_of
from gyrfalcon.oracles.regressors.rows import Rows, RowSummary, Sides
from gyrfalcon.oracles.regressors.spec import Estimator

_PROBES = 64
_PROBE_TOLERANCE = 1e-9
_ACCEPTS = ContextVar("accepting refits", default=False)


class RefitError(ValueError):
    """A regressor of a file that does not come out as it was."""


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


@contextmanager
def accepting_refits() -> Iterator[None]:
    """Take regressors of a file as they come out now, even if they predict otherwise than before."""
    token = _ACCEPTS.set(True)
    try:
        yield
    finally:
        _ACCEPTS.reset(token)


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
    _predict: Callable[[Floats], Floats] = field(init=False, repr=False, compare=False)

    def __post_init__(self, fitted: Any) -> None:
        features, rewards, weights = self.rows.arrays()
        regressor = fitted
        if regressor is None:
            regressor = self.estimator.built(self.seed).fit(features, rewards, sample_weight=weights)
        some = np.linspace(0, len(features) - 1, min(_PROBES, len(features))).astype(np.int64)
        predictions = predictions_of(regressor, features[some])
        self._check(predictions)
        object.__setattr__(self, "probe", predictions)
        object.__setattr__(self, "library", self.estimator.library)
        object.__setattr__(self, "_predict", exact_by_row(regressor, features[some]))

    def predict(self, features: Floats) -> Floats:
        """(n,) predictions, the same bits for a row alone and in any batch."""
        return self._predict(features) if len(features) else np.zeros(0)

    def _check(self, predictions: Floats) -> None:
        if self.probe is None or _ACCEPTS.get():
            return
        scale = max(float(np.abs(self.probe).max(initial=0.0)), 1.0)
        is_same = len(self.probe) == len(predictions) and bool(
            (np.abs(self.probe - predictions) <= _PROBE_TOLERANCE * scale).all()
        )
        if not is_same:
            raise RefitError(
                f"{self.estimator}, fitted again by {self.estimator.library}, does not predict what it did "
                f"when {self.library} had fitted it; load it with that version and on a like machine, or "
                "go on with the new fit by Bandit.load(path, accept_refits=True)"
            )


@dataclass(frozen=True, slots=True)
class RegressorModel:
    """One regressor per action, or one for all where actions have features."""

    design: Design
    scale: Floats  # (D,) of the design's columns
    regressors: tuple[FittedRegressor | None, ...]  # None: no data
    multiplier: float = 0.0  # of the constraint, from where the next search may start

    def scores(self, contexts: Contexts) -> Floats:
        """(n, K); an action without data scores about as the best of the others, so that it is tried."""
        cube = self.design.cube(contexts)[:, :, 1:] / self.scale
        n, k = cube.shape[:2]
        columns = np.zeros((k, n))
        for action in range(k):
            regressor = self.regressors[action if len(self.regressors) > 1 else 0]
            if regressor is not None:
                columns[action] = regressor.predict(padded(cube[:, action]))
        if self.known is not None:
            fill_unknown(columns, self.known, contexts.eligible)
        return np.transpose(columns)

    @property
    def known(self) -> Bools | None:
        """(K,) which actions there are data on; None: all."""
        if all(regressor is not None for regressor in self.regressors):
            return None
        known = np.array([regressor is not None for regressor in self.regressors])
        return np.broadcast_to(known, (self.design.n_actions,))

    def reindexed(self, source: Ints, design: Design) -> RegressorModel:
        """The model in which action k scores as action source[k] did, and a new one (-1) is unknown."""
        if self.design.n_blocks == 1 and design.n_blocks == 1 and len(self.regressors) == 1:
            return replace(self, design=design)
        kept = tuple(self.regressors[k] if k >= 0 else None for k in source.tolist())
        return replace(self, design=design, regressors=kept)

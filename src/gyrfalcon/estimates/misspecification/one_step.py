"""B4: the misspecification as what a richer class predicts better, on rows that neither fit has seen."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import Log
from gyrfalcon.core.validation import check_whole
from gyrfalcon.estimates.misspecification.crossfit import CrossFit, check_rows_for_folds, cross_fitted
from gyrfalcon.estimates.misspecification.passive_rows import folds, passive_rows, unseen_note
from gyrfalcon.estimates.misspecification.result import (
    MisspecificationEstimate,
    NotEstimableError,
    check_level,
)
from gyrfalcon.oracles.features.bases import FeatureMap, RandomFourier
from gyrfalcon.oracles.features.union import Joined
from gyrfalcon.oracles.linear.linear import Linear, LinearOracle
from gyrfalcon.oracles.protocol import AnyOracle, ModelClass


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
            "method='residual_products'."
        )
    n_waves = min(max(n_rows // (10 * oracle.design.n_blocks), 8), 100)
    waves = RandomFourier(n_features=n_waves, length_scale=math.sqrt(d))
    basis = Joined((_Fixed(oracle.design.basis), waves))
    # A ridge keeps waves in check that the rows hardly tell apart.
    richer: Linear = replace(settings, basis=basis, ridge=max(settings.ridge, 1.0))
    return richer.oracle(contexts, oracle.design.n_actions)


WAVES = (
    "The class with random waves added comes close to the mean rewards; as far as it does not, b is larger, "
    "and only the lower end holds."
)
RICHER = (
    "The richer class predicts mean rewards with a squared error far below 1 / sqrt(n); as far as it does "
    "not, b is larger, and only the lower end holds."
)


def one_step(
    log: Log,
    oracle: AnyOracle,
    *,
    n_actions: int,
    richer: ModelClass | None = None,
    level: float = 0.95,
    n_folds: int = 5,
) -> MisspecificationEstimate:
    """The mean of (r - f)^2 - (r - g)^2 as b, for fits f of the class and g of a richer one on other folds.

    The difference is (g - f)^2 + 2 (g - f)(r - g), the one-step score of E(f* - f)^2. Noise in f makes it too
    large and noise in g too small; both are taken off, the latter for linear classes only, as for others it
    isn't known, so that b then comes out too small. A wrong g can only make it smaller: the lower end holds
    whatever g is. At b = 0, where the score degenerates, it still does with five folds or more: the mean's
    variance is then sigma^4 q / n^2 times 2 k^3 / (k-1)^3 + 2 k / (k-1)^2 for k folds and q more coefficients
    in g, and the squared standard error has 4 k / (k-1) there.

    `richer` is any model class; None adds random waves to a linear one.
    """
    check_level(level)
    check_whole("n_folds", n_folds, least=5)
    rows = passive_rows(log)
    rows = rows.where(_learnable(rows, n_actions))
    check_rows_for_folds(rows, n_folds)
    wider = _wider(oracle, rows, n_actions, richer)
    fold = folds(rows, n_folds)
    own, other = cross_fitted(oracle, rows, fold), cross_fitted(wider, rows, fold)
    scores = own.residuals**2 - other.residuals**2
    value = float(np.mean(scores)) - own.excess + _known_excess(wider, other)
    error = float(np.std(scores, ddof=1)) / math.sqrt(len(scores))
    return MisspecificationEstimate.around(
        value,
        error,
        level,
        method="one_step",
        assumption=WAVES if richer is None else RICHER,
        n_rows=len(rows),
        notes=unseen_note(rows, n_actions),
    )


def _learnable(rows: Log, n_actions: int) -> Bools:
    """Rows of actions that others speak of as well: a fold must not take all that there is."""
    counts = np.bincount(rows.action, minlength=n_actions)
    return np.asarray(counts[rows.action] > 1, dtype=np.bool_)


def _wider(oracle: AnyOracle, rows: Log, n_actions: int, richer: ModelClass | None) -> AnyOracle:
    if richer is not None:
        return richer.oracle(rows.contexts, n_actions)
    if isinstance(oracle, LinearOracle):
        return richer_oracle(oracle, rows.contexts, len(rows))
    raise NotEstimableError(
        "there is no default for a class richer than one that is not linear; give `richer`, such as "
        "Linear(basis=RandomFourier())."
    )


def _known_excess(oracle: AnyOracle, fit: CrossFit) -> float:
    return fit.excess if isinstance(oracle, LinearOracle) else 0.0

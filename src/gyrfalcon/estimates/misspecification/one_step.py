"""One-step lower bound of the misspecification: a class against itself with random Fourier features."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.records import Log
from gyrfalcon.core.validation import check_level, check_whole
from gyrfalcon.estimates.misspecification.crossfit import (
    CrossFit,
    best_risk,
    check_rows_for_folds,
    cross_fitted,
)
from gyrfalcon.estimates.misspecification.passive_rows import folds, passive_rows, unseen_note
from gyrfalcon.estimates.misspecification.result import (
    MisspecificationEstimate,
    NotEstimableError,
    mean_and_error,
)
from gyrfalcon.estimates.misspecification.richer_class import richer_fit
from gyrfalcon.estimates.misspecification.weighted_richer_class import weighted_richer_fit
from gyrfalcon.oracles.linear.linear import LinearOracle
from gyrfalcon.oracles.protocol import AnyOracle, ModelClass

ASSUMPTION = (
    "Rows are independent of each other. The lower end holds whatever the richer class misses; the upper end "
    "is the mean squared error of the best model in the class, noise included."
)


def one_step(
    log: Log,
    oracle: AnyOracle,
    *,
    n_actions: int,
    richer: ModelClass | None = None,
    level: float = 0.95,
    n_folds: int = 5,
    weights: Floats | None = None,
) -> MisspecificationEstimate:
    """The mean of (r - f)^2 - (r - g)^2 as a lower bound of b, for cross-fitted f and a richer class's g.

    The difference is (g - f)^2 + 2 (g - f)(r - g), the one-step score of E(f* - f)^2. Noise in f makes it too
    large and noise in g too small; both are taken off, the latter for linear classes only, as for others it
    isn't known, so that the bound then comes out lower. A wrong g can only make it lower: the lower end holds
    whatever g is, and nothing says how far below b it is. At b = 0, where the score degenerates, it still
    holds with five folds or more: the mean's variance is then sigma^4 q / n^2 times
    2 k^3 / (k-1)^3 + 2 k / (k-1)^2 for k folds and q more coefficients in g, and the squared standard error
    has 4 k / (k-1) there.

    The upper end is that of the class's best risk b + sigma^2: noise and a mean reward that no richer class
    has found can't be distinguished.

    `richer` is any model class; None adds random Fourier features to a linear one, at a length scale chosen
    by cross-validation. With weights, which stand for uniform play, both fits and the mean are weighted, and
    of the noise in g only that of the coefficients which it shares with f is taken off.
    """
    check_level(level)
    check_whole("n_folds", n_folds, least=5)
    rows = passive_rows(log) if weights is None else log
    usable = learnable(rows, n_actions)
    rows, weights = rows.where(usable), None if weights is None else weights[usable]
    check_rows_for_folds(rows, n_folds)
    fold = folds(rows, n_folds)
    own = cross_fitted(oracle, rows, fold, weights)
    other = richer_cross_fit(oracle, rows, fold, n_actions, richer, weights)
    scores, risk = (
        own.residuals**2 - other.residuals**2,
        best_risk(rows, oracle, n_folds=n_folds, weights=weights),
    )
    # Two fits of the same class by different routes differ by rounding, which is no misspecification.
    scores = np.where(np.abs(scores) > 1e-12 * risk.value, scores, 0.0)
    value, error = mean_and_error(scores, weights)
    # The richer fit has the noise of the class's own coefficients, and more. Of weighted rows, whose noise is
    # less well known than equal rows', no more than that part is given back.
    given_back = other.excess if weights is None else min(other.excess, own.excess)
    value = value - own.excess + given_back
    return MisspecificationEstimate.at_least(
        value,
        error,
        risk.upper(level),
        level,
        method="one_step",
        assumption=ASSUMPTION,
        n_rows=len(rows),
        notes=unseen_note(rows, n_actions),
    )


def learnable(rows: Log, n_actions: int) -> Bools:
    """Rows of actions with at least two: a fold must not take all that there is."""
    counts = np.bincount(rows.action, minlength=n_actions)
    return np.asarray(counts[rows.action] > 1, dtype=np.bool_)


def richer_cross_fit(
    oracle: AnyOracle,
    rows: Log,
    fold: Ints,
    n_actions: int,
    richer: ModelClass | None = None,
    weights: Floats | None = None,
) -> CrossFit:
    """The richer class's cross-fit; without an excess where its noise is not known."""
    if richer is not None:
        wider = richer.oracle(rows.contexts, n_actions)
        fit = cross_fitted(wider, rows, fold, weights)
        return fit if isinstance(wider, LinearOracle) else CrossFit(fit.residuals, 0.0)
    if isinstance(oracle, LinearOracle):
        if weights is not None:
            return weighted_richer_fit(oracle, rows, fold, weights)
        return richer_fit(oracle, rows, fold)
    raise NotEstimableError(
        "there is no default for a class richer than one that is not linear; give `richer`, such as "
        "Linear(basis=RandomFourier())."
    )

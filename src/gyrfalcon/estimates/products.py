"""B3: the misspecification from products of residuals of rows that are near each other."""

from __future__ import annotations

import math

import numpy as np

from gyrfalcon.core.records import Log
from gyrfalcon.core.types import Bools, Floats, Ints
from gyrfalcon.estimates.crossfit import cross_fitted
from gyrfalcon.estimates.pairs import action_pairs
from gyrfalcon.estimates.passive import passive_rows, unseen_note
from gyrfalcon.estimates.result import (
    MisspecificationEstimate,
    NotEstimableError,
    check_level,
)
from gyrfalcon.estimates.smoothers import Smoother
from gyrfalcon.oracles.linear import LinearOracle
from gyrfalcon.oracles.oracle import AnyOracle

MIN_PAIRS = 10
ASSUMPTION = (
    "Mean rewards hardly change between nearest neighbours of the same action, and rows are independent "
    "of each other."
)


def residual_products(
    log: Log, oracle: AnyOracle, *, n_actions: int, level: float = 0.95, n_folds: int = 5
) -> MisspecificationEstimate:
    """The mean product of residuals of disjoint nearest pairs within actions, as b.

    The noise of two rows cancels in their product, whatever its variances, and what the class gets wrong does
    not, as near contexts share it. Where they do not quite, b comes out too small, by half the mean squared
    change between neighbours: of order n^(-2/d) for smooth means in d features, so few features are needed.

    Residuals are those of the fit without both rows, by leverages in linear classes and by folds in others;
    what noise in the fit adds to the products is taken off.
    """
    check_level(level)
    rows = passive_rows(log)
    pairs = action_pairs(rows)
    if isinstance(oracle, LinearOracle):
        products, usable = left_out_products(Smoother.of(oracle, rows), rows.reward, pairs)
    else:
        products, usable = _cross_fitted_products(oracle, rows, pairs, n_folds)
    if len(products) < MIN_PAIRS:
        raise NotEstimableError(
            f"{len(rows)} passive rows make {len(products)} pairs within actions whose residuals the fit "
            f"leaves open; wait for at least {MIN_PAIRS}, or choose a smaller class or a ridge."
        )
    value = float(np.mean(products))
    error = float(np.std(products, ddof=1)) / math.sqrt(len(products))
    return MisspecificationEstimate.around(
        value,
        error,
        level,
        len(products) - 1,
        method="residual products",
        assumption=ASSUMPTION,
        n_rows=2 * len(products),
        n_pairs=len(products),
        notes=unseen_note(rows.take(pairs[usable, 0]), n_actions) + _notes(int(np.sum(~usable))),
    )


def left_out_products(smoother: Smoother, reward: Floats, pairs: Ints) -> tuple[Floats, Bools]:
    """Products of the residuals of each pair under the fit without it, less the fit's own noise.

    With H the pair's 2 x 2 part of the smoother, (I - H)^-1 turns residuals into those without the pair, and
    the noise of other rows, with variances v, into the covariance (I - H)^-1 [H v H - own part] (I - H)^-1.
    The second answer says which pairs could be used: not those that a fit must go through.
    """
    residuals, leverages = smoother.residuals(reward), smoother.leverages
    # e^2 / (1 - h) is unbiased for the variance of a row where all are alike.
    variances = residuals**2 / np.maximum(1.0 - leverages, 1e-8)
    w = smoother.coordinates[pairs]
    spread = smoother.spread_of(variances)[pairs]
    H = np.einsum("mid,mjd->mij", w, w)
    kept = np.eye(2) - H
    usable = np.asarray(np.linalg.det(kept) > 1e-8, dtype=np.bool_)
    inverse = np.linalg.inv(kept[usable])
    left = np.einsum("mij,mj->mi", inverse, residuals[pairs[usable]])
    others = np.einsum("mid,mjd->mij", spread, w) - np.einsum("mik,mk,mkj->mij", H, variances[pairs], H)
    noise = np.einsum("mi,mij,mj->m", inverse[:, 0], others[usable], inverse[:, :, 1])
    return np.asarray(left[:, 0] * left[:, 1] - noise), usable


def _cross_fitted_products(oracle: AnyOracle, rows: Log, pairs: Ints, n_folds: int) -> tuple[Floats, Bools]:
    """Both rows of a pair are in the same fold, or each would have shaped the other's residual."""
    if len(pairs) < n_folds:
        return np.empty(0), np.zeros(len(pairs), dtype=np.bool_)
    paired = pairs.ravel()
    fit = cross_fitted(oracle, rows.take(paired), np.repeat(_dealt(rows, pairs, n_folds), 2))
    products = fit.residuals[0::2] * fit.residuals[1::2] - fit.excess
    return np.asarray(products), np.ones(len(pairs), dtype=np.bool_)


def _dealt(rows: Log, pairs: Ints, n_folds: int) -> Ints:
    """(m,) a fold for each pair: those of an action are dealt out in turn, as nearest ones come first."""
    actions = rows.action[pairs[:, 0]]
    return np.asarray((np.arange(len(pairs)) - np.searchsorted(actions, actions)) % n_folds)


def _notes(n_dropped: int) -> tuple[str, ...]:
    if n_dropped == 0:
        return ()
    return (f"{n_dropped} pairs were left out, as the class has a coefficient for each of their rows.",)

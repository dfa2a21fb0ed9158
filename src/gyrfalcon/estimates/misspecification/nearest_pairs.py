"""B3: the misspecification from products of residuals of rows that are near each other."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.records import Log
from gyrfalcon.core.validation import check_level
from gyrfalcon.estimates.misspecification.crossfit import cross_fitted, effective_number
from gyrfalcon.estimates.misspecification.passive_rows import (
    arranged,
    passive_rows,
    spread_points,
    unseen_note,
)
from gyrfalcon.estimates.misspecification.result import (
    MisspecificationEstimate,
    NotEstimableError,
    mean_and_error,
)
from gyrfalcon.estimates.misspecification.smoother import Smoother
from gyrfalcon.oracles.linear.linear import LinearOracle
from gyrfalcon.oracles.protocol import AnyOracle

NEIGHBOURS = 8
"""Candidates of which a row gets one, or none: those that are taken last would be far away."""


def action_pairs(log: Log) -> Ints:
    """(m, 2) rows of the same action, paired by distance in units of each feature's spread.

    Equal contexts come first, in the order of their rounds; rewards have no say. In one dimension at most one
    of an action's rows is left over, in several about one of twenty, whose neighbours are all taken.
    """
    columns = spread_points(log)
    order, same = arranged(log, columns)
    ends = np.cumsum(np.bincount(log.action, minlength=1))
    pairs = [
        rows[nearest_pairs(columns[rows], same[end - len(rows) : end])]
        for end, rows in zip(ends, np.split(order, ends[:-1]), strict=True)
    ]
    return np.concatenate([np.empty((0, 2), dtype=np.int64), *pairs])


def nearest_pairs(points: Floats, same: Bools) -> Ints:
    """(m, 2) disjoint pairs of points (n, d) that are sorted; `same` says which equal the one before.

    >>> nearest_pairs(np.array([[0.0, 0.0], [1.0, 0.0], [1.1, 0.0], [3.0, 0.0]]), np.zeros(4, bool)).tolist()
    [[1, 2], [0, 3]]
    """
    equal = _alternate(same)
    left = np.setdiff1d(np.arange(len(points)), equal)
    if points.shape[1] > 1 and len(left) > 1:
        near = _greedy(len(left), *_edges(points[left]))
    else:
        near = _alternate(np.arange(len(left)) > 0)
    return np.concatenate([equal, left[near]])


def _alternate(same: Bools) -> Ints:
    """(m, 2) the first with the second of each run of the same, the third with the fourth, and so on."""
    place = np.arange(len(same))
    run_start = np.maximum.accumulate(np.where(same, 0, place))
    second = np.flatnonzero((place - run_start) % 2 == 1)
    return np.stack([second - 1, second], axis=1)


def _edges(points: Floats) -> tuple[Ints, Ints]:
    """Both ends of the ways to nearest neighbours, the shortest first."""
    n_nearest = min(len(points), NEIGHBOURS + 1)
    distances, indices = cKDTree(points).query(points, k=n_nearest)
    own = np.repeat(np.arange(len(points)), n_nearest)
    other, lengths = np.ravel(indices).astype(np.int64), np.ravel(distances)
    low, high = np.minimum(own, other), np.maximum(own, other)
    order = np.lexsort((high, low, lengths))
    order = order[low[order] != high[order]]
    return low[order], high[order]


def _greedy(n: int, low: Ints, high: Ints) -> Ints:
    """(m, 2) ways taken in order, unless an end is in a pair already."""
    paired, taken = [False] * n, []
    for one, other in zip(low.tolist(), high.tolist(), strict=True):
        if not (paired[one] or paired[other]):
            paired[one] = paired[other] = True
            taken.append((one, other))
    return np.array(taken, dtype=np.int64).reshape(-1, 2)


MIN_PAIRS = 10
ASSUMPTION = (
    "Mean rewards hardly change between nearest neighbours of the same action, and rows are independent "
    "of each other."
)


def residual_products(
    log: Log,
    oracle: AnyOracle,
    *,
    n_actions: int,
    level: float = 0.95,
    n_folds: int = 5,
    weights: Floats | None = None,
) -> MisspecificationEstimate:
    """The mean product of residuals of disjoint nearest pairs within actions, as b.

    The noise of two rows cancels in their product, whatever its variances, and what the class gets wrong does
    not, as near contexts share it. Where they do not quite, b comes out too small, by half the mean squared
    change between neighbours: of order n^(-2/d) for smooth means in d features, so few features are needed.

    Residuals are those of the fit without both rows, by leverages in linear classes and by folds in others;
    what noise in the fit adds to the products is taken off. With weights, which stand for uniform play, a
    pair counts by the mean weight of its rows.
    """
    check_level(level)
    rows = passive_rows(log) if weights is None else log
    pairs = action_pairs(rows)
    if isinstance(oracle, LinearOracle):
        products, usable = _linear_products(oracle, rows, pairs, weights)
    else:
        products, usable = _cross_fitted_products(oracle, rows, pairs, n_folds, weights)
    if len(products) < MIN_PAIRS:
        raise NotEstimableError(
            f"{len(rows)} rows make {len(products)} pairs within actions whose residuals the fit "
            f"leaves open; wait for at least {MIN_PAIRS}, or choose a smaller class or a ridge."
        )
    shares = np.ones(len(products)) if weights is None else weights[pairs[usable]].mean(axis=1)
    value, error = mean_and_error(products, None if weights is None else shares)
    degrees = len(products) if weights is None else effective_number(shares)
    return MisspecificationEstimate.around(
        value,
        error,
        level,
        max(degrees - 1, 1),
        method="residual_products",
        assumption=ASSUMPTION,
        n_rows=2 * len(products),
        n_pairs=len(products),
        notes=unseen_note(rows.take(pairs[usable, 0]), n_actions) + _notes(int(np.sum(~usable))),
    )


def _linear_products(
    oracle: LinearOracle, rows: Log, pairs: Ints, weights: Floats | None
) -> tuple[Floats, Bools]:
    """Products of left-out residuals; weighted rows are fitted times the roots of their weights."""
    if weights is None:
        return left_out_products(Smoother.of(oracle, rows), rows.reward, pairs)
    roots = np.sqrt(weights)
    smoother = Smoother.of(oracle, rows, weights=weights)
    products, usable = left_out_products(smoother, roots * rows.reward, pairs)
    return products / roots[pairs[usable]].prod(axis=1), usable


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


def _cross_fitted_products(
    oracle: AnyOracle, rows: Log, pairs: Ints, n_folds: int, weights: Floats | None
) -> tuple[Floats, Bools]:
    """Both rows of a pair are in the same fold, or each would have shaped the other's residual."""
    if len(pairs) < n_folds:
        return np.empty(0), np.zeros(len(pairs), dtype=np.bool_)
    paired = pairs.ravel()
    own = None if weights is None else weights[paired]
    fit = cross_fitted(oracle, rows.take(paired), np.repeat(_dealt(rows, pairs, n_folds), 2), own)
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

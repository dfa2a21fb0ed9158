"""Cross-fitted predictions of a class with random Fourier features added to it, from weighted rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.records import Log
from gyrfalcon.estimates.misspecification.crossfit import CrossFit
from gyrfalcon.estimates.misspecification.richer_class import PENALTIES, dictionaries
from gyrfalcon.oracles.linear.linear import LinearOracle

LARGEST_LEVERAGE = 0.95
"""Left-out residuals of rows that nearly determine their own fit say nothing of other rows."""


@dataclass(frozen=True, slots=True)
class WeightedPath:
    """Fits of one training set for all penalties, (P,), by rows times the roots of their weights."""

    left_out_error: Floats
    """(P,): sum of weighted squared residuals of rows that are left out one at a time."""
    noise: Floats
    """(P,): sum over training rows of the variance that noise gives to their fitted values."""
    predictions: Floats
    """(P, n_new)."""


def weighted_richer_fit(oracle: LinearOracle, rows: Log, fold: Ints, weights: Floats) -> CrossFit:
    """Residuals of rows under a richer fit of the other folds that minimises the weighted squared error.

    Weights make noise unequal, so that length scale and penalty are chosen by the weighted error of rows left
    out one at a time, where `richer_fit` assumes equal noise and counts degrees of freedom.
    """
    roots = np.sqrt(weights)
    own, given = oracle.design.rows(rows)
    blocks = np.zeros(len(rows), dtype=np.int64) if given is None else given
    own = own * roots[:, np.newaxis]
    added = [
        one * roots[:, np.newaxis]
        for one in dictionaries(rows, oracle.design.n_blocks, oracle.design.n_actions)
    ]
    target = roots * rows.reward
    residuals, excess = np.empty(len(rows)), 0.0
    for number in range(int(fold.max()) + 1):
        left_out = fold == number
        paths = [_path(own, one, target, blocks, left_out) for one in added]
        best, penalty = _chosen(paths)
        residuals[left_out] = (target[left_out] - best.predictions[penalty]) / roots[left_out]
        share = float(weights[left_out].sum()) / float(weights.sum())
        excess += share * float(best.noise[penalty]) / float(weights[~left_out].sum())
    return CrossFit(residuals, excess)


def _chosen(paths: list[WeightedPath]) -> tuple[WeightedPath, int]:
    """The dictionary and the position of the penalty with the least left-out error."""
    errors = np.array([path.left_out_error for path in paths])
    which, penalty = np.unravel_index(int(errors.argmin()), errors.shape)
    return paths[int(which)], int(penalty)


def _path(own: Floats, added: Floats, target: Floats, blocks: Ints, left_out: Bools) -> WeightedPath:
    """The fits of all rows but those left out, block by block."""
    errors, noise = np.zeros(len(PENALTIES)), np.zeros(len(PENALTIES))
    predictions = np.empty((len(PENALTIES), len(target)))
    for block in np.unique(blocks):
        train = np.flatnonzero((blocks == block) & ~left_out)
        new = np.flatnonzero((blocks == block) & left_out)
        part = _block_path(own[train], added[train], target[train], own[new], added[new])
        errors += part.left_out_error
        noise += part.noise
        predictions[:, new] = part.predictions
    return WeightedPath(errors, noise, predictions[:, left_out])


def _block_path(x: Floats, added: Floats, target: Floats, x_new: Floats, added_new: Floats) -> WeightedPath:
    """Ridge regression on what the class's own columns x leave of the target and of the added columns.

    In the left singular vectors U of x and the principal directions Q of what it leaves of the added columns
    the smoother is U U' + Q diag(s) Q': leverages and the noise of fitted values are sums over columns.
    """
    scales = np.sqrt(np.maximum((x**2).sum(axis=0), np.finfo(np.float64).tiny))
    x, x_new = x / scales, x_new / scales
    on_own, _, rank, _ = np.linalg.lstsq(x, np.column_stack([added, target]))
    left, residuals = added - x @ on_own[:, :-1], target - x @ on_own[:, -1]
    values, vectors = np.linalg.eigh(left.T @ left)
    values = np.maximum(values, 0.0)[:, np.newaxis]
    shrunk = 1.0 / (values + PENALTIES * added.shape[1])
    coefficients = vectors @ ((vectors.T @ (left.T @ residuals))[:, np.newaxis] * shrunk)
    directions = (left @ vectors) ** 2
    own_leverage = _leverages(x, int(rank))[:, np.newaxis]
    kept = np.maximum(1.0 - own_leverage - directions @ shrunk, 1.0 - LARGEST_LEVERAGE)
    squares = ((residuals[:, np.newaxis] - left @ coefficients) / kept) ** 2
    left_new = added_new - x_new @ on_own[:, :-1]
    return WeightedPath(
        squares.sum(axis=0),
        ((own_leverage + directions @ (values * shrunk**2)) * squares).sum(axis=0),
        x_new @ on_own[:, -1] + (left_new @ coefficients).T,
    )


def _leverages(x: Floats, rank: int) -> Floats:
    left = np.linalg.svd(x, full_matrices=False)[0][:, :rank]
    return np.asarray(np.einsum("nd,nd->n", left, left))

"""Cross-fitted predictions of a linear class with random Fourier features added to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.records import Log
from gyrfalcon.estimates.misspecification.crossfit import CrossFit
from gyrfalcon.estimates.misspecification.passive_rows import spread_points
from gyrfalcon.estimates.misspecification.result import NotEstimableError
from gyrfalcon.oracles.linear.linear import LinearOracle

ALL = 10**9
KINDS = (((1,), 1.0), ((1,), 1 / 3), ((1,), 1 / 9), ((1, 2), 1.0), ((ALL,), 1.0), ((ALL,), 0.5))
"""How many coordinates the Fourier features of a dictionary look at, and their length scale.

The scale is in standard deviations. Means that depend on one or two features at a time, as many do, are found
with far fewer rows than features of all coordinates need.
"""
PENALTIES = np.array([0.1, 1.0, 10.0, 100.0, np.inf])
"""Ridge penalties, times the number of Fourier features; at infinity the class is alone."""
FEWEST, MOST = 10, 120
"""Bounds on the Fourier features of each block of coefficients."""


@dataclass(frozen=True, slots=True)
class RidgePath:
    """Fits of one training set for all penalties, (P,): errors, degrees of freedom, predictions elsewhere."""

    squared_error: Floats
    """(P,): sum over training rows."""
    trace: Floats
    """(P,): the trace of the smoother H."""
    noise_trace: Floats
    """(P,): the trace of H^2, by which noise enters predictions."""
    predictions: Floats
    """(P, n_new)."""

    def gcv(self, n: int) -> Floats:
        """Generalised cross-validation scores of n training rows, (P,); infinite for an interpolating fit."""
        left = np.maximum(1.0 - self.trace / n, 0.05)
        usable = (left > 0.05) | np.isinf(PENALTIES)
        return np.asarray(np.where(usable, self.squared_error / left**2, np.inf))


def richer_fit(oracle: LinearOracle, rows: Log, fold: Ints) -> CrossFit:
    """Residuals of rows under a richer fit of the other folds, as `cross_fitted` has them for a class.

    Length scale and penalty are chosen by generalised cross-validation within the other folds, so that a row
    has no say in the fit that predicts it. The class's own coefficients are not penalised.
    """
    own, given = oracle.design.rows(rows)
    blocks = np.zeros(len(rows), dtype=np.int64) if given is None else given
    added = dictionaries(rows, oracle.design.n_blocks, oracle.design.n_actions)
    residuals, degrees = np.empty(len(rows)), 0.0
    for one in range(int(fold.max()) + 1):
        left_out = fold == one
        paths = [_path(own, each, rows.reward, blocks, left_out) for each in added]
        predictions, noise_trace = _chosen(paths, int(np.count_nonzero(~left_out)))
        residuals[left_out] = rows.reward[left_out] - predictions
        degrees += noise_trace * np.count_nonzero(left_out) / len(rows)
    n_train = len(rows) * (1.0 - 1.0 / (int(fold.max()) + 1))
    return CrossFit(residuals, degrees * float(np.mean(residuals**2)) / n_train)


def dictionaries(rows: Log, n_blocks: int, n_actions: int) -> list[Floats]:
    """Random Fourier features of the rows, (n, D) for each kind, standardised.

    Their inputs are the context's features and the played action's own. Where actions share their
    coefficients, indicators of the actions are among them.
    """
    points = spread_points(rows)
    d = points.shape[1]
    if d == 0:
        raise NotEstimableError(
            "contexts have no features that vary, so that a richer class sees no more; wait for rows of "
            "other contexts, or give `richer`."
        )
    size = int(np.clip(len(rows) // (4 * n_blocks), FEWEST, MOST))
    shares = n_blocks == 1 and n_actions <= size
    indicators = np.eye(n_actions)[rows.action] if shares else np.empty((len(rows), 0))
    kinds = dict.fromkeys((tuple(sorted({min(one, d) for one in counts})), scale) for counts, scale in KINDS)
    return [
        _standardised(np.concatenate([fourier_features(points, *kind, size), indicators], axis=1))
        for kind in kinds
    ]


def fourier_features(points: Floats, counts: Sequence[int], length_scale: float, size: int) -> Floats:
    """cos(w'z + phase), (n, size), in which w looks at as many random coordinates of z as `counts` say.

    >>> fourier_features(np.zeros((4, 3)), (1, 2), 1.0, 5).shape
    (4, 5)
    """
    rng, d = np.random.default_rng(0), points.shape[1]
    n_seen = np.resize(counts, size)[:, np.newaxis]
    ranks = rng.random((size, d)).argsort(axis=1).argsort(axis=1)
    frequencies = rng.standard_normal((size, d)) / (length_scale * np.sqrt(n_seen))
    angles = points @ np.where(ranks < n_seen, frequencies, 0.0).T
    return np.asarray(np.cos(angles + rng.uniform(0.0, 2.0 * np.pi, size)))


def _standardised(features: Floats) -> Floats:
    scales = features.std(axis=0)
    return np.asarray((features - features.mean(axis=0)) / np.where(scales > 1e-12, scales, 1.0))


def _chosen(paths: list[RidgePath], n_train: int) -> tuple[Floats, float]:
    """Predictions of the dictionary and penalty with the least score, and their trace of H^2."""
    scores = np.array([path.gcv(n_train) for path in paths])
    which, penalty = np.unravel_index(int(scores.argmin()), scores.shape)
    path = paths[int(which)]
    return path.predictions[int(penalty)], float(path.noise_trace[int(penalty)])


def _path(own: Floats, added: Floats, reward: Floats, blocks: Ints, left_out: Bools) -> RidgePath:
    """The fits of all rows but those left out, block by block."""
    sums = np.zeros((3, len(PENALTIES)))
    predictions = np.empty((len(PENALTIES), len(reward)))
    for block in np.unique(blocks):
        train = np.flatnonzero((blocks == block) & ~left_out)
        new = np.flatnonzero((blocks == block) & left_out)
        part = _block_path(own[train], added[train], reward[train], own[new], added[new])
        sums += (part.squared_error, part.trace, part.noise_trace)
        predictions[:, new] = part.predictions
    return RidgePath(sums[0], sums[1], sums[2], predictions[:, left_out])


def _block_path(x: Floats, added: Floats, reward: Floats, x_new: Floats, added_new: Floats) -> RidgePath:
    """Ridge regression on what the class's own columns x leave of the reward and of the added columns."""
    scales = np.sqrt(np.maximum((x**2).sum(axis=0), np.finfo(np.float64).tiny))
    x, x_new = x / scales, x_new / scales
    on_own, _, rank, _ = np.linalg.lstsq(x, np.column_stack([added, reward]))
    left, residuals = added - x @ on_own[:, :-1], reward - x @ on_own[:, -1]
    values, vectors = np.linalg.eigh(left.T @ left)
    values = np.maximum(values, 0.0)[:, np.newaxis]
    shrunk = 1.0 / (values + PENALTIES * added.shape[1])
    coefficients = vectors @ ((vectors.T @ (left.T @ residuals))[:, np.newaxis] * shrunk)
    kept = values * shrunk
    left_new = added_new - x_new @ on_own[:, :-1]
    return RidgePath(
        ((residuals[:, np.newaxis] - left @ coefficients) ** 2).sum(axis=0),
        rank + kept.sum(axis=0),
        rank + (kept**2).sum(axis=0),
        x_new @ on_own[:, -1] + (left_new @ coefficients).T,
    )

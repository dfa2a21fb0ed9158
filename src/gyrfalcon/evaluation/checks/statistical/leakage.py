"""Leakage: features that tell the reward, because they were recorded with it or after it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import stats

from gyrfalcon.core.arrays import Floats
from gyrfalcon.evaluation.checks.columns import LogColumns, scaled
from gyrfalcon.evaluation.checks.finding import LogFinding

_MOST = 50_000
"""Rows that are looked at: what predicts perfectly does so in any of them."""

_LEAST = 30
_EQUAL, _NEARLY, _SEPARATES = 1.0 - 1e-9, 0.95, 0.995


def leakage_faults(log: LogColumns) -> list[LogFinding]:
    """Features that equal the reward up to scale, or that predict it nearly perfectly by themselves."""
    rows = np.flatnonzero(np.isfinite(log.reward) & (log.action >= 0))
    rows = rows[:: max(1, len(rows) // _MOST)]
    reward = scaled(log.reward[rows])
    if len(rows) < _LEAST or reward.min() == reward.max():
        return []
    equal, nearly = [], {}
    for name, unscaled in _features(log, rows):
        values = scaled(unscaled)
        finite = np.isfinite(values)
        if finite.sum() < _LEAST or values[finite].min() == values[finite].max():
            continue
        if _correlation(values[finite], reward[finite]) ** 2 >= _EQUAL:
            equal.append(name)
        elif (share := _explained(values[finite], reward[finite])) >= _NEARLY:
            nearly[name] = share
    remedy = "leave the feature out, unless it was known before the decision"
    every = np.ones(len(log), np.bool_)
    found: list[LogFinding] = []
    if equal:
        text = f"the feature {', '.join(equal)} is the reward, up to a factor and a constant"
        found += log.fault("feature_is_reward", every, text, remedy, sets_aside=False, features=equal)
    if nearly:
        name, share = max(nearly.items(), key=lambda one: one[1])
        text = f"the feature {name} alone predicts the reward nearly perfectly (score {share:.4f} of 1)"
        found += log.fault(
            "feature_predicts_reward",
            every,
            text,
            remedy,
            severity="warning",
            features=list(nearly),
        )
    return found


def _features(
    log: LogColumns, rows: np.ndarray[tuple[int], np.dtype[np.intp]]
) -> Iterator[tuple[str, Floats]]:
    """Shared features, and features of the logged action, in some rows."""
    for place in range(log.shared.shape[1]):
        yield log.feature_name(place), log.shared[rows, place]
    if log.cube is not None:
        own = log.cube[rows, log.action[rows]]
        for place, name in enumerate(log.table.action_features):
            yield f"{name!r} of the logged action", own[:, place]


def _correlation(x: Floats, y: Floats) -> float:
    x, y = x - x.mean(), y - y.mean()
    x, y = x / (np.abs(x).max() or 1.0), y / (np.abs(y).max() or 1.0)
    spread = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / spread if spread > 0.0 else 0.0


def _explained(x: Floats, y: Floats) -> float:
    """Share of the reward's variance between bins of a feature, or how well it separates two values."""
    low, high = y.min(), y.max()
    if ((y == low) | (y == high)).all():
        return _separation(x, y == high)
    edges = np.unique(np.quantile(x, np.linspace(0.02, 0.98, 49)))
    bins = np.searchsorted(edges, x)
    counts = np.bincount(bins)
    means = np.bincount(bins, weights=y) / np.maximum(counts, 1)
    residual = y - means[bins]
    freedom = max(len(y) - int((counts > 0).sum()), 1)
    centred = y - y.mean()
    total = float(centred @ centred) / (len(y) - 1)
    return 1.0 - float(residual @ residual) / freedom / total if total > 0.0 else 0.0


def _separation(x: Floats, is_high: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> float:
    """1 if a feature separates two values of the reward, by the area under its ROC curve; else 0."""
    n_high, n_low = int(is_high.sum()), int((~is_high).sum())
    if min(n_high, n_low) < 5:
        return 0.0
    ranks = stats.rankdata(x)
    area = (ranks[is_high].sum() - n_high * (n_high + 1) / 2.0) / (n_high * n_low)
    area = float(max(area, 1.0 - area))
    return area if area >= _SEPARATES else 0.0

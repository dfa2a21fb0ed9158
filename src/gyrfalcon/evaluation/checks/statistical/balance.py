"""Balance: features are recorded before the action, so that they don't depend on it given its probability."""

from __future__ import annotations

import numpy as np
from scipy import special

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.evaluation.checks.columns import LogColumns, scaled
from gyrfalcon.evaluation.checks.finding import LogFinding
from gyrfalcon.evaluation.checks.statistical.tail_probabilities import holm, two_sided

_CLIP = 3.0
"""Robust deviations at which features are clipped, so that no single value decides a test."""

_LEAST, _MOST = 20, 200_000
"""Fewest and most rows that are tested, evenly spaced where there are more."""

_REMEDY = (
    "leave the feature out, unless it was known before the decision: features recorded afterwards tell the "
    "action or the reward"
)


def balance_faults(log: LogColumns, distribution: Floats | None, alpha: float) -> list[LogFinding]:
    """Features whose mean depends on the logged action beyond its probability."""
    if len(log) < _LEAST or not log.shared.shape[1] or (log.propensity >= 1.0 - 1e-9).mean() > 0.99:
        return []
    certain = _determined(log)
    if certain:
        return certain
    thin, step = log.thinned(_MOST)
    names, scores = _scores(thin)
    if not names:
        return []
    in_range = (log.propensity > 0.0) & (log.propensity <= 1.0 + 1e-6)
    known = np.asarray(in_range if distribution is None else ~np.isnan(distribution).any(axis=1))
    if known.sum() < _LEAST:
        return []
    if distribution is not None:
        p_values = _by_counts(thin, scores, distribution[::step], known[::step])
    else:
        p_values = _by_weights(thin, scores, known[::step])
    bad = holm(p_values, alpha)
    if not bad.any():
        return []
    features = [names[place] for place in np.flatnonzero(bad.any(axis=1)).tolist()]
    feature, action = np.unravel_index(int(p_values.argmin()), p_values.shape)
    return log.fault(
        "feature_imbalance",
        known,
        f"the feature {names[int(feature)]} depends on the logged action beyond its probability: its "
        f"weighted mean where {log.label(int(action))} was chosen is not the mean of all rows (p = "
        f"{p_values[feature, action]:.2g}){_also(features, names[int(feature)])}",
        _REMEDY,
        sets_aside=False,
        p_value=float(p_values.min()),
        features=features,
        n_tests=int(p_values.size),
    )


def _determined(log: LogColumns) -> list[LogFinding]:
    """Features with one value for each action, another for each."""
    known = log.action >= 0
    counts = np.bincount(log.action[known], minlength=log.table.n_actions)
    drawn = counts >= 5
    if drawn.sum() < 2:
        return []
    names = []
    for place in range(log.shared.shape[1]):
        values = log.shared[known, place]
        low, high = np.full(len(drawn), np.inf), np.full(len(drawn), -np.inf)
        np.minimum.at(low, log.action[known], values)
        np.maximum.at(high, log.action[known], values)
        if (low == high)[drawn].all() and len(np.unique(low[drawn])) == drawn.sum():
            names.append(log.feature_name(place))
    if not names:
        return []
    return log.fault(
        "feature_is_action",
        known,
        f"the feature {', '.join(names)} has one value for each logged action, and tells which it was",
        _REMEDY,
        sets_aside=False,
        features=names,
    )


def _scores(log: LogColumns) -> tuple[list[str], Floats]:
    """Features, centred, scaled and clipped, and whether they are missing, (n, d); constant ones left out."""
    names, columns = [], []
    for place in range(log.shared.shape[1]):
        values, name = log.shared[:, place], log.feature_name(place)
        finite = np.isfinite(values)
        if not finite.any():
            continue
        if not finite.all():
            names.append(f"{name} being missing")
            columns.append((~finite).astype(np.float64))
        names.append(name)
        columns.append(robust_scores(values, finite))
    kept = [place for place, column in enumerate(columns) if column.min() < column.max()]
    centred = [columns[place] - columns[place].mean() for place in kept]
    return [names[place] for place in kept], np.stack(centred, axis=1) if kept else np.zeros((len(log), 0))


def robust_scores(values: Floats, finite: Bools) -> Floats:
    """Deviations from the median in robust units, clipped; 0 where a value is missing."""
    values = scaled(values)
    sample = values[finite]
    sample = sample[:: max(1, len(sample) // 10_000)]
    low, middle, high = np.quantile(sample, [0.25, 0.5, 0.75])
    spread = (high - low) / 1.349 or float(sample.std()) or 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        scores = np.clip((values - middle) / spread, -_CLIP, _CLIP)
    return np.where(finite, scores, 0.0)


def _by_counts(log: LogColumns, scores: Floats, chances: Floats, known: Bools) -> Floats:
    """p-values, (d, K), of sums of x (1{a} - p), a martingale of known variance where p is known."""
    scores, chances = scores[known], chances[known]
    chosen = (log.action[known][:, np.newaxis] == np.arange(log.table.n_actions)).astype(np.float64)
    deviation = scores.T @ (chosen - chances)
    variance = (scores**2).T @ (chances * (1.0 - chances))
    largest = np.abs(scores).max(axis=0, initial=1e-300)[:, np.newaxis]
    return two_sided(deviation, variance, largest)


def _by_weights(log: LogColumns, scores: Floats, known: Bools) -> Floats:
    """p-values, (d, K), of sums of x (1{a} / p - 1), with estimated variances, where no term dominates."""
    actions = np.arange(log.table.n_actions)
    chosen = log.action[known][:, np.newaxis] == actions
    eligible = log.eligible[known].astype(np.float64)
    chances = np.minimum(log.propensity[known], 1.0)[:, np.newaxis]
    scores = scores[known]
    deviation = scores.T @ (chosen / chances - eligible)
    weights = chosen * (1.0 - chances) / chances**2
    variance = (scores**2).T @ weights
    heaviest = np.stack([(scores**2 * weights[:, [action]]).max(axis=0) for action in actions], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        p_values = 2.0 * special.ndtr(-np.abs(deviation) / np.sqrt(variance))
        dominated = ~(heaviest <= 0.02 * variance)
    return np.where(dominated, 1.0, p_values)


def _also(features: list[str], worst: str) -> str:
    others = [name for name in features if name != worst]
    return f"; also {', '.join(others[:5])}" if others else ""

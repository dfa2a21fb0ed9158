"""Probabilities of all actions, as the log has them or as its propensities imply them."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.evaluation.checks.columns import LogColumns

_CLOSE = 1e-6


def known_distribution(log: LogColumns) -> Floats | None:
    """Probabilities of all actions, (n, K), nan in rows where they are unknown; None where they all are.

    A log without distributions implies them where play was uniform over the eligible actions in all rows of
    an epoch, or where each action has the same propensity throughout an epoch, and these sum to 1, as in an
    experiment with fixed shares.
    """
    if log.distribution is not None:
        known = ~np.isnan(log.distribution).any(axis=1)
        return log.distribution if known.any() else None
    if not len(log) or np.isnan(log.propensity).all():
        return None
    _, group = np.unique(np.zeros(len(log)) if log.epoch is None else log.epoch, return_inverse=True)
    implied = np.full(log.eligible.shape, np.nan)
    uniform = 1.0 / np.maximum(log.n_eligible, 1)
    differs = ~(np.abs(log.propensity - uniform) <= _CLOSE)
    is_uniform = np.bincount(group, weights=differs) == 0.0
    rows = is_uniform[group]
    implied[rows] = log.eligible[rows] * uniform[rows, np.newaxis]
    shares = _fixed_shares(log, np.asarray(group, dtype=np.int64))
    fixed = ~rows & ~np.isnan(shares[group]).any(axis=1)
    implied[fixed] = shares[group][fixed]
    return implied if (rows | fixed).any() else None


def _fixed_shares(log: LogColumns, group: Ints) -> Floats:
    """The one propensity of each action in each group, (G, K), nan in groups where they don't sum to 1."""
    n_groups, n_actions = int(group.max()) + 1, log.table.n_actions
    low, high = np.full((n_groups, n_actions), np.inf), np.full((n_groups, n_actions), -np.inf)
    cells = group, np.maximum(log.action, 0)
    np.minimum.at(low, cells, log.propensity)
    np.maximum.at(high, cells, log.propensity)
    mask = np.bincount(group, weights=~log.eligible.all(axis=1)) > 0.0
    drawn = np.isfinite(low)
    shares = np.where(drawn, low, 0.0)
    single = (np.where(drawn, high - low, 0.0) <= _CLOSE).all(axis=1) & ~mask
    valid = single & (np.abs(shares.sum(axis=1) - 1.0) <= _CLOSE)
    return np.where(valid[:, np.newaxis], shares, np.nan)

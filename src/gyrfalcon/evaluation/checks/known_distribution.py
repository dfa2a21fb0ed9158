"""Probabilities of all actions, as the log has them or as its propensities imply them."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.evaluation.checks.columns import LogColumns
from gyrfalcon.evaluation.rows.fixed_shares import fixed_shares

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
    shares = fixed_shares(
        np.maximum(log.action, 0), log.propensity, log.eligible, np.asarray(group, np.int64)
    )
    fixed = ~rows & ~np.isnan(shares[group]).any(axis=1)
    implied[fixed] = shares[group][fixed]
    return implied if (rows | fixed).any() else None

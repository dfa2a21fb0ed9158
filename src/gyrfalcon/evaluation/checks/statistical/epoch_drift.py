"""Drift of rewards within an epoch, where neither the policy nor, without drift, the rewards change."""

from __future__ import annotations

import numpy as np

from gyrfalcon.evaluation.checks.columns import LogColumns
from gyrfalcon.evaluation.checks.finding import LogFinding
from gyrfalcon.evaluation.checks.statistical.balance import robust_scores
from gyrfalcon.evaluation.checks.statistical.stability import cusum
from gyrfalcon.evaluation.checks.statistical.tail_probabilities import holm

_MIXED = np.array([1.0, 0.5, np.pi])
"""Weights that make one number of epoch, passive flag and number of the policy: another for each triple."""

_LEAST, _MOST = 50, 100
"""Fewest rows of an epoch that is tested, and most epochs: the longest ones."""


def epoch_reward_drift(log: LogColumns, alpha: float) -> list[LogFinding]:
    """Mean rewards that change within an epoch, in its passive rows or in the others.

    No weights are needed, so that it also sees what happens to a policy which is nearly certain.
    """
    if log.epoch is None:
        return []
    rows = np.flatnonzero(np.isfinite(log.reward) & np.isfinite(log.epoch))
    passive = np.zeros(len(log)) if log.passive is None else log.passive.astype(np.float64)
    codes = np.stack([log.epoch, passive, log.model_codes], axis=1)[rows]
    _, group, counts = np.unique(codes @ _MIXED, return_inverse=True, return_counts=True)
    longest = np.argsort(-counts, kind="stable")[:_MOST]
    groups = [rows[group == one] for one in longest.tolist() if counts[one] >= _LEAST]
    if not groups:
        return []
    every = np.ones(len(log), np.bool_)
    tests = [cusum(robust_scores(log.reward[one], every[one])) for one in groups]
    p_values = np.array([p_value for p_value, _ in tests])
    bad = holm(p_values, alpha)
    if not bad.any():
        return []
    worst = int(p_values.argmin())
    change = int(log.rows[groups[worst][min(tests[worst][1], len(groups[worst]) - 1)]])
    return log.fault(
        "reward_drift_within_epoch",
        np.sort(np.concatenate([groups[place] for place in np.flatnonzero(bad).tolist()])),
        f"the mean reward changes within epoch {log.epoch[groups[worst][0]]:.0f}, whose policy does not, "
        f"most clearly at row {change} (p = {p_values[worst]:.2g})",
        "look for a change of the environment, of units, or of how rewards are counted; evaluate the time "
        "after it by itself",
        severity="warning",
        p_value=float(p_values[worst]),
        change=change,
    )

"""Decisions without an outcome, and whether the chance of one depends on the action."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Bools
from gyrfalcon.evaluation.checks.columns import LogColumns, flags
from gyrfalcon.evaluation.checks.finding import LogFinding
from gyrfalcon.evaluation.checks.statistical.segments import blocks_of
from gyrfalcon.evaluation.checks.statistical.tail_probabilities import holm, two_sided


def missing_outcomes(log: LogColumns, alpha: float) -> list[LogFinding]:
    """Rows without a reward, and actions whose rewards are missing more or less often than others'."""
    missing = ~log.has_outcome & ~_never_shown(log)
    if not missing.any():
        return []
    counts = np.bincount(log.action[missing & (log.action >= 0)], minlength=log.table.n_actions)
    by_action = {str(label): int(n) for label, n in zip(log.table.actions, counts, strict=True)}
    every = missing.all()
    found = log.fault(
        "reward_missing",
        missing,
        "no decision has a reward" if every else f"there is no reward ({missing.mean():.1%} of the rows)",
        "wait for open outcomes, join lost ones, or declare what silence means as the default reward",
        severity="warning",
        by_action=by_action,
    )
    return found if every else [*found, *_by_action(log, missing, alpha)]


def _never_shown(log: LogColumns) -> Bools:
    """Decisions that can't have an outcome: shadow decisions and those overridden."""
    hidden = np.zeros(len(log), np.bool_)
    for column in (log.table.overridden, log.table.shadow):
        if column is not None:
            hidden |= flags(column)
    return hidden


def _by_action(log: LogColumns, missing: Bools, alpha: float) -> list[LogFinding]:
    """Missing rewards of each action against its share of each block, as in the test of Cochran and Mantel.

    Blocks of time, because the latest outcomes are still open, and policies change.
    """
    known = (log.action >= 0) & ~_never_shown(log)
    rows, absent, places = log.take_without_features(known), missing[known], np.flatnonzero(known)
    blocks = blocks_of(rows, min(20, len(rows) // 100))
    chosen = (rows.action[:, np.newaxis] == np.arange(rows.table.n_actions)).astype(np.float64)
    size = blocks.sums(np.ones(len(rows)))[:, np.newaxis]
    lost = blocks.sums(absent.astype(np.float64))[:, np.newaxis]
    of_action, both = blocks.sums(chosen), blocks.sums(chosen * absent[:, np.newaxis])
    expected = of_action * lost / size
    variance = expected * (1.0 - of_action / size) * (size - lost) / np.maximum(size - 1.0, 1.0)
    p_values = two_sided((both - expected).sum(axis=0), variance.sum(axis=0))
    if not holm(p_values, alpha).any():
        return []
    worst = int(p_values.argmin())
    return log.fault(
        "reward_missing_by_action",
        places[absent],
        f"rewards of {log.label(worst)} are missing {both[:, worst].sum():,.0f} times, and "
        f"{expected[:, worst].sum():,.1f} times would be its share (p = {p_values[worst]:.2g})",
        "find out why outcomes are lost before actions are compared: those left may be a selection",
        severity="warning",
        p_value=float(p_values[worst]),
    )

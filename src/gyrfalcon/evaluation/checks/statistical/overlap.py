"""Propensities that leave nothing to compare, or that were stored in few digits."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Bools
from gyrfalcon.evaluation.checks.columns import LogColumns
from gyrfalcon.evaluation.checks.finding import LogFinding

_CERTAIN = 1.0 - 1e-9
_MANY_VALUES = 10
"""Distinct propensities of so few digits that they were rounded; designs by hand have fewer."""


def overlap_faults(log: LogColumns) -> list[LogFinding]:
    """Logs in which one action was certain, so that they tell nothing about the others."""
    choice = log.n_eligible > 1
    certain = choice & (log.propensity >= _CERTAIN)
    if not choice.any():
        return []
    share = certain.sum() / choice.sum()
    if share < 0.5:
        return []
    what = "in all rows" if share == 1.0 else f"in {share:.1%} of the rows with a choice"
    return log.fault(
        "deterministic",
        certain,
        f"the logged action had probability 1 {what}, so that other actions were never tried there",
        "log a policy that tries every action with positive probability; no estimate can replace that",
        severity="error" if share > 0.99 else "warning",
        sets_aside=False,
        share=float(share),
    )


def one_hot_faults(log: LogColumns) -> list[LogFinding]:
    """Rows in which one action was certain, in epochs whose other rows give every action a chance."""
    choice = (log.n_eligible > 1) & (log.propensity > 0.0)
    if log.distribution is None or not choice.any():
        return []
    certain = choice & (log.propensity >= _CERTAIN)
    chance = np.where(log.eligible, log.distribution, np.inf).min(axis=1)
    _, group = np.unique(np.zeros(len(log)) if log.epoch is None else log.epoch, return_inverse=True)
    others = choice & ~certain & ~np.isnan(chance)
    least = np.full(int(group.max()) + 1, np.inf)
    np.minimum.at(least, group[others], chance[others])
    size, n_certain = np.bincount(group), np.bincount(group, weights=certain)
    floor = (least >= 0.01) & (size >= 30) & (n_certain <= 0.2 * size)
    return log.fault(
        "one_hot",
        certain & floor[group],
        "the logged action had probability 1, where others in its epoch leave every action a chance",
        "log the probabilities that the action was drawn with, not the decision itself",
        severity="warning",
    )


def rounding_faults(log: LogColumns) -> list[LogFinding]:
    """Propensities that all have few decimals."""
    p = log.propensity
    known = np.isfinite(p) & (p > 0.0) & (p < 1.0)
    values = np.unique(p[known])
    for decimals in (1, 2, 3, 4):
        if not len(values) or not _has_decimals(p[known], decimals):
            continue
        usual = 1.0 / np.maximum(log.n_eligible, 1)
        uniform = known & (np.abs(p - np.round(usual, decimals)) < 1e-12) & (np.abs(p - usual) > 1e-9)
        # Frequencies among 1,000 draws from a posterior are exact with three decimals.
        few = decimals > 2 or len(values) < min(_MANY_VALUES, 10**decimals - 1)
        if few and not _all(uniform, known):
            return []
        return log.fault(
            "propensity_rounded",
            known,
            f"all propensities have at most {decimals} decimal{'' if decimals == 1 else 's'}",
            "store propensities as they were computed: rounding biases weights, most where they are largest",
            severity="warning",
            sets_aside=False,
            decimals=decimals,
        )
    return []


def uncommon_faults(log: LogColumns) -> list[LogFinding]:
    """Propensities that are not those of uniform play, where nearly all others are."""
    if log.distribution is not None or len(log) < 50:
        return []
    with np.errstate(invalid="ignore"):
        differs = np.isfinite(log.propensity) & (np.abs(log.propensity * log.n_eligible - 1.0) > 1e-4)
    if not 0.0 < differs.mean() < 0.05:
        return []
    return log.fault(
        "propensity_uncommon",
        differs,
        lambda row: (
            f"the propensity is {log.propensity[row]:.6g}, where nearly all rows have that of uniform play"
        ),
        "check whether these rows were decided otherwise",
        severity="warning",
    )


def _has_decimals(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]], decimals: int) -> bool:
    return bool((np.abs(values - np.round(values, decimals)) < 1e-12).all())


def _all(some: Bools, every: Bools) -> bool:
    return bool(some[every].all())

"""Faults of single rows: impossible propensities, and distributions that are none."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.evaluation.checks.columns import LogColumns
from gyrfalcon.evaluation.checks.finding import LogFinding

SUM_TOLERANCE = 1e-6
"""By how much a sum of probabilities may differ from 1: as single precision has it."""

_RELATIVE, _ABSOLUTE = 1e-5, 1e-9
"""By how much a propensity may differ from the distribution's entry: rounding of single precision."""

_GIVE = "give the probability, in (0, 1], with which the logged action was chosen at that moment"


def propensity_faults(log: LogColumns) -> list[LogFinding]:
    """Propensities that are no probabilities, or not the distribution's."""
    p = log.propensity
    return [
        *_missing(log),
        *log.fault("propensity_infinite", np.isinf(p), lambda row: f"the propensity is {p[row]}", _GIVE),
        *log.fault(
            "propensity_negative",
            (p < 0.0) & np.isfinite(p),
            lambda row: f"the propensity is {p[row]:.9g}, which is below 0",
            _GIVE,
        ),
        *log.fault(
            "propensity_zero",
            p == 0.0,
            "the propensity is 0 for an action that was chosen",
            f"{_GIVE}, unrounded",
        ),
        *log.fault(
            "propensity_above_one",
            (p > 1.0 + SUM_TOLERANCE) & np.isfinite(p),
            lambda row: f"the propensity is {p[row]:.9g}, which is above 1",
            f"{_GIVE}, not a weight, a percentage or a score",
        ),
        *_mismatches(log),
    ]


def distribution_faults(log: LogColumns) -> list[LogFinding]:
    """Distributions with impossible entries, sums other than 1, or probability on ineligible actions."""
    table = log.distribution
    if table is None or not len(log):
        return []
    if table.shape != log.eligible.shape:
        raise ValueError(
            f"the distribution has shape {table.shape} and the log {log.eligible.shape}; give (n, K)."
        )
    missing, negative, infinite = np.isnan(table), table < 0.0, np.isinf(table)
    partly = missing.any(axis=1) & ~missing.all(axis=1)
    sums = np.where(np.isfinite(table), table, 0.0).sum(axis=1)
    broken = missing.any(axis=1) | (negative | infinite).any(axis=1)
    outside = (table > 0.0) & ~log.eligible

    def entry(cells: Bools, row: int) -> str:
        action = int(cells[row].argmax())
        return f"the distribution gives {log.label(action)} a probability of {table[row, action]:.9g}"

    remedy = "give the probabilities of all eligible actions, which are at least 0 and sum to 1"
    return [
        *log.fault("distribution_missing", partly, lambda row: entry(missing, row), remedy),
        *log.fault("distribution_negative", negative.any(axis=1), lambda row: entry(negative, row), remedy),
        *log.fault("distribution_infinite", infinite.any(axis=1), lambda row: entry(infinite, row), remedy),
        *log.fault(
            "distribution_sum",
            ~broken & (np.abs(sums - 1.0) > SUM_TOLERANCE),
            lambda row: f"the distribution sums to {sums[row]:.9g}",
            remedy,
        ),
        *log.fault(
            "distribution_ineligible",
            outside.any(axis=1),
            lambda row: f"{entry(outside, row)}, which is not eligible",
            "give ineligible actions a probability of 0, or correct the list of eligible actions",
        ),
    ]


def _missing(log: LogColumns) -> list[LogFinding]:
    missing = np.isnan(log.propensity)
    if not missing.all():
        return log.fault("propensity_missing", missing, "the propensity is missing", _GIVE)
    return log.fault(
        "propensities_unknown",
        missing,
        "no propensity is known",
        "log propensities, or estimate them and treat what follows with caution",
        severity="warning",
    )


def logged_entries(log: LogColumns) -> Floats:
    """The distribution's probability of the logged action, (n,); nan where either is unknown."""
    if log.distribution is None or not len(log):
        return np.full(len(log), np.nan)
    entries = log.distribution[np.arange(len(log)), np.maximum(log.action, 0)]
    return np.where(log.action >= 0, entries, np.nan)


def _mismatches(log: LogColumns) -> list[LogFinding]:
    """Propensities that are not the distribution's entry for the logged action."""
    entries, p = logged_entries(log), log.propensity
    with np.errstate(invalid="ignore"):
        differs = np.abs(p - entries) > _ABSOLUTE + _RELATIVE * np.abs(entries)
    differs &= np.isfinite(p) & np.isfinite(entries)
    other = ""
    if log.distribution is not None and differs.any():
        rows = np.flatnonzero(differs)
        equal = np.isclose(log.distribution[rows], p[rows, np.newaxis], rtol=_RELATIVE, atol=_ABSOLUTE)
        n_other = int(equal.any(axis=1).sum())
        other = f"; in {n_other} of {len(rows)} it is the probability of another action" if n_other else ""
    return log.fault(
        "propensity_mismatch",
        differs,
        lambda row: (
            f"the propensity is {p[row]:.9g}, and the distribution gives the logged action "
            f"{log.label(int(log.action[row]))} a probability of {entries[row]:.9g}{other}"
        ),
        "log the probability of the action that was shown; `gyrfalcon audit` computes it again from the "
        "stored policy",
    )

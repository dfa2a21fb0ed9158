"""`check_log`: all checks of a log, first of single rows and then of those rows that are usable."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.validation import check_share
from gyrfalcon.evaluation.checks.columns import LogColumns
from gyrfalcon.evaluation.checks.finding import LogFinding
from gyrfalcon.evaluation.checks.known_distribution import known_distribution
from gyrfalcon.evaluation.checks.report import LogCheck, usable_rows
from gyrfalcon.evaluation.checks.single_rows.actions import (
    action_faults,
    misspelt_actions,
    passive_faults,
    shown_otherwise_faults,
)
from gyrfalcon.evaluation.checks.single_rows.events import event_faults, repeated_rows
from gyrfalcon.evaluation.checks.single_rows.features import feature_faults
from gyrfalcon.evaluation.checks.single_rows.order import order_faults
from gyrfalcon.evaluation.checks.single_rows.propensity_values import distribution_faults, propensity_faults
from gyrfalcon.evaluation.checks.single_rows.rewards import (
    flag_faults,
    reward_faults,
    uncommon_rewards,
    unit_faults,
)
from gyrfalcon.evaluation.checks.single_rows.times import time_faults
from gyrfalcon.evaluation.checks.statistical.balance import balance_faults
from gyrfalcon.evaluation.checks.statistical.epoch_drift import epoch_reward_drift
from gyrfalcon.evaluation.checks.statistical.leakage import leakage_faults
from gyrfalcon.evaluation.checks.statistical.missing_outcomes import missing_outcomes
from gyrfalcon.evaluation.checks.statistical.overlap import (
    one_hot_faults,
    overlap_faults,
    rounding_faults,
    uncommon_faults,
)
from gyrfalcon.evaluation.checks.statistical.propensities import calibration_faults
from gyrfalcon.evaluation.checks.statistical.shared_draws import first_rows, shared_draws
from gyrfalcon.evaluation.checks.statistical.shares import share_faults
from gyrfalcon.evaluation.checks.statistical.stability import feature_drift, reward_drift
from gyrfalcon.evaluation.rows.table import check_table

_N_FAMILIES = 6
"""Families of statistical tests, which share alpha: see `_statistical`."""


def check_log(
    table: DecisionTable,
    *,
    alpha: float = 0.01,
    reward_range: tuple[float, float] | None = None,
    shares: Mapping[Hashable, float] | None = None,
) -> LogCheck:
    """Find the faults of a log, with row numbers and remedies; nothing is changed or dropped.

    First come faults of single rows: impossible propensities and distributions, actions that were not
    eligible, repeated events, times and epochs out of order, rewards out of range. The rows that are
    usable after that are tested as a whole: propensities against the actions that were chosen, the ratio of
    the traffic, features against actions and rewards, missing rewards, and drift. Statistical findings are
    controlled by Holm's method, and hold for logs of learners that adapt.

    Parameters
    ----------
    table
        The logged decisions.
    alpha
        Probability with which a log without faults has a statistical finding, at most; in (0, 1).
    reward_range
        Lowest and highest possible reward, in place of the table's own.
    shares
        Planned share of the traffic of each action, by label, or of each experiment, by name. Without them,
        counts of actions are compared with their logged probabilities.

    Returns
    -------
    LogCheck
        All findings, and which rows are usable.

    Raises
    ------
    ValueError
        If columns have different lengths, or a setting is not valid.

    Examples
    --------
    >>> table = DecisionTable.of(
    ...     actions=["red", "blue"], action=["blue", "red"], reward=[1.0, 0.0], propensity=[0.5, 1.7]
    ... )
    >>> check = check_log(table)
    >>> check
    LogCheck(2 rows, 1 error, 0 warnings, 1 set aside; failed)
    >>> check.findings[0].message, check.findings[0].rows.tolist()
    ('row 1: the propensity is 1.7, which is above 1', [1])
    >>> good, bad = check.set_aside(table)
    >>> len(good), bad.rows.tolist()
    (1, [1])
    """
    check_table(table)
    check_share("alpha", alpha)
    _check_range(reward_range)
    with np.errstate(all="ignore"):  # a log may hold any number, and what overflows is far from others
        return _checked(table, alpha, table.reward_range if reward_range is None else reward_range, shares)


def _checked(
    table: DecisionTable,
    alpha: float,
    reward_range: tuple[float, float] | None,
    shares: Mapping[Hashable, float] | None,
) -> LogCheck:
    log = LogColumns.of(table)
    found, usable = _set_aside(log, reward_range)
    good, places = log.take(usable), np.flatnonzero(usable)
    distribution = known_distribution(good)
    found += [
        replace(one, rows=places[one.rows])
        for one in _statistical(good, distribution, shares, alpha / _N_FAMILIES)
    ]
    ordered = sorted(found, key=lambda one: one.severity)  # "error" before "warning"
    return LogCheck(
        findings=tuple(replace(one, rows=np.sort(log.rows[one.rows])) for one in ordered),
        usable=usable,
        skipped=tuple(_skipped(good, distribution)),
        alpha=alpha,
        source=table.source,
    )


def _set_aside(log: LogColumns, reward_range: tuple[float, float] | None) -> tuple[list[LogFinding], Bools]:
    """Faults of rows, and the rows without any that would be set aside for one if they were a log."""
    found = _of_rows(log, reward_range)
    usable = usable_rows(len(log), found)
    # What is common may become rare when other rows are gone: few times out of order, an unusual default.
    while 0 < usable.sum() < len(log):
        places = np.flatnonzero(usable)
        further = [one for one in _of_rows(log.take(usable), reward_range) if one.sets_aside]
        if not further:
            break
        found += [replace(one, rows=places[one.rows]) for one in further]
        usable = usable_rows(len(log), found)
    return found, usable


def _of_rows(log: LogColumns, reward_range: tuple[float, float] | None) -> list[LogFinding]:
    """Faults of single rows and of their order."""
    events = event_faults(log)
    return [
        *propensity_faults(log),
        *distribution_faults(log),
        *action_faults(log),
        *misspelt_actions(log),
        *events,
        *_of_order(log, events),
        *reward_faults(log, reward_range),
        *flag_faults(log),
        *shown_otherwise_faults(log),
        *passive_faults(log),
        *feature_faults(log),
    ]


def _of_order(log: LogColumns, events: list[LogFinding]) -> list[LogFinding]:
    """Faults of order, apart from events that are in the log again, somewhere else."""
    again = np.zeros(len(log), np.bool_)
    for one in events:
        if one.kind == "event_repeated":
            again[one.rows] = True
    rows, places = log.take(~again), np.flatnonzero(~again)
    found = [*time_faults(rows), *order_faults(rows)]
    return [replace(one, rows=places[one.rows]) for one in found]


def _statistical(
    log: LogColumns, distribution: Floats | None, shares: Mapping[Hashable, float] | None, alpha: float
) -> list[LogFinding]:
    """Findings on usable rows: six families of tests at alpha each, and what can be seen without a test."""
    shared = shared_draws(log, distribution)
    return [
        *shared,
        *overlap_faults(log),
        *one_hot_faults(log),
        *rounding_faults(log),
        *uncommon_faults(log),
        *repeated_rows(log),
        *unit_faults(log),
        *uncommon_rewards(log),
        *leakage_faults(log),
        *_of_draws(log, distribution, shares, alpha, first_rows(log) if shared else None),
        *missing_outcomes(log, alpha),
        *feature_drift(log, alpha),
        *reward_drift(log, distribution, alpha / 2.0),
        *epoch_reward_drift(log, alpha / 2.0),
    ]


def _of_draws(
    log: LogColumns,
    distribution: Floats | None,
    shares: Mapping[Hashable, float] | None,
    alpha: float,
    rows: Ints | None,
) -> list[LogFinding]:
    """Tests of how actions were drawn, of some rows alone where several share a draw."""
    if rows is not None:
        mask = np.isin(np.arange(len(log)), rows)
        log, distribution = log.take(mask), None if distribution is None else distribution[rows]
    found = [
        *calibration_faults(log, distribution, alpha),
        *share_faults(log, distribution, shares, alpha),
        *balance_faults(log, distribution, alpha),
    ]
    return found if rows is None else [replace(one, rows=rows[one.rows]) for one in found]


def _skipped(log: LogColumns, distribution: Floats | None) -> list[str]:
    """What could not be tested for lack of columns."""
    table, missing = log.table, []
    if np.isnan(log.propensity).all():
        missing.append("Calibration, balance and drift of rewards: there are no propensities.")
    elif distribution is None:
        missing.append("Ratio of the traffic: there are no probabilities of all actions.")
    if not log.shared.shape[1]:
        missing.append("Features: there are none.")
    if table.event_id is None:
        missing.append("Repeated events: there are no event ids.")
    if table.time is None:
        missing.append("Order of times: there are none.")
    if table.epoch is None:
        missing.append("Epochs: there are none; calibration was tested in blocks of rows.")
    if table.reward_range is None:
        missing.append("Range of rewards: none is declared.")
    return missing


def _check_range(reward_range: tuple[float, float] | None) -> None:
    if reward_range is None:
        return
    low, high = reward_range
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ValueError(f"reward_range is ({low}, {high}); give two finite numbers, the lower one first.")

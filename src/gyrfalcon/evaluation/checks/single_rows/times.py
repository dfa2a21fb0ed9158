"""Faults of times: missing ones, other units, and rewards that came before their decision."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.evaluation.checks.columns import LogColumns
from gyrfalcon.evaluation.checks.finding import LogFinding
from gyrfalcon.evaluation.checks.single_rows.order import backwards

_UNIX = ((1e8, 1e10), (1e11, 1e13), (1e14, 1e16), (1e17, 1e19))
"""Times since 1970 in seconds, milliseconds, microseconds and nanoseconds, in years from 1973 to 2286."""

_UNITS = ("seconds", "milliseconds", "microseconds", "nanoseconds")


def time_faults(log: LogColumns) -> list[LogFinding]:
    """Times that are missing, in another unit, backwards, or after their own reward."""
    time = log.time
    if time is None or not len(log) or np.isnan(time).all():
        return []
    unit = _other_units(time)
    return [
        *log.fault(
            "time_missing",
            ~np.isfinite(time),
            "the decision has no time",
            "give the time of each decision, by which rows are put in order",
        ),
        *log.fault(
            "time_unit",
            unit,
            lambda row: f"the time is {time[row]:.13g}, which is not in seconds as others are",
            "give all times in seconds",
        ),
        *_whole_unit(log, time),
        *backwards(log, "time", np.where(unit, np.nan, time)),
        *_reward_times(log, time, unit),
    ]


def _reward_times(log: LogColumns, time: Floats, unit: Bools) -> list[LogFinding]:
    """Times of rewards that are missing, in another unit than the decision's, or before it."""
    rewarded = log.reward_time
    if rewarded is None:
        return []
    late = _reward_units(time, rewarded)
    untimed = log.has_outcome & np.isnan(rewarded)
    with np.errstate(invalid="ignore"):
        early = (rewarded < time) & ~late & ~unit
    return [
        *log.fault(
            "reward_time_missing",
            untimed & (untimed.sum() < 0.5 * log.has_outcome.sum()),
            "the reward has no time",
            "give the time at which each reward became final",
            severity="warning",
        ),
        *log.fault(
            "reward_time_unit",
            late & ~unit,
            lambda row: f"the reward's time is {rewarded[row]:.13g}, and the decision's {time[row]:.13g}",
            "give both times in seconds",
        ),
        *log.fault(
            "reward_before_decision",
            early,
            lambda row: f"the reward came {time[row] - rewarded[row]:.6g} seconds before its decision",
            "correct the times, or the join of rewards with decisions",
        ),
    ]


def _unix_class(time: Floats) -> Ints:
    """Index of the unit that a time since 1970 is in, -1 where it is in none."""
    found = np.full(len(time), -1, dtype=np.int64)
    for place, (low, high) in enumerate(_UNIX):
        found[(time >= low) & (time < high)] = place
    return found


def _other_units(time: Floats) -> Bools:
    """Times whose unit is not that of most rows: they are some power of 1,000 larger or smaller."""
    classes = _unix_class(time)
    finite = np.isfinite(time)
    if finite.any() and (classes[finite] >= 0).mean() > 0.5:
        usual = np.bincount(classes[classes >= 0]).argmax()
        return np.asarray(finite & (classes >= 0) & (classes != usual))
    return _jumps_by_thousands(time, np.flatnonzero(finite & (time > 0.0)))


def _jumps_by_thousands(time: Floats, rows: Ints) -> Bools:
    """Times of a clock with another origin, by jumps of a factor of about 1,000 between neighbours."""
    found = np.zeros(len(time), np.bool_)
    if len(rows) < 3:
        return found
    known = time[rows]
    steps = np.log10(known[1:] / known[:-1]) / 3.0
    powers = np.rint(steps)
    # Far from the clock's origin, neighbours are nearly equal.
    far = np.minimum(known[1:], known[:-1]) > 20.0 * np.quantile(np.abs(np.diff(known)), 0.1)
    jump = (powers != 0.0) & (np.abs(steps - powers) < np.log10(1.2) / 3.0) & far
    level = np.concatenate([[0.0], np.cumsum(np.where(jump, powers, 0.0))])
    values, counts = np.unique(level, return_counts=True)
    found[rows] = level != values[counts.argmax()]
    return found


def _reward_units(time: Floats, reward_time: Floats) -> Bools:
    """Rewards whose time is in another unit than their decision's."""
    own, other = _unix_class(time), _unix_class(reward_time)
    return np.asarray((own >= 0) & (other >= 0) & (own != other))


def _whole_unit(log: LogColumns, time: Floats) -> list[LogFinding]:
    classes = _unix_class(time[np.isfinite(time)])
    usual = int(np.median(classes)) if len(classes) else -1
    if usual < 1:
        return []
    return log.fault(
        "time_not_in_seconds",
        np.isfinite(time),
        f"times look like {_UNITS[usual]} since 1970",
        f"divide them by {1000**usual:,}: times of a log are in seconds",
        severity="warning",
    )

"""Faults of rewards: infinite ones, those out of range, other units, and flags that contradict them."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.evaluation.checks.columns import LogColumns, flags
from gyrfalcon.evaluation.checks.finding import LogFinding

_GAP = 10.0
"""Factor between rewards that is taken for another unit, if no reward is in between."""

_MANY, _LONG = 3, 20


def reward_faults(log: LogColumns, reward_range: tuple[float, float] | None) -> list[LogFinding]:
    """Rewards that are infinite, or outside the range that they were declared to have."""
    infinite = np.isinf(log.reward)
    found = log.fault(
        "reward_infinite",
        infinite,
        lambda row: f"the reward is {log.reward[row]}",
        "give a number, or none where there is no reward",
    )
    return [*found, *_outside(log, infinite, reward_range)] if reward_range is not None else found


def _outside(log: LogColumns, infinite: Bools, reward_range: tuple[float, float]) -> list[LogFinding]:
    low, high = reward_range
    slack = 1e-9 * max(abs(low), abs(high), high - low)
    outside = ~infinite & ((log.reward < low - slack) | (log.reward > high + slack))
    if not outside.any():
        return []
    flipped = outside & (-log.reward >= low - slack) & (-log.reward <= high + slack)
    unit = "cost" if log.table.cost else "reward"

    def text(row: int) -> str:
        return f"the {unit} is {log.reward[row]:.6g}, which is outside the declared range {low:g} to {high:g}"

    if flipped.sum() >= 0.5 * (log.has_outcome & (log.reward != 0.0)).sum():
        remedy = (
            "the negatives are inside, so that costs and rewards are mixed up: say cost=True, or flip signs"
        )
        kind, rest = "reward_sign", outside & ~flipped
        return [
            *log.fault(kind, flipped, text, remedy),
            *log.fault("reward_out_of_range", rest, text, _WIDEN),
        ]
    hint = (
        f"; the negatives of {int(flipped.sum())} are inside, as with a wrong sign" if flipped.any() else ""
    )
    return log.fault("reward_out_of_range", outside, lambda row: text(row) + hint, _WIDEN)


_WIDEN = (
    "correct the reward or its unit, or declare the range that rewards have: leaving rows out by their "
    "reward would bias what is estimated"
)


def flag_faults(log: LogColumns) -> list[LogFinding]:
    """Default rewards that are not the default, and rewards that count although they came too late."""
    table = log.table
    defaulted = np.zeros(len(log), np.bool_) if table.defaulted is None else flags(table.defaulted)
    late = np.zeros(len(log), np.bool_) if table.late is None else flags(table.late)
    return [
        *_unlike_default(log, defaulted),
        *log.fault(
            "late_reward_counted",
            late & ~defaulted & log.has_outcome,
            "the reward came too late to count, and yet the row has one that is not the default",
            "leave out rewards that came too late, or correct the flag",
        ),
    ]


def _unlike_default(log: LogColumns, defaulted: Bools) -> list[LogFinding]:
    """Default rewards with another value than the usual ones, which are at least a fifth of them each."""
    rewards = log.reward[defaulted]
    values, counts = np.unique(rewards, return_counts=True)  # all nan are one value
    if len(values) < 2:
        return []
    usual = values[(counts >= max(2.0, 0.2 * len(rewards)))]
    unlike = defaulted & ~np.isin(log.reward, usual)
    unlike &= ~(np.isnan(log.reward) & np.isnan(usual).any())
    known = f", where others have {usual[0]:.6g}" if len(usual) else " and others have other ones"
    return log.fault(
        "default_reward_differs",
        unlike,
        lambda row: f"the reward is marked as the default one and is {log.reward[row]:.6g}{known}",
        "clear the flag where the reward was observed, or correct the reward",
    )


def uncommon_rewards(log: LogColumns) -> list[LogFinding]:
    """Rewards of a third value where nearly all have one of two, as clicks have."""
    known = log.reward[log.has_outcome]
    if len(known) < 100:
        return []
    values, counts = np.unique(known, return_counts=True)
    common = values[np.argsort(counts)[-2:]]
    uncommon = log.has_outcome & ~np.isin(log.reward, common)
    if not 0.0 < uncommon.sum() <= 0.01 * len(known):
        return []
    low, high = sorted(common.tolist())
    return log.fault(
        "reward_uncommon",
        uncommon,
        lambda row: f"the reward is {log.reward[row]:.6g}, where nearly all are {low:.6g} or {high:.6g}",
        "correct the reward, unless it can have other values",
        severity="warning",
    )


def unit_faults(log: LogColumns) -> list[LogFinding]:
    """Rewards that look as if they were in another unit: in a stretch of rows, or far beyond all others."""
    size = np.abs(log.reward)
    rows = np.flatnonzero(np.isfinite(size) & (size > 0.0))
    if len(rows) < 4 * _LONG:
        return []
    scale = np.log10(size[rows])
    found = _stretch(scale)
    if not found.any():
        found = _beyond(scale)
    if not found.any():
        return []
    factor = 10.0 ** (np.median(scale[found]) - np.median(scale[~found]))
    return log.fault(
        "reward_unit",
        rows[found],
        f"rewards are about {factor:.3g} times as large as in other rows",
        "bring all rewards to one unit, if these were in another one",
        severity="warning",
        factor=float(factor),
    )


def _stretch(scale: Floats) -> Bools:
    """Rewards of a stretch of rows that starts and ends sharply, whose medians are 8 times others or more."""
    found = np.zeros(len(scale), np.bool_)
    length = max(_LONG, len(scale) // 50)
    n_blocks = len(scale) // length
    block = np.minimum(np.arange(len(scale)) // length, n_blocks - 1)
    medians = np.array([np.median(scale[block == one]) for one in range(n_blocks)])
    usual = np.median(medians)
    far = np.abs(medians - usual) >= 0.9
    # A level that rises slowly, as where a policy learns, has no jump.
    jumps = np.abs(np.diff(medians)) >= 0.45
    if not far.any() or not jumps.any() or far.mean() > 0.5:
        return found
    shift = np.median(medians[far]) - usual
    middle, nearer = usual + shift / 2, np.sign(shift)
    beyond = (scale - middle) * nearer > 0.0
    spread = np.median(np.abs(scale - medians[block]))
    if spread > abs(shift) / 6.0:
        return np.asarray(far[block])
    around = far[block] | np.roll(far, 1)[block] | np.roll(far, -1)[block]
    return np.asarray(beyond & around)


def _beyond(scale: Floats) -> Bools:
    """Rewards above a wide gap: three or more of them, more than a heavy tail has there."""
    ordered = np.sort(scale)
    n = len(ordered)
    first, last = n // 2, n - _MANY
    upper = np.diff(ordered)[first:last]
    if not len(upper):
        return np.zeros(n, np.bool_)
    place = first + int(upper.argmax())
    gap, n_beyond = ordered[place + 1] - ordered[place], n - 1 - place
    # In a tail that falls like a power, spacings of logarithms times their rank are exponential, of a mean
    # that the values below the gap tell.
    below = ordered[max(first, place - max(_LONG, n // 20)) : place + 1]
    mean = float((below - below[0]).mean())
    far = n_beyond * gap >= mean * (np.log(n) + 9.0)
    many_values = len(np.unique(ordered)) > n // 2
    wide = gap >= np.log10(3.0 if many_values else _GAP)
    return np.asarray((scale > ordered[place]) & (far and wide))

"""Runs of a log: the rows of one bandit between two restarts, whose rounds ascend one by one."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.evaluation.checks.columns import LogColumns

_MOST_RUNS = 100
"""Runs beyond which rows are taken to be in no order at all."""

_LEAST_ROWS = 3
"""Rows from which on rounds one by one are no accident."""


def runs_of(log: LogColumns) -> Ints | None:
    """The run of each row, (n,), where rounds begin again from an earlier one; None if they do not.

    A bandit that is loaded from its file after a crash decides some rounds again, for other events, and so do
    several that are loaded from one file. A row that is in no such run goes with the row before it.
    """
    rounds = log.round
    if rounds is None or log.table.event_id is None or len(log) < 2 * _LEAST_ROWS:
        return None
    if not (np.isfinite(rounds).all() and (np.abs(rounds) < 2.0**53).all()):
        return None
    repeated = repeated_values(rounds)
    if not repeated.any():
        return None
    runs = _ascending_runs(rounds, log.model_codes)
    if runs is None:
        return None
    sizes, steps = np.bincount(runs), np.zeros(runs.max() + 1)
    for run in range(len(sizes)):
        steps[run] = (np.diff(rounds[runs == run]) == 1.0).sum()
    true = (sizes >= _LEAST_ROWS) & (steps >= 0.9 * (sizes - 1))
    if true.sum() < 2 or sizes[true].sum() < 0.9 * len(log):
        return None
    last = np.maximum.accumulate(np.where(true[runs], np.arange(len(log)), -1))
    followed: Ints = np.where(last < 0, runs[np.flatnonzero(true[runs])[0]], runs[last])
    return followed


def repeated_values(values: Floats) -> Bools:
    """Which values stand in an earlier row already."""
    order = np.argsort(values, kind="stable")
    found = np.zeros(len(values), np.bool_)
    found[order[1:]] = np.diff(values[order]) == 0.0
    return found


def _ascending_runs(rounds: Floats, models: Ints) -> Ints | None:
    """Runs that rows go on with: those at the round before, of the same policy if there are several."""
    runs = np.empty(len(rounds), dtype=np.int64)
    ends: list[tuple[float, int]] = []
    sizes: list[int] = []
    listed, policies = rounds.tolist(), models.tolist()
    for row, (value, policy) in enumerate(zip(listed, policies, strict=True)):
        before = [run for run, (end, _) in enumerate(ends) if end == value - 1.0]
        if not before and row + 1 < len(listed) and listed[row + 1] == value + 1.0:  # rounds are missing
            before = [run for run, (end, _) in enumerate(ends) if end < value and sizes[run] >= _LEAST_ROWS]
            before = sorted(before, key=lambda run: -ends[run][0])[:1]
        same = [run for run in before if ends[run][1] == policy]
        chosen = (same or before or [len(ends)])[0]
        if chosen == len(ends):
            if chosen == _MOST_RUNS:
                return None
            ends.append((value, policy))
            sizes.append(0)
        ends[chosen], runs[row] = (value, policy), chosen
        sizes[chosen] += 1
    return runs

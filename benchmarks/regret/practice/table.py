"""The table of captured shares: a row per environment; whole run, second half and time of each contestant."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from benchmarks.regret.practice.contestants import SHORT
from benchmarks.regret.standings import BySeed, Table
from benchmarks.regret.table import Sheet
from gyrfalcon.simulation.trace import Summary

CAPTION = (
    "Share captured, in percent: 0 is uniform play, 100 is always the best action, both in expected rewards. "
    "For each contestant: of the whole run, of its second half, both with standard errors over seeds, and "
    "processor seconds of a run. Where all actions are the same, nothing can be captured. "
)


def shares(table: Table, labels: Sequence[str], names: Sequence[str], title: str) -> Sheet:
    """A row for each environment in which somebody has played."""
    heads = [head for name in names for head in (_short(name), "half 2", "s")]
    rows = [_row(table, label, names) for label in labels if _somebody(table, label, names)]
    columns = ("environment", "K", "p", "T", "seeds", *heads)
    return Sheet(title, CAPTION, columns, tuple(rows), len(columns))


def _short(name: str) -> str:
    """A contestant's name as a heading: variants of the three keep what comes after.

    >>> _short("AdaptiveFalcon, auto, half-life 500"), _short("LinTS 0.1")
    ('auto, half-life 500', 'LinTS 0.1')
    """
    for text, whole in SHORT.items():
        if name.startswith(whole):
            return text + name.removeprefix(whole)
    return name


def _row(table: Table, label: str, names: Sequence[str]) -> tuple[str, ...]:
    played = [table.get(name, {}).get(label, {}) for name in names]
    one = next(result for results in played for result in results.values())
    n_seeds = min(len(results) for results in played)
    size = (str(one.n_actions), str(one.n_features), f"{one.n_rounds:,}", str(n_seeds))
    return (label, *size, *(text for results in played for text in _of(results)))


def _of(results: BySeed) -> tuple[str, str, str]:
    if not results:
        return "", "", ""
    every = list(results.values())
    seconds = float(np.mean([one.seconds for one in every]))
    whole, half = [one.captured for one in every], [one.captured_second_half for one in every]
    return _percent(whole), _percent(half), f"{seconds:.1f}"


def _percent(values: Sequence[float]) -> str:
    summary = Summary.of(np.array(values))
    if math.isnan(summary.mean):
        return ""
    mean, error = 100.0 * summary.mean, 100.0 * summary.standard_error
    return f"{mean:.1f}" if math.isnan(error) else f"{mean:.1f} ± {error:.1f}"


def _somebody(table: Table, label: str, names: Sequence[str]) -> bool:
    return any(table.get(name, {}).get(label) for name in names)

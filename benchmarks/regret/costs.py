"""What a run will cost: processor seconds of cells that are still to be played."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from benchmarks.regret.cells import Cell

_SIZES = ((2, 2), (10, 64), (26, 16))
"""Actions and features of the sets that a contestant's milliseconds are of: banana, digits, letter."""
START = 0.1
"""Seconds to draw the rounds of a cell and to store what it gave."""


def expected_seconds(cell: Cell) -> float:
    """About how long a cell takes, from the time of a round in three sets of different size."""
    per_round = _weights(cell.contestant.milliseconds) @ _terms(*_size(cell.place.name, cell))
    return START + 1e-3 * cell.n_rounds * float(per_round)


def estimate(cells: Sequence[Cell], jobs: int) -> str:
    """A sentence on how long these cells take, in all and for each package."""
    by_package: dict[str, float] = {}
    for cell in cells:
        package = cell.contestant.package
        by_package[package] = by_package.get(package, 0.0) + expected_seconds(cell)
    total = f"{len(cells):,} cells to play, about {duration(sum(by_package.values()) / jobs)}"
    parts = ", ".join(f"{package} {duration(seconds / jobs)}" for package, seconds in by_package.items())
    return f"{total} with {jobs} at a time ({parts})" if parts else total


def duration(seconds: float) -> str:
    """Seconds in the unit that suits them.

    >>> duration(8.0), duration(90.0), duration(9000.0)
    ('8 s', '1.5 min', '2.5 h')
    """
    if seconds < 60.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.1f} min" if seconds < 3600.0 else f"{seconds / 3600.0:.1f} h"


def _terms(n_actions: int, n_features: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([1.0, n_actions, n_actions * n_features])


@lru_cache
def _weights(milliseconds: tuple[float, ...]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """What a round, an action and a feature of an action cost, none of them less than nothing."""
    from scipy.optimize import nnls

    terms = np.array([_terms(*size) for size in _SIZES])
    scale = np.array(milliseconds)
    weights, _ = nnls(terms / scale[:, np.newaxis], np.ones(len(_SIZES)))
    return np.asarray(weights)


_KNOWN: dict[str, tuple[int, int]] = {}


def _size(name: str, cell: Cell) -> tuple[int, int]:
    if name not in _KNOWN:
        _KNOWN[name] = cell.place.size
    return _KNOWN[name]

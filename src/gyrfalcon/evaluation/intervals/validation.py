"""Validation of contributions, bounds and levels: an error names the row, the value and the remedy."""

from __future__ import annotations

import math

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.core.validation import is_number

Bounds = tuple[float, float]

ROUNDING = 1e-9
"""How far, in units of the range, a contribution may lie outside of its bounds by rounding."""


def check_bounds(bounds: object, name: str = "bounds") -> None:
    """Refuse bounds that are not two finite numbers in ascending order."""
    match bounds:
        case [low, high]:
            valid = is_number(low) and is_number(high) and -math.inf < low < high < math.inf
        case _:
            valid = False
    if not valid:
        raise ValueError(
            f"{name} is {short_repr(bounds)}; give (low, high) with low below high, both finite."
        )


def check_largest_loss(largest_loss: object) -> None:
    """Refuse a share of the capital outside (0, 1)."""
    if not (is_number(largest_loss) and 0.0 < largest_loss < 1.0):
        raise ValueError(
            f"largest_loss is {short_repr(largest_loss)}; give a number in (0, 1), such as 0.25."
        )


def checked_column(values: object, name: str = "contributions", *, least: int = 2) -> Floats:
    """A column of finite floats, (n,), of at least `least` rows."""
    column = np.asarray(values, dtype=float)
    if column.ndim != 1:
        raise ValueError(f"{name} has shape {column.shape}; give one number per row, in order of time.")
    if len(column) < least:
        raise ValueError(f"{name} has {len(column)} rows, and this interval needs at least {least}.")
    wrong = np.flatnonzero(~np.isfinite(column))
    if len(wrong):
        raise ValueError(
            f"row {wrong[0]}: {name} is {column[wrong[0]]}, and {len(wrong)} of {len(column)} rows are not "
            "finite; leave these rows out if their number says nothing of their rewards."
        )
    return column


def in_unit_range(values: object, bounds: Bounds, name: str = "contributions", *, least: int = 1) -> Floats:
    """Contributions mapped from their bounds to [0, 1], refused where they lie outside."""
    check_bounds(bounds)
    column = checked_column(values, name, least=least)
    low, high = bounds
    unit = (column - low) / (high - low)
    wrong = np.flatnonzero((unit < -ROUNDING) | (unit > 1.0 + ROUNDING))
    if len(wrong):
        raise ValueError(
            f"row {wrong[0]}: {name} is {column[wrong[0]]:g}, outside of the bounds [{low:g}, {high:g}], "
            f"as are {len(wrong)} of {len(column)} rows; give bounds that hold for every "
            "possible row, not only for those observed."
        )
    return np.asarray(np.clip(unit, 0.0, 1.0))


def above_floor(scores: object, floor: Floats, name: str = "scores") -> Floats:
    """Scores that are at least their floor, (n,), as one-sided bounds require."""
    column = checked_column(scores, name, least=1)
    wrong = np.flatnonzero(column < floor - ROUNDING * (1.0 + np.abs(floor)))
    if len(wrong):
        row = wrong[0]
        raise ValueError(
            f"row {row}: {name} is {column[row]:g}, below -truncation = {floor[row] + 0.0:g}, as are "
            f"{len(wrong)} of {len(column)} rows; make them from rewards in [0, 1] with "
            "one_sided_scores and that truncation."
        )
    return np.asarray(np.maximum(column, floor))

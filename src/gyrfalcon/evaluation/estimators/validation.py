"""Validation of what estimators take: an error is one sentence with the value, its row and the remedy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.estimates.validation import check_rewards

_LEAST_SUM, _LARGEST_SUM = 1.0 - 1e-6, 1.0 + 1e-6
"""What probabilities may sum to: those of some hundred actions in single precision are closer to 1."""

_CELLS = 1 << 17
"""Numbers of a table that are looked at together: they stay in the cache while they are."""


def blocks(n_rows: int, n_actions: int, n_tables: int = 1) -> Iterator[slice]:
    """Rows of one or more tables (n, K), some at a time."""
    size = rows_together(n_actions, n_tables)
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def target_probabilities(target: ArrayLike, n_rows: int | None = None, name: str = "target") -> Floats:
    """Probabilities (n, K) of a policy, refused unless those of each row sum to 1."""
    table = as_table(name, target, n_rows)
    for rows in blocks(*table.shape):
        check_probabilities(table, rows, name)
    return table


def rows_together(n_actions: int, n_tables: int = 1) -> int:
    """How many rows of tables (n, K) are looked at together."""
    return max(1, _CELLS // (n_actions * n_tables))


def all_rows_alike(table: Floats) -> bool:
    """Whether all rows of a table are one in memory, as `np.broadcast_to` makes them of a row."""
    return table.strides[0] == 0


def check_probabilities(table: Floats, rows: slice, name: str = "target") -> None:
    """Refuse rows of a table that are no probabilities; rows that are all alike are looked at once."""
    if all_rows_alike(table) and rows.start:
        return
    block = table[:1] if all_rows_alike(table) else table[rows]
    with np.errstate(invalid="ignore", over="ignore"):
        sums = block @ np.ones(block.shape[1])
    # Numbers of at least 0 that sum to 1 are at most 1. A nan fails every comparison.
    if not (block.min() >= 0.0 and sums.min() >= _LEAST_SUM and sums.max() <= _LARGEST_SUM):
        _refuse_probabilities(block, sums, rows.start, name)


def finite_rewards(rewards: ArrayLike) -> Floats:
    """Rewards (n,), refused where they are not finite."""
    earned = as_column("rewards", rewards)
    check_rewards(earned)
    return earned


def _refuse_probabilities(table: Floats, sums: Floats, first: int, name: str) -> None:
    """Name the first probability that is none, or else the first row whose sum is not 1."""
    valid = (table >= 0.0) & (table <= _LARGEST_SUM)
    if not valid.all():
        row, action = _first_cell(valid)
        raise ValueError(
            f"row {first + row}: {name} gives action {action} a probability of {table[row, action]}, which "
            "is not in [0, 1]; give the probability with which the policy would choose it."
        )
    row = int(((sums >= _LEAST_SUM) & (sums <= _LARGEST_SUM)).argmin())
    raise ValueError(
        f"row {first + row}: the probabilities of {name} sum to {sums[row]:.9g}; give those of all actions, "
        "whose sum is 1."
    )


def finite_predictions(predictions: ArrayLike, target: Floats) -> Floats:
    """Predicted rewards (n, K), refused where they are not finite and the target may act."""
    table = matching_table("predictions", predictions, target)
    finite = np.isfinite(table)
    if finite.all():
        return table
    usable = finite | (target == 0.0)
    if not usable.all():
        row, action = _first_cell(usable)
        raise ValueError(
            f"row {row}: the prediction for action {action} is {table[row, action]}, and the target takes "
            f"it with probability {target[row, action]:.6g}; give a finite one."
        )
    return np.where(finite, table, 0.0)


def matching_table(name: str, values: ArrayLike, target: Floats) -> Floats:
    """A table with a column for each action of the target, (n, K)."""
    table = as_table(name, values, len(target))
    if table.shape != target.shape:
        raise ValueError(
            f"{name} has shape {table.shape} and target {target.shape}; give a column for each action "
            "in both."
        )
    return table


def as_column(name: str, values: ArrayLike, n_rows: int | None = None) -> Floats:
    """A column of floats, (n,), that has rows."""
    column = np.asarray(values, dtype=np.float64)
    if column.ndim != 1 or len(column) != (len(column) if n_rows is None else n_rows):
        rows = "one number for each row" if n_rows is None else f"one number for each of {n_rows} rows"
        raise ValueError(f"{name} has shape {column.shape}; give {rows}.")
    if not len(column):
        raise ValueError(f"{name} has no rows; give at least one.")
    return column


def as_table(name: str, values: ArrayLike, n_rows: int | None) -> Floats:
    """A table of floats, (n, K)."""
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape or (n_rows is not None and len(table) != n_rows):
        rows = "n rows" if n_rows is None else f"n = {n_rows} rows"
        raise ValueError(f"{name} has shape {table.shape}; give (n, K) for {rows} and K actions.")
    return table


def as_positions(actions: ArrayLike, n_rows: int, n_actions: int) -> Ints:
    """Positions of actions, (n,), refused where the target has no column for them."""
    positions = np.asarray(actions)
    if positions.shape != (n_rows,):
        raise ValueError(f"actions has shape {positions.shape}; give one position for each of {n_rows} rows.")
    if not np.issubdtype(positions.dtype, np.integer):
        raise ValueError(
            f"actions holds values of type {positions.dtype}; give whole numbers, the positions of actions "
            "counted from 0."
        )
    places = positions.astype(np.int64, copy=False)
    if places.view(np.uint64).max() >= n_actions:  # negative numbers are the largest without their sign
        row = int(((positions >= 0) & (positions < n_actions)).argmin())
        raise ValueError(
            f"row {row}: the action is {positions[row]}, but target has columns for 0 to {n_actions - 1}; "
            "give positions counted from 0, and a column of target for each action."
        )
    return places


def _first_cell(valid: Bools) -> tuple[int, int]:
    row, action = np.unravel_index(int(valid.argmin()), valid.shape)
    return int(row), int(action)

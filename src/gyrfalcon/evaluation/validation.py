"""Validation of what estimators take: an error is one sentence with the value, its row and the remedy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.estimates.scores import importance_weights
from gyrfalcon.estimates.validation import check_propensities, check_rewards

_LEAST_SUM, _LARGEST_SUM = 1.0 - 1e-6, 1.0 + 1e-6
"""What probabilities may sum to: those of some hundred actions in single precision are closer to 1."""


@dataclass(frozen=True, slots=True, eq=False)
class LoggedRows:
    """Valid rows of a log, and the policy to be evaluated on them."""

    rewards: Floats
    """(n,)."""
    actions: Ints
    """(n,) positions."""
    target: Floats
    """(n, K) probabilities."""
    weights: Floats
    """(n,): the target's probability of the logged action over its propensity."""

    @staticmethod
    def of(rewards: ArrayLike, actions: ArrayLike, propensities: ArrayLike, target: ArrayLike) -> LoggedRows:
        """Arrays as a user gave them, converted and checked once."""
        earned = _column("rewards", rewards)
        chances = _column("propensities", propensities, len(earned))
        probabilities = target_probabilities(target, len(earned))
        chosen = _positions(actions, *probabilities.shape)
        check_rewards(earned)
        check_propensities(chances)
        return LoggedRows(earned, chosen, probabilities, importance_weights(probabilities, chosen, chances))


def target_probabilities(target: ArrayLike, n_rows: int | None = None) -> Floats:
    """Probabilities (n, K) of a policy, refused unless those of each row sum to 1."""
    table = _table("target", target, n_rows)
    with np.errstate(invalid="ignore", over="ignore"):
        sums = table @ np.ones(table.shape[1])
    # Numbers of at least 0 that sum to 1 are at most 1. A nan fails every comparison.
    if not (table.min() >= 0.0 and sums.min() >= _LEAST_SUM and sums.max() <= _LARGEST_SUM):
        _refuse_probabilities(table, sums)
    return table


def _refuse_probabilities(table: Floats, sums: Floats) -> None:
    """Name the first probability that is none, or else the first row whose sum is not 1."""
    valid = (table >= 0.0) & (table <= _LARGEST_SUM)
    if not valid.all():
        row, action = _first_cell(valid)
        raise ValueError(
            f"row {row}: target gives action {action} a probability of {table[row, action]}, which is not in "
            "[0, 1]; give the probability with which the policy would choose it."
        )
    row = int(((sums >= _LEAST_SUM) & (sums <= _LARGEST_SUM)).argmin())
    raise ValueError(
        f"row {row}: the probabilities of target sum to {sums[row]:.9g}; give those of all actions, "
        "whose sum is 1."
    )


def finite_predictions(predictions: ArrayLike, target: Floats) -> Floats:
    """Predicted rewards (n, K), refused where they are not finite and the target may act."""
    table = _table("predictions", predictions, len(target))
    if table.shape != target.shape:
        raise ValueError(
            f"predictions has shape {table.shape} and target {target.shape}; give a column for each action "
            "in both."
        )
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


def _column(name: str, values: ArrayLike, n_rows: int | None = None) -> Floats:
    column = np.asarray(values, dtype=np.float64)
    if column.ndim != 1 or len(column) != (len(column) if n_rows is None else n_rows):
        rows = "one number for each row" if n_rows is None else f"one number for each of {n_rows} rows"
        raise ValueError(f"{name} has shape {column.shape}; give {rows}.")
    if not len(column):
        raise ValueError(f"{name} has no rows; give at least one.")
    return column


def _table(name: str, values: ArrayLike, n_rows: int | None) -> Floats:
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape or (n_rows is not None and len(table) != n_rows):
        rows = "n rows" if n_rows is None else f"n = {n_rows} rows"
        raise ValueError(f"{name} has shape {table.shape}; give (n, K) for {rows} and K actions.")
    return table


def _positions(actions: ArrayLike, n_rows: int, n_actions: int) -> Ints:
    positions = np.asarray(actions)
    if positions.shape != (n_rows,):
        raise ValueError(f"actions has shape {positions.shape}; give one position for each of {n_rows} rows.")
    if not np.issubdtype(positions.dtype, np.integer):
        raise ValueError(
            f"actions holds values of type {positions.dtype}; give whole numbers, the positions of actions "
            "counted from 0."
        )
    valid = (positions >= 0) & (positions < n_actions)
    if not valid.all():
        row = int(valid.argmin())
        raise ValueError(
            f"row {row}: the action is {positions[row]}, but target has columns for 0 to {n_actions - 1}; "
            "give positions counted from 0, and a column of target for each action."
        )
    return positions.astype(np.int64, copy=False)


def _first_cell(valid: Bools) -> tuple[int, int]:
    row, action = np.unravel_index(int(valid.argmin()), valid.shape)
    return int(row), int(action)

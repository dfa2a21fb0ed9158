"""Valid rows of a log, their weights, and what a reward model says of them: each table is read once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.estimates.validation import check_propensities, check_rewards
from gyrfalcon.evaluation.estimators.validation import (
    all_rows_alike,
    as_column,
    as_positions,
    as_table,
    blocks,
    check_probabilities,
    finite_predictions,
    matching_table,
    rows_together,
)

T = TypeVar("T")


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
    def of(
        rewards: ArrayLike,
        actions: ArrayLike,
        propensities: ArrayLike,
        target: ArrayLike,
        *,
        out: Floats | None = None,
    ) -> LoggedRows:
        """Arrays as a user gave them, converted and checked once; weights go to `out` if it is given."""
        earned = as_column("rewards", rewards)
        chances = as_column("propensities", propensities, len(earned))
        table = as_table("target", target, len(earned))
        chosen = as_positions(actions, *table.shape)
        weights = np.empty(len(earned)) if out is None else out
        for rows in blocks(*table.shape):
            check_probabilities(table, rows)
            _check_columns(earned, chances, rows)
            np.divide(_logged(table[rows], chosen[rows]), chances[rows], out=weights[rows])
        return LoggedRows(earned, chosen, table, weights)


@dataclass(frozen=True, slots=True, eq=False)
class ModelledRows:
    """Valid rows of a log, and a reward model's predictions under the policy to be evaluated."""

    weights: Floats
    """(n,): the target's probability of the logged action over its propensity."""
    expected: Floats
    """(n,): the predicted reward of the target."""
    residuals: Floats
    """(n,): rewards less the predicted ones of the logged actions."""

    @staticmethod
    def of(
        rewards: ArrayLike,
        actions: ArrayLike,
        propensities: ArrayLike,
        target: ArrayLike,
        predictions: ArrayLike,
    ) -> ModelledRows:
        """Arrays as a user gave them, converted and checked once."""
        log = _Log.of(rewards, actions, propensities, target, predictions)
        return _finite_or_cleaned(log, _in_columns, lambda found: found.expected + found.residuals)


def corrected_contributions(
    rewards: ArrayLike,
    actions: ArrayLike,
    propensities: ArrayLike,
    target: ArrayLike,
    predictions: ArrayLike,
    reweighted: Callable[[Floats], Floats],
    *,
    out: Floats | None = None,
) -> Floats:
    """sum_a pi(a) f(a) + weight (r - f(logged action)), (n,), for a function of importance weights (n,)."""
    log = _Log.of(rewards, actions, propensities, target, predictions)
    scores = np.empty(len(log.rewards)) if out is None else out
    return _finite_or_cleaned(log, lambda one: _combined(one, reweighted, scores), lambda scores: scores)


def sums_over_actions(first: Floats, second: Floats) -> Floats:
    """Sums over actions of the products of two tables (n, K), (n,)."""
    return np.asarray(np.einsum("nk,nk->n", first, second))


class _Log(NamedTuple):
    """Arrays whose shapes fit, and whose values are not yet known to be valid."""

    rewards: Floats
    actions: Ints
    propensities: Floats
    target: Floats
    predictions: Floats

    @staticmethod
    def of(
        rewards: ArrayLike,
        actions: ArrayLike,
        propensities: ArrayLike,
        target: ArrayLike,
        predictions: ArrayLike,
    ) -> _Log:
        earned = as_column("rewards", rewards)
        chances = as_column("propensities", propensities, len(earned))
        table = as_table("target", target, len(earned))
        chosen = as_positions(actions, *table.shape)
        return _Log(earned, chosen, chances, table, matching_table("predictions", predictions, table))


def _in_columns(log: _Log) -> ModelledRows:
    weights, expected, residuals = (np.empty(len(log.rewards)) for _ in range(3))
    for rows, *columns in _modelled_blocks(log):
        weights[rows], expected[rows], residuals[rows] = columns
    return ModelledRows(weights, expected, residuals)


def _combined(log: _Log, reweighted: Callable[[Floats], Floats], scores: Floats) -> Floats:
    for rows, weights, expected, residuals in _modelled_blocks(log):
        np.multiply(reweighted(weights), residuals, out=scores[rows])
        scores[rows] += expected
    return scores


def _modelled_blocks(log: _Log) -> Iterator[tuple[slice, Floats, Floats, Floats]]:
    """Some rows at a time: weights, expected rewards and residuals of those, once they are found valid."""
    n_actions = log.target.shape[1]
    ones, products = np.ones(n_actions), np.empty((rows_together(n_actions, 2), n_actions))
    for rows in blocks(len(log.target), n_actions, 2):
        target, model, actions = log.target[rows], log.predictions[rows], log.actions[rows]
        check_probabilities(log.target, rows)
        _check_columns(log.rewards, log.propensities, rows)
        expected = np.multiply(target, model, out=products[: len(actions)]) @ ones
        places = _places(actions, n_actions)
        residuals = log.rewards[rows] - _logged(model, actions, places)
        weights = _logged(target, actions, places) / log.propensities[rows]
        yield rows, weights, expected, residuals


def _finite_or_cleaned(log: _Log, compute: Callable[[_Log], T], numbers: Callable[[T], Floats]) -> T:
    """What was computed of a log; once more if predictions are not finite where they do not matter."""
    with np.errstate(invalid="ignore", over="ignore"):
        found = compute(log)
        if _finite(numbers(found)):
            return found
        cleaned = log._replace(predictions=finite_predictions(log.predictions, log.target))
        found = compute(cleaned)
        infinite = np.flatnonzero(~np.isfinite(numbers(found)))
    if len(infinite):
        row = int(infinite[0])
        raise ValueError(
            f"row {row}: the reward {log.rewards[row]:g} with propensity {log.propensities[row]:g} gives a "
            "number that is not finite; leave the row out, or bring rewards to another unit."
        )
    return found


def _check_columns(rewards: Floats, propensities: Floats, rows: slice) -> None:
    """Refuse rows whose rewards are not finite or whose propensities are none."""
    chances = propensities[rows]
    if not (_finite(rewards[rows]) and chances.min() > 0.0 and chances.max() <= 1.0):
        check_rewards(rewards)
        check_propensities(propensities)


def _places(actions: Ints, n_actions: int) -> Ints:
    """Places of the logged actions in a table (n, K) that is read row by row."""
    return np.arange(0, len(actions) * n_actions, n_actions) + actions


def _logged(table: Floats, actions: Ints, places: Ints | None = None) -> Floats:
    """A table's entries of the logged actions, (n,); their places may be known."""
    if all_rows_alike(table):
        return np.asarray(table[0].take(actions))
    places = _places(actions, table.shape[1]) if places is None else places
    return np.asarray(table.reshape(-1).take(places))


def _finite(column: Floats) -> bool:
    """Whether all numbers are finite: a nan is its own minimum and maximum."""
    return math.isfinite(column.min()) and math.isfinite(column.max())

"""Values of policies from a log that is read some rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.validation import check_choice
from gyrfalcon.evaluation.estimate import Estimate
from gyrfalcon.evaluation.importance_weighted import weighted_mean
from gyrfalcon.evaluation.logged_rows import LoggedRows, ModelledRows, corrected_contributions

ESTIMATORS = ("ips", "snips", "dr", "sndr")
_BLOCK = 2**22
"""Numbers of a block: what the memory allocator takes from the system and gives back by itself."""
_WITH_MODEL = frozenset(("dr", "sndr"))

TableFunction = Callable[[DecisionTable], ArrayLike]
"""From a table of n decisions to numbers (n, K)."""

_Logged = tuple[Floats, Ints, Floats, ArrayLike]
"""Rewards, actions, propensities, and the target's probabilities."""


def estimate_in_batches(
    tables: Iterable[DecisionTable],
    target: TableFunction,
    estimator: str = "ips",
    *,
    predictions: TableFunction | None = None,
) -> Estimate:
    """The value of a policy from tables that are read one after the other, as from all rows at once.

    One to three numbers for each row are kept, and of the tables one at a time, so that ten million rows take
    about 100 MB.

    Parameters
    ----------
    tables
        Tables of some decisions each, as `LogReader.tables` gives them. Rows without a reward are left out by
        whoever gives them.
    target
        Probabilities (n, K) of the policy to be evaluated in a table of n decisions.
    estimator
        `"ips"`, `"snips"`, `"dr"` or `"sndr"`.
    predictions
        Predicted rewards (n, K) in a table of n decisions, for "dr" and "sndr", of a model that was fitted to
        other rows. Tables come in their order, so that it may learn from those that it has seen.

    Returns
    -------
    Estimate
        The policy's estimated value, with the influence of each row in the order of the tables.

    Examples
    --------
    >>> table = DecisionTable.of(
    ...     actions=["a", "b"], action=list("abab"), reward=[1, 0, 0, 1], propensity=[0.5, 0.2, 0.8, 0.5]
    ... )
    >>> halves = [table.take(slice(0, 2)), table.take(slice(2, 4))]
    >>> estimate_in_batches(halves, lambda table: np.tile([0.25, 0.75], (len(table), 1)))
    Estimate(0.5, standard error 0.3062, 4 rows)
    """
    check_choice("estimator", estimator, ESTIMATORS)
    if (estimator in _WITH_MODEL) != (predictions is not None):
        needs = "needs predictions" if estimator in _WITH_MODEL else "takes no predictions"
        raise ValueError(f'the estimator "{estimator}" {needs}; give them for "dr" and "sndr" alone.')
    columns = _joined(_numbers(_checked(tables), target, estimator, predictions))
    if estimator in {"ips", "dr"}:
        return Estimate.of_own_contributions(columns[0])
    correction = weighted_mean(columns[0], columns[1])
    if estimator == "snips":
        return correction
    model = Estimate.of_own_contributions(columns[2])
    return Estimate(model.value + correction.value, model.influence + correction.influence)


def _numbers(
    tables: Iterable[tuple[int, DecisionTable]],
    target: TableFunction,
    estimator: str,
    predictions: TableFunction | None,
) -> Iterator[tuple[Floats, ...]]:
    """What an estimator keeps of each table, in columns."""
    for first, table in tables:
        log = table.reward, table.action, table.propensity, target(table)
        model = None if predictions is None else predictions(table)
        try:
            yield _of_table(log, model, estimator)
        except ValueError as error:
            places = f"rows {first} to {first + len(table) - 1}, counted in it from 0"
            raise ValueError(f"in the table of {places}: {error}") from error


def _of_table(log: _Logged, model: ArrayLike | None, estimator: str) -> tuple[Floats, ...]:
    """What an estimator keeps of one table."""
    if estimator == "dr" and model is not None:
        return (corrected_contributions(*log, model, lambda weights: weights),)
    if model is not None:
        modelled = ModelledRows.of(*log, model)
        return modelled.weights, modelled.residuals, modelled.expected
    rows = LoggedRows.of(*log)
    if estimator == "ips":
        return (np.multiply(rows.weights, rows.rewards, out=rows.weights),)
    return rows.weights, rows.rewards


def _checked(tables: Iterable[DecisionTable]) -> Iterator[tuple[int, DecisionTable]]:
    """Tables that have rows, with the number of their first one."""
    first = 0
    for table in tables:
        if len(table):
            yield first, table
        first += len(table)


def _joined(pieces: Iterator[tuple[Floats, ...]]) -> list[Floats]:
    """Columns of all pieces, kept in large blocks, which go back to the system as they are joined."""
    columns: list[list[Floats]] = []
    n = 0
    for piece in pieces:
        columns = columns or [[] for _ in piece]
        for blocks, values in zip(columns, piece, strict=True):
            _put(blocks, values, n)
        n += len(piece[0])
    if not n:
        raise ValueError("the tables have no rows; give a log with at least one decision.")
    return [_one(blocks, n) for blocks in columns]


def _put(blocks: list[Floats], values: Floats, start: int) -> None:
    """Write values into blocks from place `start` on, with new blocks as they are needed."""
    done = 0
    while done < len(values):
        block, place = divmod(start + done, _BLOCK)
        if block == len(blocks):
            blocks.append(np.empty(_BLOCK))
        length = min(len(values) - done, _BLOCK - place)
        blocks[block][place : place + length] = values[done : done + length]
        done += length


def _one(blocks: list[Floats], n: int) -> Floats:
    """The first n numbers of blocks, which are given up one after the other."""
    if len(blocks) == 1:
        return blocks[0][:n]
    column = np.empty(n)
    for start in range(0, n, _BLOCK):
        column[start : start + _BLOCK] = blocks.pop(0)[: n - start]
    return column

"""Values of policies from a log that is read some rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import ArrayLike

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.validation import check_choice
from gyrfalcon.evaluation.estimators.estimate import Estimate
from gyrfalcon.evaluation.estimators.importance_weighted import weighted_mean
from gyrfalcon.evaluation.estimators.logged_rows import LoggedRows, ModelledRows, corrected_contributions
from gyrfalcon.evaluation.estimators.model_assisted import self_normalised_correction
from gyrfalcon.evaluation.estimators.reweighting import unchanged_weights

_N_COLUMNS = {"ips": 1, "snips": 2, "dr": 1, "sndr": 3}
"""Estimators, and how many numbers of each row they keep."""
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
    check_choice("estimator", estimator, tuple(_N_COLUMNS))
    if (estimator in _WITH_MODEL) != (predictions is not None):
        needs = "needs predictions" if estimator in _WITH_MODEL else "takes no predictions"
        raise ValueError(f'the estimator "{estimator}" {needs}; give them for "dr" and "sndr" alone.')
    columns = _columns_of(tables, target, estimator, predictions)
    if estimator in {"ips", "dr"}:
        return Estimate.of_own_contributions(columns[0])
    if estimator == "snips":
        return weighted_mean(columns[0], columns[1])
    return self_normalised_correction(*columns)


def _columns_of(
    tables: Iterable[DecisionTable],
    target: TableFunction,
    estimator: str,
    predictions: TableFunction | None,
) -> list[Floats]:
    """What an estimator keeps of all rows, in columns."""
    columns = [_Column() for _ in range(_N_COLUMNS[estimator])]
    first = 0
    for table in tables:
        if len(table):
            log = table.reward, table.action, table.propensity, target(table)
            model = None if predictions is None else predictions(table)
            try:
                _put(log, model, estimator, [column.next(len(table)) for column in columns])
            except ValueError as error:
                places = f"rows {first} to {first + len(table) - 1}, counted in it from 0"
                raise ValueError(f"in the table of {places}: {error}") from error
        first += len(table)
    if not first:
        raise ValueError("the tables have no rows; give a log with at least one decision.")
    return [column.joined() for column in columns]


def _put(log: _Logged, model: ArrayLike | None, estimator: str, columns: list[Floats]) -> None:
    """Write what an estimator keeps of one table."""
    if estimator == "dr" and model is not None:
        corrected_contributions(*log, model, unchanged_weights, out=columns[0])
    elif model is not None:
        modelled = ModelledRows.of(*log, model)
        for column, values in zip(
            columns, (modelled.weights, modelled.residuals, modelled.expected), strict=True
        ):
            column[:] = values
    else:
        rows = LoggedRows.of(*log, out=columns[0])
        if estimator == "ips":
            columns[0] *= rows.rewards
        else:
            columns[1][:] = rows.rewards


class _Column:
    """Numbers in large blocks, which go back to the system as they are joined."""

    def __init__(self) -> None:
        self._blocks: list[Floats] = []
        self._used: list[int] = []

    def next(self, n: int) -> Floats:
        """Place for the next n numbers, in one piece."""
        if not self._blocks or self._used[-1] + n > len(self._blocks[-1]):
            self._blocks.append(np.empty(max(_BLOCK, n)))
            self._used.append(0)
        start = self._used[-1]
        self._used[-1] += n
        return self._blocks[-1][start : start + n]

    def joined(self) -> Floats:
        """All numbers in one array, (n,)."""
        if len(self._blocks) == 1:
            return self._blocks[0][: self._used[0]]
        column = np.empty(sum(self._used))
        stops = np.cumsum(self._used).tolist()
        for stop, used in zip(stops, self._used, strict=True):
            column[stop - used : stop] = self._blocks.pop(0)[:used]
        return column

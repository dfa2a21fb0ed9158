"""Columns of a log as plain numbers: what checks read, whatever types the columns came with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import UNKNOWN_ACTION, DecisionTable
from gyrfalcon.evaluation.checks.finding import LogFinding, Severity, row_names


@dataclass(frozen=True, slots=True, eq=False)
class LogColumns:
    """A table with its columns as numbers: nan for what is none, -1 for unknown actions."""

    table: DecisionTable
    rows: Ints
    action: Ints
    reward: Floats
    propensity: Floats
    distribution: Floats | None
    """(n, K), nan in all cells of rows without one; ineligible actions without a number have 0."""
    eligible: Bools
    shared: Floats
    cube: Floats | None
    time: Floats | None
    reward_time: Floats | None
    epoch: Floats | None
    round: Floats | None
    passive: Bools | None

    @staticmethod
    def of(table: DecisionTable) -> LogColumns:
        """The columns of a table, refused where their lengths differ."""
        n, n_actions = len(table), table.n_actions
        eligible = np.asarray(table.eligible).astype(np.bool_)
        columns = LogColumns(
            table=table,
            rows=np.asarray(table.rows, dtype=np.int64),
            action=_positions(table.action, n_actions),
            reward=numbers(table.reward),
            propensity=numbers(table.propensity),
            distribution=_distribution(table.distribution, eligible),
            eligible=eligible,
            shared=numbers(table.contexts.shared).reshape(n, -1) if n else np.zeros((0, 0)),
            cube=None if table.contexts.actions is None else numbers(table.contexts.actions),
            time=_optional(table.time, numbers),
            reward_time=_optional(table.reward_time, numbers),
            epoch=_optional(table.epoch, numbers),
            round=_optional(table.round, numbers),
            passive=_optional(table.passive, flags),
        )
        columns._check_lengths()
        return columns

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def n_eligible(self) -> Ints:
        """Number of eligible actions in each row, (n,)."""
        return np.asarray(self.eligible.sum(axis=1))

    @property
    def has_outcome(self) -> Bools:
        """Which rows have a reward, (n,)."""
        return ~np.isnan(self.reward)

    @property
    def model_codes(self) -> Ints:
        """A number for each policy's content hash, (n,); -1 where it is unknown."""
        if self.table.model is None:
            return np.full(len(self), -1, dtype=np.int64)
        texts = np.asarray(self.table.model, dtype=object).tolist()
        codes: dict[object, int] = {None: -1}
        return np.fromiter((codes.setdefault(text, len(codes)) for text in texts), np.int64, len(texts))

    def label(self, action: int) -> str:
        """The label of an action in messages."""
        return repr(self.table.actions[action])

    def feature_name(self, place: int) -> str:
        """The name of a shared feature in messages."""
        names = self.table.features
        return repr(names[place]) if place < len(names) else f"number {place}"

    def take(self, rows: ArrayLike) -> LogColumns:
        """The columns of the rows where a mask is true."""
        mask = np.asarray(rows, dtype=np.bool_)
        return self if mask.all() else LogColumns.of(self.table.take(mask))

    def take_without_features(self, rows: ArrayLike) -> LogColumns:
        """The columns of the rows where a mask is true, but for features, which take most of the memory."""
        mask = np.asarray(rows, dtype=np.bool_)
        if mask.all():
            return self
        contexts = Contexts(np.zeros((len(self), 0)), None, self.table.contexts.eligible)
        table = replace(self.table, contexts=contexts, features=(), action_features=())
        return LogColumns.of(table.take(mask))

    def thinned(self, most: int) -> tuple[LogColumns, int]:
        """Every k-th row, so that there are few enough for tests of all features, and k."""
        step = -(-len(self) // most) if len(self) > most else 1
        return (self if step == 1 else LogColumns.of(self.table.take(slice(None, None, step)))), step

    def fault(
        self,
        kind: str,
        rows: ArrayLike,
        text: str | Callable[[int], str],
        remedy: str,
        *,
        severity: Severity = "error",
        sets_aside: bool | None = None,
        **details: Any,
    ) -> list[LogFinding]:
        """A finding on these rows by position, where there are any; `text` describes the first of them."""
        marks = np.asarray(rows)
        places = np.flatnonzero(marks) if marks.dtype == np.bool_ else marks.astype(np.int64)
        if not len(places):
            return []
        if isinstance(text, str):
            clause = text
        else:
            clause = f"{'' if len(places) == 1 else 'in the first, '}{text(int(places[0]))}"
        return [
            LogFinding(
                kind=kind,
                severity=severity,
                message=f"{row_names(self.rows[places])}: {clause}",
                remedy=remedy,
                rows=places,
                sets_aside=severity == "error" if sets_aside is None else sets_aside,
                details=details,
            )
        ]

    def _check_lengths(self) -> None:
        n = len(self.rows)
        for name in ("action", "reward", "propensity", "distribution", "eligible", "shared", "cube", "time"):
            column = getattr(self, name)
            if column is not None and len(column) != n:
                raise ValueError(
                    f"the column {name} has {len(column)} rows and the log {n}; give one entry for each row."
                )


def numbers(values: ArrayLike) -> Floats:
    """Values as floats, nan where one is no number; dates are seconds since 1970.

    >>> numbers(np.array([1, None, "0.5", "half"], dtype=object)).tolist()
    [1.0, nan, 0.5, nan]
    """
    column = np.asarray(values)
    if column.dtype.kind in "biuf":
        return np.asarray(column, dtype=np.float64)
    if column.dtype.kind == "M":
        nanoseconds = column.astype("datetime64[ns]").astype(np.int64)
        return np.where(np.isnat(column), np.nan, nanoseconds / 1e9)
    flat = [_number(value) for value in column.ravel().tolist()]
    return np.array(flat, dtype=np.float64).reshape(column.shape)


def flags(values: ArrayLike) -> Bools:
    """Values as booleans: what is missing, or text that says no, is false.

    >>> flags(np.array([True, None, 1, "true", "no"], dtype=object)).tolist()
    [True, False, True, True, False]
    """
    column = np.asarray(values)
    if column.dtype.kind == "b":
        return column.astype(np.bool_)
    if column.dtype.kind in "iuf":
        return np.asarray((column != 0) & ~np.isnan(column))
    texts = (str(value).strip().lower() for value in column.tolist())
    return np.fromiter((text in {"true", "1", "1.0", "yes"} for text in texts), np.bool_, len(column))


def scaled(values: Floats) -> Floats:
    """Values over the largest finite absolute one, so that sums and squares neither overflow nor vanish."""
    largest = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
    return values / largest if largest > 0.0 else values


def _number(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return np.nan


def _optional(values: Any, convert: Callable[[ArrayLike], Any]) -> Any:
    return None if values is None else convert(values)


def _positions(values: ArrayLike, n_actions: int) -> Ints:
    chosen = numbers(values)
    with np.errstate(invalid="ignore"):
        valid = (chosen >= 0) & (chosen < n_actions) & (chosen == np.floor(chosen))
    return np.where(valid, chosen, UNKNOWN_ACTION).astype(np.int64)


def _distribution(values: ArrayLike | None, eligible: Bools) -> Floats | None:
    """Probabilities with 0 for ineligible actions without a number, where the row has any number."""
    if values is None:
        return None
    table = numbers(values)
    missing = np.isnan(table)
    if table.shape != eligible.shape or not missing.any():
        return table
    filled = missing & ~eligible & ~missing.all(axis=1, keepdims=True)
    return np.where(filled, 0.0, table)

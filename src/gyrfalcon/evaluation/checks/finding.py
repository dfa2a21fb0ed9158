"""A fault that a check has found in a log: what it is, in which rows, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gyrfalcon.core.arrays import Ints

Severity = Literal["error", "warning"]

_SHOWN = 5


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class LogFinding:
    """A fault of a log, or a reason to doubt it.

    Parameters
    ----------
    kind
        Name of the fault in snake_case, such as "propensity_zero".
    severity
        "error": what is computed from these rows is wrong. "warning": it may be.
    message
        What is wrong, as one clause that starts with the rows or with what was compared.
    remedy
        What to do about the fault.
    rows
        Numbers of the rows in the log's source, ascending. A statistical finding has all rows that it rests
        on.
    sets_aside
        Whether the rows are set aside, because nothing can be computed from them.
    details
        Numbers behind the finding by name, such as "p_value".
    """

    kind: str
    severity: Severity
    message: str
    remedy: str
    rows: Ints
    sets_aside: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of rows that the finding is about."""
        return len(self.rows)

    def __repr__(self) -> str:
        return f"LogFinding({self.kind}, {self.severity}, {self.n_rows} row{'' if self.n_rows == 1 else 's'})"

    def __str__(self) -> str:
        return f"{self.message}; {self.remedy}."

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values, with the count of rows."""
        return {
            "kind": self.kind,
            "severity": self.severity,
            "message": self.message,
            "remedy": self.remedy,
            "n_rows": self.n_rows,
            "rows": self.rows.tolist(),
            "sets_aside": self.sets_aside,
            "details": dict(self.details),
        }


def row_names(rows: Ints) -> str:
    """Row numbers in words, the first few by number.

    >>> import numpy as np
    >>> row_names(np.array([3])), row_names(np.array([3, 8])), row_names(np.arange(10, 22))
    ('row 3', 'rows 3 and 8', 'rows 10 to 21')
    >>> row_names(np.arange(0, 20, 2))
    'rows 0, 2, 4, 6, 8 and 5 more'
    """
    if len(rows) > _SHOWN and rows[-1] - rows[0] + 1 == len(rows):
        return f"rows {rows[0]} to {rows[-1]}"
    shown = [str(row) for row in rows[:_SHOWN].tolist()]
    if len(rows) > _SHOWN:
        return f"rows {', '.join(shown)} and {len(rows) - _SHOWN:,} more"
    *first, last = shown
    return f"rows {', '.join(first)} and {last}" if first else f"row {last}"


def stretch_name(rows: Ints) -> str:
    """First and last of many row numbers in words.

    >>> import numpy as np
    >>> stretch_name(np.array([100, 101, 102]))
    'rows 100 to 102'
    """
    return f"row {rows[0]}" if len(rows) == 1 else f"rows {rows.min()} to {rows.max()}"

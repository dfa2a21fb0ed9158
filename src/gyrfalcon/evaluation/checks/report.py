"""Report of a check: all findings, what could not be tested, and the rows that remain usable."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Bools
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.json_values import json_value
from gyrfalcon.evaluation.checks.finding import LogFinding

_WIDTH = 100


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class LogCheck:
    """Outcome of the checks of a log; `passed` says whether there is no error.

    Parameters
    ----------
    findings
        What was found, errors first.
    usable
        Which rows of the table can be computed with, (n,).
    skipped
        What could not be tested, and why.
    alpha
        Probability of a statistical finding in a log without faults, at most.
    source
        What the log is called.
    """

    findings: tuple[LogFinding, ...]
    usable: Bools
    skipped: tuple[str, ...]
    alpha: float
    source: str = ""

    @property
    def passed(self) -> bool:
        """Whether there is no error; warnings may be there."""
        return not self.errors

    @property
    def errors(self) -> tuple[LogFinding, ...]:
        """Findings that make results wrong."""
        return tuple(one for one in self.findings if one.severity == "error")

    @property
    def warnings(self) -> tuple[LogFinding, ...]:
        """Findings that may make results wrong."""
        return tuple(one for one in self.findings if one.severity == "warning")

    @property
    def summary(self) -> str:
        """Whether the log passed, and how much was found, in one line."""
        state = "passed" if self.passed else "FAILED"
        where = f" of {self.source}" if self.source else ""
        return (
            f"{state}: {_counted(self.n_rows, 'row')}{where}, {_counted(len(self.errors), 'error')}, "
            f"{_counted(len(self.warnings), 'warning')}, {_counted(self.n_set_aside, 'row')} set aside"
        )

    @property
    def n_rows(self) -> int:
        """Number of rows that were checked."""
        return len(self.usable)

    @property
    def n_set_aside(self) -> int:
        """Number of rows that can't be computed with."""
        return int((~self.usable).sum())

    def of_kind(self, kind: str) -> tuple[LogFinding, ...]:
        """The findings of one kind.

        Parameters
        ----------
        kind
            Name of the fault, such as "propensity_zero".
        """
        return tuple(one for one in self.findings if one.kind == kind)

    def set_aside(self, table: DecisionTable) -> tuple[DecisionTable, DecisionTable]:
        """The usable rows of the table that was checked, and the others, which keep their row numbers.

        Parameters
        ----------
        table
            The table that was checked.

        Raises
        ------
        ValueError
            If the table has another number of rows.
        """
        if len(table) != self.n_rows:
            raise ValueError(
                f"the table has {len(table)} rows and {self.n_rows} were checked; give "
                "the table that was checked."
            )
        return table.take(self.usable), table.take(~self.usable)

    def faults_of(self, rows: Iterable[int]) -> list[tuple[str, ...]]:
        """The kinds of faults for which each of these rows was set aside.

        Parameters
        ----------
        rows
            Row numbers in the log's source.
        """
        kinds: dict[int, list[str]] = {}
        for one in self.findings:
            for row in one.rows.tolist() if one.sets_aside else ():
                kinds.setdefault(row, []).append(one.kind)
        return [tuple(kinds.get(int(row), ())) for row in rows]

    def __repr__(self) -> str:
        counts = f"{_counted(len(self.errors), 'error')}, {_counted(len(self.warnings), 'warning')}"
        state = "passed" if self.passed else "failed"
        return f"LogCheck({self.n_rows} rows, {counts}, {self.n_set_aside} set aside; {state})"

    def __str__(self) -> str:
        lines = [self.summary]
        for one in self.findings:
            lines += ["", f"{one.severity:<8} {one.kind} ({_counted(one.n_rows, 'row')})"]
            lines += _indented(f"{one.message}.")
            lines += _indented(f"{one.remedy[:1].upper()}{one.remedy[1:]}.")
        if self.skipped:
            lines += ["", "not tested", *(line for text in self.skipped for line in _indented(text))]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values, for JSON."""
        return {
            "passed": self.passed,
            "source": self.source,
            "n_rows": self.n_rows,
            "n_errors": len(self.errors),
            "n_warnings": len(self.warnings),
            "n_set_aside": self.n_set_aside,
            "alpha": self.alpha,
            "findings": [one.to_dict() for one in self.findings],
            "skipped": list(self.skipped),
        }

    def to_json(self) -> str:
        """The report as one JSON object, with all row numbers; what is not finite is null."""
        return json.dumps(json_value(self.to_dict()), ensure_ascii=False, allow_nan=False)


def usable_rows(n_rows: int, findings: Iterable[LogFinding]) -> Bools:
    """Rows that no finding sets aside, where findings have rows by position, (n,)."""
    usable = np.ones(n_rows, dtype=np.bool_)
    for one in findings:
        if one.sets_aside:
            usable[one.rows] = False
    return usable


def _indented(text: str) -> list[str]:
    return wrap(
        text,
        _WIDTH,
        initial_indent="  ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"

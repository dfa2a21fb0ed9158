"""A check of a log as a part of a page: its faults with row numbers and remedies, and what was not tested."""

from __future__ import annotations

from gyrfalcon.evaluation.checks.report import LogCheck
from gyrfalcon.reports.page import Cell, Mark, Section, Table, literal


def log_check_section(check: LogCheck, *, title: str = "Faults of the log") -> Section:
    """A section of a page on the faults of a log.

    Parameters
    ----------
    check
        What `check_log` has found.
    title
        Heading of the section.
    """
    rows: list[list[Cell]] = [
        [
            Mark(one.severity, False if one.severity == "error" else None),
            one.kind,
            one.n_rows,
            literal(f"{_sentence(one.message)} {_sentence(one.remedy)}"),
        ]
        for one in check.findings
    ]
    skipped = f"Not tested: {' '.join(check.skipped)}" if check.skipped else ""
    return Section(
        title,
        [text for text in (f"{check.summary}.", literal(skipped)) if text],
        table=Table(["severity", "fault", "rows", "what is wrong, and what to do"], rows) if rows else None,
    )


def fault_sentence(check: LogCheck) -> str:
    """What the lead of a page says of faults, after a space; empty where there is no error.

    >>> import numpy as np
    >>> fault_sentence(LogCheck(findings=(), usable=np.ones(2, np.bool_), skipped=(), alpha=0.01))
    ''
    """
    n = len(check.errors)
    if not n:
        return ""
    return f" <b>The log has {'an error' if n == 1 else f'{n} errors'}</b>: see its faults before you decide."


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."

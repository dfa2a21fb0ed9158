"""Faults of events: ids that are missing, and decisions that are in the log more than once."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.evaluation.checks.columns import LogColumns
from gyrfalcon.evaluation.checks.finding import LogFinding

_REMEDY = "keep one row for each event; where a log was joined, look for a key that is not unique"


def event_faults(log: LogColumns) -> list[LogFinding]:
    """Events without an id, and ids with several rows: equal ones, or ones that contradict each other."""
    ids = log.table.event_id
    if ids is None or not len(log):
        return []
    texts = np.asarray(ids, dtype=object).tolist()
    missing = np.fromiter(map(_is_missing, texts), np.bool_, len(texts))
    found = log.fault(
        "event_id_missing",
        missing,
        "the event has no id, so that no outcome can be joined to it",
        "give the id under which the decision was made",
    )
    if len(set(texts)) == len(texts):
        return found
    return [*found, *_several(log, texts, missing)]


def repeated_rows(log: LogColumns) -> list[LogFinding]:
    """Rows that equal an earlier one in context, action, propensity, reward and time, where few rows do."""
    if len(log) < 20 or not (log.shared.shape[1] or log.time is not None):
        return []
    codes = _content(log)
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    again = first[inverse] != np.arange(len(log))
    # Contexts of few values repeat by themselves.
    if not again.any() or again.mean() > 0.02 or not _is_unlikely(log, again):
        return []
    return log.fault(
        "row_repeated",
        again,
        lambda row: f"the row equals row {log.rows[first[inverse[row]]]} in all but its event id",
        _REMEDY,
        severity="warning",
    )


def _is_unlikely(log: LogColumns, again: Bools) -> bool:
    """Whether contexts alone nearly tell rows apart, so that equal ones are copies."""
    contexts = _mixed([*log.shared.T, *([] if log.time is None else [log.time])])
    n_contexts = len(np.unique(contexts[~again]))
    return n_contexts >= 0.99 * int((~again).sum())


def _several(log: LogColumns, texts: list[Any], missing: Bools) -> list[LogFinding]:
    first: dict[Any, int] = {}
    origin = np.fromiter(
        (first.setdefault(text, row) for row, text in enumerate(texts)), np.int64, len(texts)
    )
    later = (origin != np.arange(len(texts))) & ~missing
    codes = _content(log)
    differs = later & (codes != codes[origin])
    conflicting = np.zeros(len(log), np.bool_)
    conflicting[origin[differs]] = True  # the first row of each id that has a different one
    conflicting = conflicting[origin] & ~missing
    return [
        *log.fault(
            "event_repeated",
            later & ~conflicting,
            lambda row: f"the event {texts[row]!r} is there again, as in row {log.rows[origin[row]]}",
            _REMEDY,
        ),
        *log.fault(
            "event_conflicting",
            conflicting,
            lambda row: f"the event {texts[row]!r} has several rows that differ",
            "find out which row is right, and keep that one",
        ),
    ]


def _content(log: LogColumns) -> Ints:
    """A code of what each row says, (n,): rows with the same code are equal."""
    columns: list[Floats] = [log.action.astype(np.float64), log.reward, log.propensity, *log.shared.T]
    columns += [column for column in (log.time, log.epoch) if column is not None]
    if log.distribution is not None:
        columns += list(log.distribution.T)
    if log.cube is not None:
        columns += list(log.cube.reshape(len(log), -1).T)
    return _mixed(columns)


def _mixed(columns: list[Floats]) -> Ints:
    """Hashes of rows: 64 bits of every number, mixed by multiplication with odd constants."""
    code = np.zeros(len(columns[0]) if columns else 0, dtype=np.uint64)
    for column in columns:
        bits = np.where(np.isnan(column), np.nan, column + 0.0).view(np.uint64)
        code = (code ^ bits) * np.uint64(0x9E3779B97F4A7C15)
        code ^= code >> np.uint64(29)
    return code.view(np.int64)


def _is_missing(text: object) -> bool:
    return text is None or text != text or (isinstance(text, str) and not text.strip())  # noqa: PLR0124 - nan

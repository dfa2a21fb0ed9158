"""Faults of features: missing, infinite and far values, and features that never change."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.evaluation.checks.columns import LogColumns
from gyrfalcon.evaluation.checks.finding import LogFinding
from gyrfalcon.evaluation.checks.single_rows.far_values import beyond_a_gap

_OFTEN = 0.05
"""Share of rows from which on missing values of a feature are no accident, and no row is set aside for it."""

_FAR = 0.2
"""Share of values up to which those beyond a gap are taken for another unit, and not for a kind of rows."""

_CONSTANTS = frozenset({"1", "const", "constant", "intercept", "bias", "one", "ones"})
_LAST_PART = re.compile(r"""['"]?(?:.*\.)?([^.]*?)['"]?(?: of actions)?""")
_MAY_STAY_EMPTY = re.compile(r".+(:missing|=other|#\d+)(?:' of actions)?")
"""Encoded columns that no row may need: indicators of missing and of unlisted values, and hash buckets."""


def feature_faults(log: LogColumns) -> list[LogFinding]:
    """Features without a finite value, and constant ones."""
    found: list[LogFinding] = []
    missing = np.zeros(len(log), np.bool_)
    infinite = np.zeros(len(log), np.bool_)
    where: dict[str, list[str]] = {"missing": [], "infinite": []}
    for name, values, counts in _features(log):
        absent = counts & np.isnan(values)
        endless = counts & np.isinf(values)
        rows = _any(absent)
        if rows.sum() > max(1.0, _OFTEN * len(log)):
            found += _often_missing(log, name, rows)
        elif rows.any():
            missing |= rows
            where["missing"].append(name)
        if endless.any():
            infinite |= _any(endless)
            where["infinite"].append(name)
        found += _constant(log, name, values[counts])
        found += _far(log, name, np.where(counts, values, np.nan))
    remedy = "give a finite number, or encode what is missing as a feature of its own"
    names = {fault: ", ".join(features[:5]) for fault, features in where.items()}
    return [
        *log.fault(
            "feature_missing", missing, f"there is no value of the feature {names['missing']}", remedy
        ),
        *log.fault("feature_infinite", infinite, f"the feature {names['infinite']} is infinite", remedy),
        *found,
    ]


def _features(log: LogColumns) -> Iterator[tuple[str, Floats, Bools]]:
    """Name and values of every feature, (n,) or (n, K), and which of these matter."""
    every = np.ones(len(log), np.bool_)
    for place in range(log.shared.shape[1]):
        yield log.feature_name(place), log.shared[:, place], every
    if log.cube is not None:
        names = log.table.action_features
        for place in range(log.cube.shape[2]):
            name = names[place] if place < len(names) else str(place)
            yield f"{name!r} of actions", log.cube[:, :, place], log.eligible


def _any(cells: Bools) -> Bools:
    return cells if cells.ndim == 1 else np.asarray(cells.any(axis=1))


def _often_missing(log: LogColumns, name: str, rows: Bools) -> list[LogFinding]:
    return log.fault(
        "feature_often_missing",
        rows,
        f"the feature {name} has no value in {rows.mean():.0%} of the rows",
        "encode missing values as a number and a flag, as Numeric and Schema do, before a model is fitted",
        severity="warning",
    )


def _far(log: LogColumns, name: str, values: Floats) -> list[LogFinding]:
    """Values beyond all others, such as -999 or 1e6 for what is unknown."""
    size = np.abs(values)
    cells = np.isfinite(size) & (size > 0.0)
    if len(log) < 100 or cells.sum() < 100:
        return []
    scale = np.log10(size[cells])
    beyond = beyond_a_gap(scale)
    if not beyond.any() or beyond.mean() > _FAR:
        return []
    found = np.zeros(cells.shape, np.bool_)
    found[cells] = beyond
    factor = 10.0 ** (np.median(scale[beyond]) - np.median(scale[~beyond]))
    return log.fault(
        "feature_far",
        _any(found),
        f"values of the feature {name} are about {factor:.3g} times as large as in other rows",
        "bring all values to one unit, and encode what is unknown as missing, not as a number",
        severity="warning",
        factor=float(factor),
    )


def _constant(log: LogColumns, name: str, values: Floats) -> list[LogFinding]:
    known, column = values[np.isfinite(values)], name.strip("'").lower()
    found = _LAST_PART.fullmatch(column)  # Vowpal Wabbit's are called i.constant
    if len(log) < 20 or not len(known) or known.min() < known.max():
        return []
    if found is not None and found[1] in _CONSTANTS:
        return []
    if known[0] == 0.0 and _MAY_STAY_EMPTY.fullmatch(column):
        return []
    return log.fault(
        "feature_constant",
        np.ones(len(log), np.bool_),
        f"the feature {name} is {known[0]:.6g} in every row",
        "leave it out, or find out why it was not recorded",
        severity="warning",
    )

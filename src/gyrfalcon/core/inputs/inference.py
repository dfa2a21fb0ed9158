"""Inference of features from an example: which names it has, and what kind of column each one is."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gyrfalcon.core.inputs.columns import Boolean, Column, Hashed, Numeric, cell
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.core.inputs.tables import by_row, is_missing, listed, read, row_of


def inferred_columns(example: object) -> tuple[tuple[str, Column], ...]:
    """Names and columns of one context or of a table of several; x0, x1, ... where it has no names."""
    table = read(example if _is_table(example) else [row_of(example)])
    names = table.names or tuple(f"x{position}" for position in range(len(table.columns)))
    columns = [listed(values) for values in table.columns]
    return tuple(zip(map(str, names), map(_inferred, names, columns), strict=True))


def _is_table(example: object) -> bool:
    if isinstance(example, Mapping):
        return any(not isinstance(value, str) and hasattr(value, "__len__") for value in example.values())
    if isinstance(example, list | tuple):
        return any(isinstance(row, Mapping | list | tuple | np.ndarray) for row in example)
    return len(getattr(example, "shape", ())) == 2


def _inferred(name: object, values: list[object]) -> Column:
    present = [value for value in values if not is_missing(value)]
    missing = len(present) < len(values)
    if not present:
        raise ValueError(f"feature {short_repr(name)} has no value to infer its kind from; declare it.")
    if all(isinstance(value, bool | np.bool_) for value in present):
        return Boolean(missing)
    column = Hashed(missing=missing) if any(isinstance(value, str) for value in present) else Numeric(missing)
    by_row(lambda value: cell(column, value), present, f", feature {short_repr(name)}")
    return column

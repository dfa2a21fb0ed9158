"""Tables behind figures: made of arrays, read as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gyrfalcon.core.types import Floats
from gyrfalcon.experiments.paper.exhibit import Columns


def table_of(**columns: Iterable[Any]) -> Columns:
    """A table of plain numbers and words.

    >>> table_of(x=np.array([1.0, 2.0]), name=["a", "b"])
    {'x': [1.0, 2.0], 'name': ['a', 'b']}
    """
    lists = {name: np.asarray(column).tolist() for name, column in columns.items()}
    if len({len(column) for column in lists.values()}) > 1:
        raise ValueError(
            f"columns have {[len(c) for c in lists.values()]} entries; give all the same number."
        )
    return lists


def row_of(**values: float | int | str) -> Columns:
    """A table of one row.

    >>> row_of(b=0.5)
    {'b': [0.5]}
    """
    return table_of(**{name: [value] for name, value in values.items()})


def numbers(columns: Columns, name: str) -> Floats:
    """A column as an array.

    >>> numbers({"x": [1, 2]}, "x").tolist()
    [1.0, 2.0]
    """
    return np.array(columns[name], dtype=np.float64)


def only(columns: Columns) -> dict[str, float]:
    """The numbers of a table's first row by name.

    >>> only({"b": [0.5], "learner": ["LinUCB"]})
    {'b': 0.5}
    """
    return {name: column[0] for name, column in columns.items() if not isinstance(column[0], str)}


def where(columns: Columns, name: str, value: float | int | str) -> Columns:
    """The rows in which a column has this value.

    >>> where({"epoch": [1, 2], "n": [10, 20]}, "epoch", 2)
    {'epoch': [2], 'n': [20]}
    """
    keep = [row for row, entry in enumerate(columns[name]) if entry == value]
    return {other: [column[row] for row in keep] for other, column in columns.items()}

"""Tables behind figures: made of arrays or rows, read as arrays or entry by entry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon_paper.exhibits.exhibit import Columns


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


def table_of_rows(rows: Iterable[Mapping[str, Any]]) -> Columns:
    """A table of at least one row; all rows have the names of the first.

    >>> table_of_rows([{"n": 1, "name": "a"}, {"n": 2, "name": "b"}])
    {'n': [1, 2], 'name': ['a', 'b']}
    """
    listed = list(rows)
    return table_of(**{name: [row[name] for row in listed] for name in listed[0]})


def stacked(parts: Sequence[Columns]) -> Columns:
    """Tables with the same columns, one under the other.

    >>> stacked([{"n": [1]}, {"n": [2, 3]}])
    {'n': [1, 2, 3]}
    """
    return {name: [value for part in parts for value in part[name]] for name in parts[0]}


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


def at_least(columns: Columns, name: str, least: float) -> Columns:
    """The rows in which a column of numbers is no smaller than this.

    >>> at_least({"n": [1, 2, 3], "name": ["a", "b", "c"]}, "n", 2)
    {'n': [2, 3], 'name': ['b', 'c']}
    """
    keep = np.flatnonzero(numbers(columns, name) >= least)
    return {other: [column[row] for row in keep] for other, column in columns.items()}


def matching(columns: Columns, /, **equal: float | int | str) -> Columns:
    """The rows in which each of these columns has its value.

    >>> matching({"n": [1, 1, 2], "name": ["a", "b", "b"]}, n=1, name="b")
    {'n': [1], 'name': ['b']}
    """
    for name, value in equal.items():
        columns = where(columns, name, value)
    return columns


def entry(columns: Columns, name: str, /, **equal: float | int | str) -> float:
    """The number of a column in the only row that matches.

    >>> entry({"n": [1, 2], "name": ["a", "b"]}, "n", name="b")
    2.0
    """
    (found,) = matching(columns, **equal)[name]
    return float(found)


def distinct(columns: Columns, name: str) -> list[Any]:
    """The different values of a column, in the order in which they come.

    >>> distinct({"name": ["b", "a", "b"]}, "name")
    ['b', 'a']
    """
    return list(dict.fromkeys(columns[name]))

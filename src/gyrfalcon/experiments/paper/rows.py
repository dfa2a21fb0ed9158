"""Tables made of rows, and entries found by what else stands in their row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gyrfalcon.experiments.paper.exhibit import Columns
from gyrfalcon.experiments.paper.tabular import table_of, where


def table_of_rows(rows: Iterable[Mapping[str, Any]]) -> Columns:
    """A table of at least one row; all rows have the names of the first.

    >>> table_of_rows([{"n": 1, "name": "a"}, {"n": 2, "name": "b"}])
    {'n': [1, 2], 'name': ['a', 'b']}
    """
    listed = list(rows)
    return table_of(**{name: [row[name] for row in listed] for name in listed[0]})


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

"""Tables of pandas, Polars or Arrow, and anything else with named columns, as tables of decisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.inputs.tables import Table, Values, read, values_of
from gyrfalcon.logs.formats.chunks import Chunk
from gyrfalcon.logs.formats.mapped.layout import LayoutBuilder
from gyrfalcon.logs.formats.mapped.mapping import ColumnMapping
from gyrfalcon.logs.formats.mapped.tables import table_of_chunk


def table_from_frame(frame: object, mapping: object = None, *, source: str = "") -> DecisionTable:
    """The decisions in a pandas, Polars or Arrow table, or in a mapping of columns.

    `DecisionTable.to_pandas`, `DecisionTable.to_polars` and `DecisionTable.to_arrow` are the way back.

    Parameters
    ----------
    frame
        The table, with a row for each decision.
    mapping
        Which column holds what: a `ColumnMapping`, or a dict of its fields such as in the example. None takes
        columns by the names that `DecisionTable.to_pandas` gives them.
    source
        What the table is called in messages.

    Returns
    -------
    DecisionTable
        Its decisions in the order of the rows.

    Raises
    ------
    ValueError
        If a column is missing or holds what it can't, with the number of the row.

    Examples
    --------
    >>> columns = {"banner": ["a", "b"], "click": [0, 1], "p": [0.5, 0.5], "age": [31, 44]}
    >>> names = {"action": "banner", "reward": "click", "propensity": "p", "features": ["age"]}
    >>> table_from_frame(columns, names)
    DecisionTable(2 decisions, 2 actions, 1 features, mean reward 0.5)
    """
    table = _named(frame)
    columns = dict(zip(map(str, table.names or ()), table.columns, strict=True))
    roles = ColumnMapping.of(mapping, columns).columns_by_role()
    lists = {roles.get(role) for role in ("eligible", "distribution", "action_features")}
    for name, values in columns.items():
        # NumPy's own text drops zeros at the end.
        if name in lists or (isinstance(values, np.ndarray) and values.dtype.kind == "U"):
            columns[name] = _plain(frame, name)
    chunk = Chunk(columns, np.arange(table.n), source)
    builder = LayoutBuilder(mapping)
    builder.add(chunk)
    return table_of_chunk(chunk, builder.finish())


def _plain(frame: Any, name: str) -> Values:
    """A column as plain Python values: arrays of lists would lose the names in structs."""
    column = frame[name]
    for method in ("to_pylist", "to_list"):
        if hasattr(column, method):
            plain: list[object] = getattr(column, method)()
            return plain
    return values_of(column)


def _named(frame: object) -> Table:
    if isinstance(frame, Mapping) and not frame:
        raise ValueError("the table has no columns; give at least one with the actions taken.")
    table = read(frame)
    if table.names is None:
        raise ValueError("the table has no names of columns; give a frame or a mapping of columns.")
    return table

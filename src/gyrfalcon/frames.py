"""Tables for other libraries: named columns as pandas, Polars or Arrow tables, all three alike.

A column is a NumPy array of numbers, booleans or text, or `Lists` with a list in each row. Text is an array
of objects, because NumPy's own text drops zeros at the end. What is missing is nan here and in pandas, and
null in Polars and Arrow.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Values: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Lists:
    """Column with a list in each row: all elements one after the other, and the length of each list.

    Parameters
    ----------
    elements
        The elements as one array, or the fields of structs by name.
    lengths
        Number of elements in each row.

    Examples
    --------
    >>> Lists({"price": np.array([1.0, 2.0, 3.0])}, np.array([2, 0, 1])).rows()
    [[{'price': 1.0}, {'price': 2.0}], [], [{'price': 3.0}]]
    """

    elements: Values | Mapping[str, Values]
    lengths: npt.NDArray[np.int64]

    @property
    def offsets(self) -> npt.NDArray[np.int64]:
        """Where each list starts, and where the last one ends."""
        return np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)

    def rows(self) -> list[list[Any]]:
        """The lists as plain Python values."""
        if isinstance(self.elements, Mapping):
            fields = (values.tolist() for values in self.elements.values())
            flat = [dict(zip(self.elements, row, strict=True)) for row in zip(*fields, strict=True)]
        else:
            flat = self.elements.tolist()
        ends = self.offsets.tolist()
        return [flat[start:stop] for start, stop in pairwise(ends)]


Column: TypeAlias = Values | Lists
_ROW = "\0row"
"""A name that no column has."""


class Tabular:
    """What has named columns, and becomes a table of pandas, Polars or Arrow."""

    __slots__ = ()

    @abstractmethod
    def columns(self) -> Mapping[str, Column]:
        """Columns by name, all of the same length."""

    def to_pandas(self) -> pd.DataFrame:
        """The columns as a pandas data frame; lists are Python lists, and what is missing is nan.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        try:
            import pandas as pd
        except ModuleNotFoundError as error:
            raise _not_installed(error, "to_pandas", "pandas", "pandas") from None
        return pd.DataFrame(
            {
                name: _objects(column.rows()) if isinstance(column, Lists) else column
                for name, column in self.columns().items()
            }
        )

    def to_polars(self) -> pl.DataFrame:
        """The columns as a Polars data frame; what is missing is null.

        Raises
        ------
        ImportError
            If Polars is not installed.
        """
        try:
            import polars as pl
        except ModuleNotFoundError as error:
            raise _not_installed(error, "to_polars", "polars", "polars") from None
        return pl.DataFrame([_series(name, column) for name, column in self.columns().items()])

    def to_arrow(self) -> pa.Table:
        """The columns as an Arrow table; what is missing is null.

        Raises
        ------
        ImportError
            If PyArrow is not installed.
        """
        try:
            import pyarrow as pa
        except ModuleNotFoundError as error:
            raise _not_installed(error, "to_arrow", "pyarrow", "arrow") from None
        return pa.table({name: _arrow(column) for name, column in self.columns().items()})


def label_column(labels: Sequence[Hashable]) -> Values:
    """Labels of actions as a column: of text, whole numbers, numbers or booleans if all are, or else as text.

    >>> label_column(["a", "b"]), label_column([1, 2]), label_column([("a", 1), None])
    (array(['a', 'b'], dtype=object), array([1, 2]), array(["('a', 1)", 'None'], dtype=object))
    """
    kinds: tuple[tuple[Any, type], ...] = (
        (bool | np.bool_, np.bool_),
        (int | np.integer, np.int64),
        (float | np.floating, np.float64),
    )
    is_bool = [isinstance(label, bool | np.bool_) for label in labels]
    for kind, dtype in kinds:
        # A boolean is a whole number to Python, but not beside whole numbers in a column.
        alike = all(is_bool) if dtype is np.bool_ else not any(is_bool)
        if labels and alike and all(isinstance(label, kind) for label in labels):
            try:
                return np.array(labels, dtype=dtype)
            except OverflowError:  # beyond 64 bits
                break
    texts = [_text(label) for label in labels]
    unique = len(set(texts)) == len(set(labels))
    return text_column(texts if unique else [repr(label) for label in labels])


def text_column(texts: Sequence[str | None]) -> Values:
    """Texts as a column; None is missing."""
    return _objects([None if text is None else _text(text) for text in texts])


def phase_column(passive: npt.NDArray[np.bool_], control: npt.NDArray[np.bool_] | None = None) -> Values:
    """The phase of each decision: "passive" where actions were drawn uniformly, "control", or "policy"."""
    numbers = passive.astype(np.int64)
    return text_column(["policy", "passive", "control"])[
        numbers if control is None else np.where(control, 2, numbers)
    ]


def _text(label: object) -> str:
    """A label as plain text, also where it is NumPy's or an Enum's."""
    return str.__str__(label) if isinstance(label, str) else str(label)


def _objects(values: Sequence[object]) -> Values:
    return np.fromiter(values, dtype=object, count=len(values))


def _is_text(values: Values) -> bool:
    """Whether an array of objects holds text, and not labels of another kind of which some are missing."""
    return all(value is None or isinstance(value, str) for value in values)


def _series(name: str, column: Column) -> pl.Series:
    import polars as pl

    if isinstance(column, Lists):
        return _list_series(name, column)
    if column.dtype == object:
        return pl.Series(name, column.tolist(), dtype=pl.String if _is_text(column) else None)
    return pl.Series(name, np.ascontiguousarray(column), nan_to_null=True)


def _list_series(name: str, column: Lists) -> pl.Series:
    """Lists by grouping their elements: rows of Python values take Polars many times as long."""
    import polars as pl

    if isinstance(column.elements, Mapping):
        fields = [_series(key, values) for key, values in column.elements.items()]
        elements = pl.DataFrame(fields).to_struct(name)
    else:
        elements = _series(name, column.elements)
    rows = np.arange(len(column.lengths))
    flat = pl.DataFrame([pl.Series(_ROW, np.repeat(rows, column.lengths)), elements])
    lists = flat.group_by(_ROW, maintain_order=True).agg(pl.col(name))
    every = pl.DataFrame([pl.Series(_ROW, rows)]).join(lists, on=_ROW, how="left", maintain_order="left")
    return every[name].fill_null(pl.Series([[]], dtype=lists[name].dtype))


def _arrow(column: Column) -> Any:
    import pyarrow as pa

    if isinstance(column, Lists):
        if isinstance(column.elements, Mapping):
            fields = [_arrow(values) for values in column.elements.values()]
            elements = pa.StructArray.from_arrays(fields, list(column.elements))
        else:
            elements = _arrow(column.elements)
        return pa.ListArray.from_arrays(pa.array(column.offsets, pa.int32()), elements)
    if column.dtype == object:
        return pa.array(column, pa.string() if _is_text(column) else None)
    return pa.array(np.ascontiguousarray(column), from_pandas=True)


def _not_installed(error: ModuleNotFoundError, method: str, library: str, extra: str) -> ImportError:
    if error.name != library:
        return error  # it is installed, and lacks something itself
    return ImportError(f'{method} needs {library}; install it: pip install "gyrfalcon[{extra}]".')

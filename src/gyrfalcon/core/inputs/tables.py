"""Parsing of user tables: tables to columns, rows to values, values to floats.

Frames are recognised by what they can do (column names and access by name), so that pandas, Polars and Arrow
work without being imported. Error messages have no location: callers put it in front.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import hypot, isinf, nan
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.inputs.messages import short_repr

T = TypeVar("T")
Values: TypeAlias = NDArray[Any] | Sequence[object]

DENSE_LIMIT = 10_000_000
EXACT_INTEGERS = 2**53
# A Euclidean norm below this proves in one pass that no value is NaN, infinite or a rounded integer; half of
# the largest exact integer leaves room for the norm's own rounding.
SAFE_NORM = EXACT_INTEGERS / 2
_PLAIN_TYPES = frozenset({float, int, bool, np.float64, np.float32, np.int64, np.int32, np.bool_})
_MISSING_TYPES = ("NAType", "NaTType")
_INTEGERS = (int, np.integer)
_NOT_SELF_EQUAL = (float, np.generic)


@dataclass(frozen=True, slots=True)
class Table:
    """n rows as columns; `names` is None where columns are known by their position only.

    >>> read([{"age": 31, "member": True}, {"age": 44}])
    Table(n=2, columns=([31, 44], [True, None]), names=('age', 'member'))
    """

    n: int
    columns: tuple[Values, ...]
    names: tuple[object, ...] | None = None


def read(table: object, only: Collection[str] | None = None) -> Table:
    """The columns of anything table-like.

    By name: a mapping of columns, a list of row mappings, a structured array, a pandas, Polars or Arrow
    frame. By position: an array, a sparse matrix of at most `DENSE_LIMIT` cells, a list of row sequences, a
    frame whose columns have numbers for names. A 1-d array, a series or a flat list is one column. Of named
    columns, those in `only` are read: others may hold anything.
    """
    if hasattr(table, "toarray") and hasattr(table, "nnz"):
        return _from_array(_dense(table))
    if isinstance(table, Mapping):
        return _from_columns(table if only is None else {name: table[name] for name in table if name in only})
    if isinstance(table, list | tuple):
        return _from_rows(table)
    if not isinstance(table, np.ndarray) and (frame := _from_frame(table, only)) is not None:
        return frame
    if hasattr(table, "__array__") and not isinstance(table, np.generic):
        return _from_array(table)
    raise ValueError(
        f"{short_repr(table)} is not a table; give an array, a frame, a mapping of columns or a list of rows."
    )


def values_of(column: object) -> Values:
    """The values of one column, as an array or a list."""
    if isinstance(column, list | tuple | range):
        return column
    if isinstance(column, np.ndarray) or hasattr(column, "__array__"):
        array = _unmasked(column)
        if array.dtype.kind == "f" and _holds_integers(column):
            # Nulls made floats of the integers, and large ones were rounded.
            return list(getattr(column, "to_pylist" if hasattr(column, "to_pylist") else "to_list")())
        if array.ndim == 1:
            return array
    elif isinstance(column, Sequence) and not isinstance(column, str | bytes):
        return list(column)
    raise ValueError(
        f"{short_repr(column)} is not a column; give a list, a 1-d array or a series, even for one value."
    )


def listed(values: Values) -> list[object]:
    """The values as Python objects; dates stay NumPy scalars, which `tolist` would make integers."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "biufOUT":
        as_list: list[object] = values.tolist()
        return as_list
    return list(values)


def row_of(row: object) -> Mapping[object, object] | Sequence[object]:
    """One row as a mapping where it has names, otherwise as a sequence."""
    if isinstance(row, Mapping | list):
        return row
    if isinstance(row, tuple):
        named: Mapping[object, object] = row._asdict() if hasattr(row, "_asdict") else {}
        return named or row
    if hasattr(row, "to_dict") and hasattr(row, "index"):
        labelled: Mapping[object, object] = row.to_dict()
        return labelled if all(isinstance(name, str) for name in labelled) else list(labelled.values())
    if hasattr(row, "__array__") and not isinstance(row, np.generic):
        return listed(values_of(row))
    raise ValueError(f"{short_repr(row)} is not a row of features; give a mapping, a list or a 1-d array.")


def finite_floats(values: Values) -> Floats | None:
    """A new float64 array where all values are plain numbers of moderate size, otherwise None."""
    if isinstance(values, np.ndarray):
        if type(values) is not np.ndarray or values.dtype.kind not in "biuf" or values.dtype.itemsize > 8:
            return None
        floats = np.array(values, dtype=np.float64, order="C")
        flat = floats.reshape(-1)
        with np.errstate(over="ignore", invalid="ignore"):
            return floats if flat.dot(flat) < SAFE_NORM**2 else None
    if not _PLAIN_TYPES.issuperset(map(type, values)):
        return None
    try:
        return np.array(values, dtype=np.float64) if hypot(*values) < SAFE_NORM else None  # type: ignore[arg-type]
    except OverflowError:
        return None


def floats_of(values: Values) -> Floats:
    """Each value as a float, NaN where it is missing; an error names the row."""
    floats = finite_floats(values)
    return np.array(by_row(number_of, values), dtype=np.float64) if floats is None else floats


def by_row(convert: Callable[[object], T], values: Values, place: str = "") -> list[T]:
    """Each value converted; an error message starts with the row and place of its value."""
    converted: list[T] = []
    for row, value in enumerate(listed(values)):
        try:
            converted.append(convert(value))
        except ValueError as error:
            raise ValueError(f"row {row}{place}: {error}") from None
    return converted


def number_of(value: object) -> float:
    """The value as a finite float, or NaN where it is missing.

    Integers beyond 2**53 are refused, because float64 would round them: they are usually ids.
    """
    if is_missing(value):
        return nan
    kind = value.dtype.kind if isinstance(value, np.generic) else "f"
    if kind not in "biuf" or hasattr(value, "__len__") or not hasattr(value, "__float__"):
        raise ValueError(f"{short_repr(value)} ({type(value).__name__}) is not a number")
    if isinstance(value, _INTEGERS) and abs(int(value)) > EXACT_INTEGERS:
        raise ValueError(f"{short_repr(value)} is an integer beyond 2**53, which float64 would round")
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if isinf(number):
        raise ValueError(f"{short_repr(value)} is not finite")
    return number


def is_missing(value: object) -> bool:
    """Whether the value stands for none: None, NaN, NaT or NA."""
    if isinstance(value, _NOT_SELF_EQUAL):
        return bool(value != value)  # noqa: PLR0124
    return value is None or type(value).__name__ in _MISSING_TYPES


def is_collection(value: object) -> bool:
    """Whether the value holds labels: it can be gone through, and is neither text nor a mapping."""
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)


def _from_array(source: object) -> Table:
    array = _unmasked(source)
    if array.dtype.names is not None:
        names = array.dtype.names
        return Table(len(array), tuple(array[name] for name in names), names)
    if array.ndim == 2:
        return Table(len(array), tuple(array.T))
    if array.ndim == 1:
        return Table(len(array), (array,))
    raise ValueError(f"an array of shape {array.shape} is not a table; give one of shape (n, features).")


def _from_columns(table: Mapping[object, object]) -> Table:
    columns: list[Values] = []
    for name, column in table.items():
        try:
            columns.append(values_of(column))
        except ValueError as error:
            raise ValueError(f"column {short_repr(name)}: {error}") from None
        if len(columns[-1]) != len(columns[0]):
            lengths = f"{len(columns[0])} and {len(columns[-1])} rows"
            raise ValueError(
                f"columns {short_repr(next(iter(table)))} and {short_repr(name)} have {lengths}; "
                "give equally many."
            )
    if not columns:
        raise ValueError("a mapping without columns has no number of rows; give a list of rows or n.")
    return Table(len(columns[0]), tuple(columns), tuple(table))


def _from_frame(table: Any, only: Collection[str] | None) -> Table | None:
    if hasattr(table, "collect") and not hasattr(table, "__len__"):
        raise ValueError(f"a {type(table).__name__} has not been computed yet; collect it first.")
    names = getattr(table, "column_names", None)
    names = getattr(table, "columns", None) if names is None else names
    if names is None or callable(names) or not hasattr(table, "__getitem__"):
        return None
    names = tuple(names)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the frame has several columns {short_repr(twice)}; rename or drop all but one.")
    is_numbered = all(isinstance(name, int) for name in names)
    if only is not None and not is_numbered:
        names = tuple(name for name in names if name in only)
    columns = tuple(values_of(table[name]) for name in names)
    return Table(len(table), columns, None if is_numbered else names)


def _from_rows(table: Sequence[object]) -> Table:
    if not table or not _is_row(table[0]):
        return Table(len(table), (table,) if table else ())
    rows: list[Any] = [row_of(row) if _is_row(row) else row for row in table]
    if isinstance(rows[0], Mapping):
        _check_rows(rows, Mapping, "a mapping")
        names = tuple(dict.fromkeys(name for row in rows for name in row))
        return Table(len(rows), tuple([row.get(name) for row in rows] for name in names), names)
    _check_rows(rows, list | tuple, "a sequence")
    for row, values in enumerate(rows):
        if len(values) != len(rows[0]):
            lengths = f"{len(values)} values and row 0 has {len(rows[0])}"
            raise ValueError(f"row {row} has {lengths}; give equally many in each row.")
    return Table(len(rows), tuple(zip(*rows, strict=True)))


def _is_row(row: object) -> bool:
    return isinstance(row, Mapping | list | tuple | np.ndarray) or hasattr(row, "to_dict")


def _check_rows(rows: list[Any], kind: Any, name: str) -> None:
    odd = next((row for row, values in enumerate(rows) if not isinstance(values, kind)), None)
    if odd is not None:
        raise ValueError(f"row {odd} is {short_repr(rows[odd])}, but row 0 is {name}; give rows of one kind.")


def _unmasked(source: Any) -> NDArray[Any]:
    array = np.asarray(source)
    if isinstance(source, np.ma.MaskedArray):
        array = array.astype(object)
        array[np.ma.getmaskarray(source)] = None
    return array


def _dense(table: Any) -> NDArray[Any]:
    n_cells = int(np.prod(table.shape, dtype=np.float64))
    if n_cells > DENSE_LIMIT:
        raise ValueError(
            f"a sparse matrix of shape {table.shape} has {n_cells} cells, and at most {DENSE_LIMIT} are made "
            "dense; give fewer rows at a time, or fewer features."
        )
    return np.asarray(table.toarray())


def _holds_integers(column: object) -> bool:
    kind = getattr(column, "dtype", None) or getattr(column, "type", "")
    return not isinstance(kind, np.dtype) and "int" in str(kind).lower()

"""Columns of features: what they may hold, and how their values become float64.

Each value sets exactly one cell among the encoded columns of its feature: `cell` says which and to what, for
one row and for many. Everything else is a shortcut for values that an array can check at once.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from hashlib import blake2b
from math import isinf
from typing import TypeAlias

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.inputs import tables
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.core.inputs.tables import Values

_FLOAT64 = np.dtype(np.float64)
LARGEST = 1e100
"""Beyond this no feature is taken: sums of squares would overflow in the middle of play."""
_FLOATS = (float, np.floating)
_BOOLEANS = (bool, np.bool_, int, float, np.number)
MOST_COLUMNS = 2**20
"""Encoded columns that features may have: a file from elsewhere can't fill the memory."""


@dataclass(frozen=True, slots=True)
class Numeric:
    """Column of finite numbers; booleans count as 0 and 1, and integers beyond 2**53 are refused.

    Parameters
    ----------
    missing
        Whether values may be missing, which a further indicator then encodes.

    Examples
    --------
    >>> from gyrfalcon.core.inputs.schema import Schema
    >>> Schema.of({"age": Numeric(missing=True)}).encode([{"age": 31}, {"age": None}]).tolist()
    [[31.0, 0.0], [0.0, 1.0]]
    """

    missing: bool = False


@dataclass(frozen=True, slots=True)
class Boolean:
    """Column of True and False, or of the numbers 1 and 0, encoded as 1.0 and 0.0.

    Parameters
    ----------
    missing
        Whether values may be missing, which a further indicator then encodes.

    Examples
    --------
    >>> from gyrfalcon.core.inputs.schema import Schema
    >>> Schema.of({"member": Boolean()}).encode([{"member": True}, {"member": False}]).tolist()
    [[1.0], [0.0]]
    """

    missing: bool = False


@dataclass(frozen=True, slots=True)
class Categorical:
    """Column of known levels: one indicator per level, and one for "other", which all unknown values share.

    Parameters
    ----------
    levels
        The known values, at least one; "other" cannot be one of them.
    missing
        Whether values may be missing, which a further indicator then encodes.

    Examples
    --------
    >>> from gyrfalcon.core.inputs.schema import Schema
    >>> country = Schema.of({"country": Categorical(("NO", "SE"))})
    >>> country.encode([{"country": "SE"}, {"country": "FI"}]).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    levels: tuple[Hashable, ...]
    missing: bool = False
    positions: dict[object, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        given: object = self.levels
        levels = tuple(given) if isinstance(given, list | tuple) else ()
        if not levels:
            raise ValueError(f"levels are {short_repr(given)}; give a tuple with at least one level.")
        seen: set[object] = set()
        for level in levels:
            if tables.is_missing(level) or str(level) == "other":
                reason = "missing=True is for no value, and all that is not listed is 'other'"
                raise ValueError(f"{short_repr(level)} cannot be a level ({reason}); leave it out.")
            if not isinstance(level, Hashable):
                raise ValueError(  # noqa: TRY004 - every refused input is a ValueError
                    f"the level {short_repr(level)} cannot be looked up; give text or a number."
                )
            if level in seen or str(level) in seen:
                raise ValueError(
                    f"the level {short_repr(level)} is there twice, or reads like another; keep one."
                )
            seen |= {level, str(level)}
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "positions", {level: position for position, level in enumerate(levels)})


@dataclass(frozen=True, slots=True)
class Hashed:
    """Column of text with many values: one indicator per hash bucket, the same in any process on any machine.

    The bucket is blake2b of the value's text, so that the number 1 and the text "1" share a bucket, as do
    1, 1.0 and True: ids arrive as either, and a missing value turns a column of integers into floats.

    Parameters
    ----------
    n_buckets
        Number of hash buckets, from 1 to 1,048,576.
    missing
        Whether values may be missing, which a further indicator then encodes.

    Examples
    --------
    >>> from gyrfalcon.core.inputs.schema import Schema
    >>> city = Schema.of({"city": Hashed(4)})
    >>> city.names
    ('city#0', 'city#1', 'city#2', 'city#3')
    >>> city.encode_one({"city": "Tromsø"}).tolist()
    [[0.0, 0.0, 0.0, 1.0]]
    """

    n_buckets: int = 32
    missing: bool = False

    def __post_init__(self) -> None:
        if type(self.n_buckets) is not int or not 1 <= self.n_buckets <= MOST_COLUMNS:
            raise ValueError(
                f"n_buckets is {short_repr(self.n_buckets)}; give a whole number from 1 to {MOST_COLUMNS}."
            )


Column: TypeAlias = Numeric | Boolean | Categorical | Hashed


def encoded_names(name: str, column: Column) -> list[str]:
    """The names of the encoded columns of a feature."""
    indicators = [f"{name}:missing"] if column.missing else []
    if isinstance(column, Categorical):
        return [f"{name}={level}" for level in (*column.levels, "other")] + indicators
    if isinstance(column, Hashed):
        return [f"{name}#{bucket}" for bucket in range(column.n_buckets)] + indicators
    return [name, *indicators]


def fill(out: Floats, name: str, column: Column, values: Values) -> None:
    """Write the encoding of values into zeros."""
    if column.missing and isinstance(values, np.ndarray) and values.dtype == _FLOAT64:
        gone = np.isnan(values)
        floats = _checked(column, np.where(gone, 0.0, values))
        if floats is not None:
            out[gone, -1] = 1.0
    else:
        floats = _checked(column, values)
    if floats is not None:
        out[:, 0] = floats
        return
    cells = tables.by_row(lambda value: cell(column, value), values, f", feature {name!r}")
    offsets, numbers = np.array(cells).reshape(-1, 2).T
    out[np.arange(len(out)), offsets.astype(np.intp)] = numbers


def _checked(column: Column, values: Values) -> Floats | None:
    """The values as floats where all of them can be seen at once to be valid and present."""
    if isinstance(column, Categorical | Hashed):
        return None
    floats = tables.finite_floats(values)
    if isinstance(column, Boolean):
        return floats if floats is not None and ((floats == 0.0) | (floats == 1.0)).all() else None
    if floats is None and isinstance(values, np.ndarray) and values.dtype == _FLOAT64:
        return values if (np.abs(values) <= LARGEST).all() else None
    return floats


def cell(column: Column, value: object) -> tuple[int, float]:
    """The encoded column of its feature that the value sets, and to what; -1 is the last, for missing."""
    if type(value) is float and type(column) is Numeric and abs(value) <= LARGEST:
        return 0, value
    if tables.is_missing(value):
        return _missing(column)
    if type(column) is Categorical or type(column) is Hashed:
        return _level(column, value), 1.0
    if type(column) is Boolean and not (isinstance(value, _BOOLEANS) and value in (0, 1)):
        raise ValueError(f"{short_repr(value)} is neither true nor false; give True, False, 1 or 0.")
    try:
        number = tables.number_of(value)
    except ValueError as error:
        remedy = "give a finite number" if "finite" in str(error) else "declare the feature as Hashed"
        raise ValueError(f"{error}; convert or scale it, or {remedy}.") from None
    if number != number:  # noqa: PLR0124 - other kinds of numbers have their own NaN
        return _missing(column)
    if abs(number) > LARGEST:
        raise ValueError(f"{short_repr(value)} is beyond 1e100, where sums of squares overflow; scale it.")
    return 0, number


def _missing(column: Column) -> tuple[int, float]:
    if column.missing:
        return -1, 1.0
    raise ValueError("the value is missing; give one, or declare the feature with missing=True.")


def _level(column: Categorical | Hashed, value: object) -> int:
    if isinstance(value, _FLOATS) and isinf(value):
        raise ValueError(f"{short_repr(value)} is not finite; give a level, or None for no value.")
    if isinstance(column, Hashed):
        digest = blake2b(text(value).encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest, "little") % column.n_buckets
    try:
        return column.positions.get(value, len(column.levels))
    except TypeError:
        raise ValueError(f"{short_repr(value)} cannot be a level; give text or a number.") from None


def text(value: object) -> str:
    """The text that is hashed: values that compare equal read alike."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, _FLOATS) and not value.is_integer():
        return repr(float(value))
    if isinstance(value, int | float | np.integer | np.floating | np.bool_):
        return str(int(value))
    raise ValueError(
        f"{short_repr(value)} ({type(value).__name__}) is neither text nor a number; give its text."
    )


_BY_NAME: dict[object, Column] = {"numeric": Numeric(), "boolean": Boolean(), "hashed": Hashed()}


def column_of(name: object, kind: object) -> Column:
    """The column that a kind in a specification stands for."""
    if isinstance(kind, Column):
        return kind
    if isinstance(kind, list | tuple):
        return Categorical(tuple(kind))
    if isinstance(kind, str) and kind in _BY_NAME:
        return _BY_NAME[kind]
    kinds = "'numeric', 'boolean', 'hashed', a list of levels, or a column such as Numeric(missing=True)"
    raise ValueError(f"feature {short_repr(name)} is {short_repr(kind)}; give {kinds}.")

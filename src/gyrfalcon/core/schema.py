"""Features: what each column of a context may hold, and how it becomes float64.

A column knows values, not places: `code` checks one value and makes it a number, and `put` and `fill` spread
codes over the encoded columns, for one row and for many. What is said of one row thus holds of every batch.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TypeAlias

import numpy as np

from gyrfalcon.core import tables
from gyrfalcon.core.tables import TAME, Table, Values
from gyrfalcon.core.types import Floats

_FLOAT64 = np.dtype(np.float64)


class _Number:
    """Columns whose code is their value: NaN is missing, and has an indicator of its own."""

    __slots__ = ()
    missing: bool

    def names(self, name: str) -> tuple[str, ...]:
        """What the encoded columns are called."""
        return (name, f"{name}:missing") if self.missing else (name,)

    def code(self, value: object) -> float:
        """The value as a float, NaN where it is missing."""
        try:
            code = tables.number_of(value)
        except ValueError as error:
            raise ValueError(f"{error}; scale or convert it, or declare the feature as Hashed.") from None
        return _absent(self, code) if code != code else code  # noqa: PLR0124

    def put(self, cells: list[float], start: int, code: float) -> None:
        """The code written into one row of zeros."""
        if code == code:  # noqa: PLR0124
            cells[start] = code
        else:
            cells[start + 1] = 1.0

    def fill(self, out: Floats, codes: Floats) -> None:
        """The codes written into (n, width) zeros."""
        out[:, 0] = codes
        if self.missing:
            out[:, 1] = np.isnan(codes)
            out[np.isnan(codes), 0] = 0.0


@dataclass(frozen=True, slots=True)
class Numeric(_Number):
    """A finite number as it is; booleans count as 0 and 1, integers beyond 2**53 are refused.

    >>> Schema((("age", Numeric(missing=True)),)).encode([{"age": 31}, {"age": None}]).tolist()
    [[31.0, 0.0], [0.0, 1.0]]
    """

    missing: bool = False

    def codes(self, values: Values) -> Floats | None:
        """The codes of a column where arrays can tell them at once."""
        floats = tables.tame_floats(values)
        if floats is None and isinstance(values, np.ndarray) and values.dtype == _FLOAT64:
            is_fine = not np.isinf(values).any() and (self.missing or not np.isnan(values).any())
            return values if is_fine else None
        return floats


@dataclass(frozen=True, slots=True)
class Boolean(_Number):
    """True and False, or the numbers 1 and 0, as 1.0 and 0.0.

    >>> Schema((("member", Boolean()),)).encode([{"member": True}, {"member": False}]).tolist()
    [[1.0], [0.0]]
    """

    missing: bool = False

    def code(self, value: object) -> float:
        """1.0, 0.0, or NaN where it is missing."""
        try:
            code = tables.number_of(value)
        except ValueError:
            code = -1.0
        if code in (0.0, 1.0):
            return code
        if code == code:  # noqa: PLR0124
            raise ValueError(f"{tables.shown(value)} is neither true nor false; give True, False, 1 or 0.")
        return _absent(self, code)

    def codes(self, values: Values) -> Floats | None:
        """The codes of a column where arrays can tell them at once."""
        floats = tables.tame_floats(values)
        return floats if floats is not None and ((floats == 0.0) | (floats == 1.0)).all() else None


class _Level:
    """Columns with one indicator per level: the code is the level's position, and missing comes last."""

    __slots__ = ()
    missing: bool

    def level_names(self) -> Iterable[str]:
        """What follows the column's name, for each level."""
        raise NotImplementedError

    def level(self, value: object) -> int:
        """The position of a value that is there."""
        raise NotImplementedError

    def names(self, name: str) -> tuple[str, ...]:
        """What the encoded columns are called."""
        names = tuple(f"{name}{level}" for level in self.level_names())
        return (*names, f"{name}:missing") if self.missing else names

    def code(self, value: object) -> float:
        """The position of the value's indicator, -1 where it is missing."""
        if tables.is_missing(value):
            return _absent(self, -1.0)
        if value in (np.inf, -np.inf) if isinstance(value, float | np.floating) else False:
            raise ValueError(f"{tables.shown(value)} is not finite; give a level, or None where it is missing.")
        return self.level(value)

    def codes(self, values: Values) -> Floats | None:
        """Nothing: levels are looked up one by one."""
        return None

    def put(self, cells: list[float], start: int, code: float) -> None:
        """The code written into one row of zeros."""
        cells[start + int(code)] = 1.0

    def fill(self, out: Floats, codes: Floats) -> None:
        """The codes written into (n, width) zeros."""
        out[np.arange(len(out)), codes.astype(np.intp)] = 1.0

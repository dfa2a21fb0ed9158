"""Chunks of records that were read from a source, as columns, and their conversion to arrays."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.inputs.messages import short_repr, suggestion
from gyrfalcon.core.inputs.tables import Values, is_missing, listed

T = TypeVar("T")

NO_NUMBER = frozenset({"", "NA", "NULL", "null"})
"""Texts that stand for a missing number in files of text."""

_FRACTION = re.compile(r"([T ]\d\d:\d\d:\d\d)\.(\d+)")
_TRUTH = {"true": True, "false": False, "1": True, "0": False, "1.0": True, "0.0": False, "": False}
_TRUE_OR_FALSE = frozenset({"True", "False", "true", "false"})


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """Consecutive records of a source as columns.

    Parameters
    ----------
    columns
        Values by the name of their column, all of the same length.
    numbers
        Number of each record in its source, (n,), as messages name it.
    source
        What the source is called in messages: a path, or "" for tables.
    unit
        What `numbers` count: "line" of a file or "row" of a table.
    is_text
        Whether all values are text, as in CSV files, where numbers are written out.
    """

    columns: Mapping[str, Values]
    numbers: Ints
    source: str = ""
    unit: str = "row"
    is_text: bool = False

    def __len__(self) -> int:
        return len(self.numbers)

    def at(self, row: int) -> str:
        """The place of a record in words, for the start of a message."""
        place = f"{self.unit} {self.numbers[row]}"
        return f"{self.source}, {place}" if self.source else place

    def column(self, name: str) -> Values:
        """The values of a column, or an error that names those there are."""
        if name not in self.columns:
            where = f"{self.source} has" if self.source else "the table has"
            raise ValueError(f"{where} no column {short_repr(name)}; {suggestion(name, self.columns)}")
        return self.columns[name]

    def floats(self, name: str) -> Floats:
        """A column of numbers, nan where there is none."""
        values = self.column(name)
        if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
            return values.astype(np.float64)
        try:
            return np.array([_float(value) for value in listed(values)], dtype=np.float64)
        except (ValueError, TypeError):
            return np.array(
                self._each(
                    name, _float, "a number", "give a number, with a point before decimals, or nothing"
                )
            )

    def integers(self, name: str) -> Ints:
        """A column of whole numbers."""
        values = self.column(name)
        if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
            return values.astype(np.int64)
        return np.array(self._each(name, _whole, "a whole number", "give one"), dtype=np.int64)

    def flags(self, name: str) -> Bools:
        """A column of true and false; what is missing is false."""
        values = self.column(name)
        if isinstance(values, np.ndarray) and values.dtype.kind == "b":
            return values.astype(np.bool_)
        return np.array(self._each(name, _flag, "true or false", "give true or false"), dtype=np.bool_)

    def texts(self, name: str) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
        """A column of text, None where there is none."""
        values = [_text(value) for value in listed(self.column(name))]
        return np.fromiter(values, dtype=object, count=len(values))

    def times(self, name: str) -> Floats:
        """A column of times in seconds since 1970: numbers of seconds, or dates by ISO 8601."""
        values = self.column(name)
        if isinstance(values, np.ndarray) and values.dtype.kind == "M":
            nanoseconds = values.astype("datetime64[ns]")
            return np.where(np.isnat(nanoseconds), np.nan, nanoseconds.astype(np.int64) / 1e9)
        if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
            return values.astype(np.float64)
        remedy = "give seconds since 1970, or a date such as 2024-05-31T12:00:00Z"
        return np.array(self._each(name, seconds_of, "a time", remedy), dtype=np.float64)

    def _each(self, name: str, convert: Callable[[Any], T], what: str, remedy: str) -> list[T]:
        converted = []
        for row, value in enumerate(listed(self.column(name))):
            try:
                converted.append(convert(value))
            except (ValueError, TypeError, OverflowError):
                raise ValueError(
                    f"{self.at(row)}: {name} is {short_repr(value)}, which is not {what}; {remedy}."
                ) from None
        return converted


def seconds_of(value: object) -> float:
    """Seconds since 1970 of a number, of a date as text by ISO 8601 or of a `datetime`; UTC without a zone.

    >>> seconds_of("1970-01-01T00:01:00.1234567Z"), seconds_of("1970-01-01 01:00:00+01:00"), seconds_of(2)
    (60.1234567, 0.0, 2.0)
    """
    if is_missing(value) or value == "":
        return np.nan
    if isinstance(value, str):
        return _seconds_of_text(value.strip())
    if isinstance(value, datetime):
        return _in_zone(value).timestamp()
    if isinstance(value, np.datetime64):
        return float(value.astype("datetime64[ns]").astype(np.int64)) / 1e9
    number: Any = value
    return float(number)


def _seconds_of_text(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        pass
    # Digits beyond microseconds, which some logs have, would be cut off.
    found = _FRACTION.search(text)
    whole = _FRACTION.sub(r"\1", text)
    start = int(_in_zone(datetime.fromisoformat(whole)).timestamp())
    if found is None:
        return float(start)
    return float(f"{start}.{found[2]}") if start >= 0 else start + float(f"0.{found[2]}")


def _in_zone(time: datetime) -> datetime:
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time


def _float(value: Any) -> float:
    if isinstance(value, str):
        if value in _TRUE_OR_FALSE:  # as pandas writes them
            return float(_TRUTH[value.lower()])
        return np.nan if value in NO_NUMBER else float(value)
    return np.nan if is_missing(value) else float(value)


def _whole(value: Any) -> int:
    number = float(value)
    if not number.is_integer():
        raise ValueError
    return int(value) if isinstance(value, str | int) and str(value).lstrip("-").isdigit() else int(number)


def _flag(value: Any) -> bool:
    text = "" if is_missing(value) else str(value).strip().lower()
    if text not in _TRUTH:
        raise ValueError
    return _TRUTH[text]


def _text(value: object) -> str | None:
    return None if is_missing(value) or value == "" else str(value)

"""Values of Arrow arrays as NumPy arrays, over the same memory where nothing is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.decision_table import UNKNOWN_ACTION, Texts
from gyrfalcon.frames import Values


def further_columns(batch: Any, names: Iterable[str]) -> dict[str, Values]:
    """Columns of a batch that tables do not have: numbers or texts, nan where there are none."""
    return {name: _values(batch, name) for name in names}


def _values(batch: Any, name: str) -> Values:
    import pyarrow as pa

    if name not in batch.schema.names:
        return np.full(batch.num_rows, np.nan)
    column = batch.column(name)
    if pa.types.is_integer(column.type):
        return integer_values(column, len(column))
    return (
        float_values(column, None) if pa.types.is_floating(column.type) else text_values(column, len(column))
    )


def list_lengths(lists: Any) -> Ints:
    """Numbers of elements in each row, 0 where a list is missing."""
    lengths = np.diff(_offsets(lists)).astype(np.int64)
    return lengths if lists.null_count == 0 else np.where(is_known(lists), lengths, 0)


def label_positions(texts: Any, places: Mapping[str, int], n: int) -> Ints:
    """Positions of labels, -1 for those that are missing or unknown."""
    if texts is None:
        return np.full(n, UNKNOWN_ACTION)
    coded = texts if hasattr(texts, "dictionary") else texts.dictionary_encode()
    known = [places.get(text, UNKNOWN_ACTION) for text in coded.dictionary.to_pylist()]
    if coded.null_count == 0 and known == list(range(len(known))):
        return _numbers(coded.indices).astype(np.int64)
    return np.asarray(np.array([*known, UNKNOWN_ACTION], dtype=np.int64).take(_codes(coded)))


def float_values(values: Any, n: int | None) -> Floats:
    """Numbers as they are in memory, nan where they are missing."""
    if values is None:
        return np.full(n or 0, np.nan)
    numbers = _numbers(values).astype(np.float64, copy=False)
    return numbers if values.null_count == 0 else np.where(is_known(values), numbers, np.nan)


def text_values(values: Any, n: int) -> Texts:
    """Texts as Python strings, None where they are missing."""
    if values is None:
        return np.full(n, None, dtype=object)
    if hasattr(values, "dictionary"):
        return np.array([*values.dictionary.to_pylist(), None], dtype=object).take(_codes(values))
    offsets, (_, _, data) = _offsets(values).tolist(), values.buffers()
    content = b"" if data is None else data.to_pybytes()
    if content.isascii():
        whole = content.decode("ascii")
        texts = [whole[first:last] for first, last in pairwise(offsets)]
    else:
        texts = [content[first:last].decode() for first, last in pairwise(offsets)]
    column = np.fromiter(texts, dtype=object, count=len(texts))
    if values.null_count:
        column[~is_known(values)] = None
    return column


def integer_values(values: Any, n: int) -> Ints:
    """Whole numbers, -1 where they are missing."""
    if values is None:
        return np.full(n, -1)
    numbers = _numbers(values).astype(np.int64, copy=False)
    return numbers if values.null_count == 0 else np.where(is_known(values), numbers, -1)


def flag_values(values: Any, n: int) -> Bools:
    """Booleans, false where they are missing."""
    if values is None:
        return np.zeros(n, dtype=np.bool_)
    return _bits(values.buffers()[1], values) & is_known(values)


def is_known(values: Any) -> Bools:
    """Which values are not missing, (n,)."""
    bits = values.buffers()[0]
    return np.ones(len(values), dtype=np.bool_) if bits is None else _bits(bits, values)


def _codes(coded: Any) -> Ints:
    """Places in the dictionary, and the one after its end where a value is missing."""
    codes = _numbers(coded.indices).astype(np.int64)
    return codes if coded.null_count == 0 else np.where(is_known(coded.indices), codes, len(coded.dictionary))


def _numbers(values: Any) -> Values:
    """Numbers over the memory of an array; to_numpy would import pandas, where it is installed."""
    kind = np.dtype(values.type.to_pandas_dtype())
    buffer = values.buffers()[1]
    if buffer is None:
        return np.zeros(len(values), dtype=kind)
    return np.frombuffer(buffer, kind, len(values), values.offset * kind.itemsize)


def _offsets(values: Any) -> Values:
    """Where the elements of each row begin, and where the last one ends."""
    buffer = values.buffers()[1]
    kind = np.dtype(np.int64 if str(values.type).startswith("large_") else np.int32)
    if buffer is None or not len(values):
        return np.zeros(len(values) + 1, dtype=kind)
    return np.frombuffer(buffer, kind, len(values) + 1, values.offset * kind.itemsize)


def _bits(buffer: Any, values: Any) -> Bools:
    if not len(values):
        return np.zeros(0, dtype=np.bool_)
    stop = values.offset + len(values)
    bits = np.unpackbits(np.frombuffer(buffer, np.uint8), bitorder="little", count=stop)
    return bits[values.offset :].astype(np.bool_)

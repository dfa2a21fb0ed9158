"""Values of Arrow arrays as NumPy arrays, over the same memory where nothing is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    lengths = lists.value_lengths().fill_null(0)
    return np.asarray(lengths.to_numpy(zero_copy_only=False), dtype=np.int64)


def label_positions(texts: Any, places: Mapping[str, int], n: int) -> Ints:
    """Positions of labels, -1 for those that are missing or unknown."""
    if texts is None:
        return np.full(n, UNKNOWN_ACTION)
    coded = texts if hasattr(texts, "dictionary") else texts.dictionary_encode()
    known = [places.get(text, UNKNOWN_ACTION) for text in coded.dictionary.to_pylist()]
    if coded.null_count == 0 and known == list(range(len(known))):
        return np.asarray(coded.indices.to_numpy(zero_copy_only=False), dtype=np.int64)
    table = np.array([*known, UNKNOWN_ACTION], dtype=np.int64)
    codes = coded.indices if coded.null_count == 0 else coded.indices.fill_null(len(known))
    return np.asarray(table.take(codes.to_numpy(zero_copy_only=False)))


def float_values(values: Any, n: int | None) -> Floats:
    """Numbers as they are in memory, nan where they are missing."""
    if values is None:
        return np.full(n or 0, np.nan)
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def text_values(values: Any, n: int) -> Texts:
    """Texts as Python strings, None where they are missing."""
    if values is None:
        return np.full(n, None, dtype=object)
    if not hasattr(values, "dictionary"):
        return np.asarray(values.to_numpy(zero_copy_only=False), dtype=object)
    texts = np.array([*values.dictionary.to_pylist(), None], dtype=object)
    codes = values.indices.fill_null(len(texts) - 1)
    return np.asarray(texts[codes.to_numpy(zero_copy_only=False)])


def integer_values(values: Any, n: int) -> Ints:
    """Whole numbers, -1 where they are missing."""
    if values is None:
        return np.full(n, -1)
    return np.asarray(values.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)


def flag_values(values: Any, n: int) -> Bools:
    """Booleans, false where they are missing."""
    if values is None:
        return np.zeros(n, dtype=np.bool_)
    return np.asarray(values.fill_null(False).to_numpy(zero_copy_only=False), dtype=np.bool_)

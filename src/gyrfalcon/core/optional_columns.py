"""Columns that a table may lack: what they are in the rows of those that have none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Floats


def joined_column(parts: Sequence[Any], lengths: Sequence[int]) -> Any:
    """A column of several tables, unknown in the rows of those that lack it; None if all do.

    >>> joined_column([np.array([1.0]), None], [1, 2]).tolist()
    [1.0, nan, nan]
    """
    known = next((part for part in parts if part is not None), None)
    if known is None:
        return None
    unknown: Any = np.nan if known.dtype.kind == "f" else None if known.dtype == object else False
    return np.concatenate(
        [
            np.full((n_rows, *known.shape[1:]), unknown, dtype=known.dtype) if part is None else part
            for part, n_rows in zip(parts, lengths, strict=True)
        ]
    )


def feature_table(values: Any, n_rows: int) -> Floats:
    """Features of a user as (n, p), also where there is one feature or no row; None for no features.

    >>> feature_table([3, 4], 2).shape, feature_table(np.zeros((0, 3)), 0).shape, feature_table(None, 2).shape
    ((2, 1), (0, 3), (2, 0))
    """
    if values is None:
        return np.zeros((n_rows, 0))
    table = np.asarray(values, dtype=np.float64)
    return table.reshape(n_rows, -1) if n_rows else table.reshape(0, *table.shape[1:2] or (0,))

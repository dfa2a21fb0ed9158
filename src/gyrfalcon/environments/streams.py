"""Columns of random numbers drawn block by block: rows are the same however rounds are divided."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gyrfalcon.environments.protocol import BLOCK

Column = TypeVar("Column", bound=NDArray[Any])

MASKS = 1
DELAYS = 2
DRIFT = 3
FLIPS = 4
LOG_ROWS = 5
"""Purposes of random streams; those of one seed differ by purpose."""


def rows_of(draw_block: Callable[[int], Column], start: int, stop: int, size: int = BLOCK) -> Column:
    """Rows start..stop-1 of a column that is drawn in complete blocks of `size` rows.

    >>> rows_of(lambda block: 10 * block + np.arange(4), 2, 9, size=4).tolist()
    [2, 3, 10, 11, 12, 13, 20]
    """
    first, last = start // size, max(-(-stop // size), start // size + 1)
    parts = [
        draw_block(block)[max(start - block * size, 0) : max(stop - block * size, 0)]
        for block in range(first, last)
    ]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)  # type: ignore[return-value]


def stream(seed: int, block: int, purpose: int, layer: int = 0) -> np.random.Generator:
    """The random stream of one block for one purpose; layers number nested wrappers of a kind."""
    return np.random.default_rng([seed, 0, block, purpose, layer])

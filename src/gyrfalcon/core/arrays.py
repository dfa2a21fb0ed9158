"""Types of arrays, and masks as slices where that saves a copy."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]


def rows_of(mask: Bools) -> slice | Bools:
    """The mask as a slice when its rows are adjacent, to avoid a copy.

    >>> rows_of(np.array([False, True, True])), rows_of(np.array([True, False, True])).tolist()
    (slice(1, 3, None), [True, False, True])
    """
    n_rows = int(np.count_nonzero(mask))
    first = int(mask.argmax()) if n_rows else 0
    return slice(first, first + n_rows) if mask[first : first + n_rows].all() else mask

"""Values that lie beyond all others by a wide gap, as where some rows have another unit or a code."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats

_GAP = 10.0
"""Factor between values that is taken for another unit, if no value is in between."""

_MANY, _LONG = 3, 20


def beyond_a_gap(scale: Floats) -> Bools:
    """Values above a wide gap: three or more of them, more than a heavy tail has there.

    Parameters
    ----------
    scale
        Logarithms of the values' sizes, to the base of 10.
    """
    ordered = np.sort(scale)
    n = len(ordered)
    first, last = n // 2, n - _MANY
    upper = np.diff(ordered)[first:last]
    if not len(upper):
        return np.zeros(n, np.bool_)
    place = first + int(upper.argmax())
    gap, n_beyond = ordered[place + 1] - ordered[place], n - 1 - place
    # In a tail that falls like a power, spacings of logarithms times their rank are exponential, of a mean
    # that the values below the gap tell.
    below = ordered[max(first, place - max(_LONG, n // 20)) : place + 1]
    mean = float((below - below[0]).mean())
    far = n_beyond * gap >= mean * (np.log(n) + 9.0)
    many_values = len(np.unique(ordered)) > n // 2
    wide = gap >= np.log10(3.0 if many_values else _GAP)
    return np.asarray((scale > ordered[place]) & (far and wide))

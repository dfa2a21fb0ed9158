"""Signs of the wild bootstrap: residuals that keep their sizes, and with them unequal noise."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Floats

_COMBINED = 1 << 24
"""Numbers of signs that are drawn at once."""


def drawn_signs(n_rows: int, n_draws: int, seed: int) -> Floats:
    """Independent signs +1 and -1 of n rows, (n, n_draws).

    >>> drawn_signs(3, 2, seed=0).shape
    (3, 2)
    """
    bits = np.random.default_rng([seed, n_rows]).integers(0, 2, (n_rows, n_draws), dtype=np.int8)
    return np.asarray(2.0 * bits - 1.0, dtype=np.float64)


def n_draws_of(n_rows: int, wanted: int) -> int:
    """The wanted number of draws, or fewer of very many rows, but at least 99."""
    return max(min(wanted, _COMBINED // max(n_rows, 1)), 99)


def exceedance(statistic: float, drawn: Floats) -> float:
    """P value of a statistic: the share of draws (B,) that reach it, itself among them.

    >>> exceedance(2.0, np.array([1.0, 2.5, 0.5]))
    0.5
    """
    return float(1 + np.count_nonzero(drawn >= statistic * (1.0 - 1e-12))) / (1 + len(drawn))

"""Validation of active and passive rows given as arrays: columns and blocks must agree."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.oracles.solvers.moments import Rows


def checked_rows(
    X: ArrayLike,
    r: ArrayLike,
    X_passive: ArrayLike,
    r_passive: ArrayLike,
    blocks: ArrayLike | None,
    blocks_passive: ArrayLike | None,
    n_blocks: int | None,
) -> tuple[Rows, Rows]:
    """Both sides as checked rows with the same columns and blocks."""
    x, x_passive = _same_columns(np.asarray(X, dtype=np.float64), np.asarray(X_passive, dtype=np.float64))
    if blocks is None and blocks_passive is None:
        if n_blocks is not None:
            raise ValueError(
                f"n_blocks is {n_blocks} but there are no blocks; give blocks and blocks_passive."
            )
        active = Rows.of(x, r, names=("X", "r", "blocks"))
        return active, Rows.of(x_passive, r_passive, names=("X_passive", "r_passive", "blocks_passive"))
    sides = [_block_numbers(blocks, len(x)), _block_numbers(blocks_passive, len(x_passive))]
    if n_blocks is None:
        n_blocks = 1 + max(int(side.max(initial=0)) for side in sides)
    active = Rows.of(x, r, blocks=sides[0], n_blocks=n_blocks, names=("X", "r", "blocks"))
    names = ("X_passive", "r_passive", "blocks_passive")
    return active, Rows.of(x_passive, r_passive, blocks=sides[1], n_blocks=n_blocks, names=names)


def _same_columns(x: Floats, x_passive: Floats) -> tuple[Floats, Floats]:
    """Both features with as many columns; an empty list stands for no rows."""
    if x.shape == (0,) and x_passive.ndim == 2:
        x = x.reshape(0, x_passive.shape[1])
    if x_passive.shape == (0,) and x.ndim == 2:
        x_passive = x_passive.reshape(0, x.shape[1])
    if x.ndim == x_passive.ndim == 2 and x.shape[1] != x_passive.shape[1]:
        raise ValueError(
            f"X has {x.shape[1]} columns and X_passive {x_passive.shape[1]}; give both the same features."
        )
    return x, x_passive


def _block_numbers(blocks: ArrayLike | None, n: int) -> Ints:
    """Block numbers as an array, still unchecked; none are needed where there are no rows."""
    if blocks is None and n > 0:
        raise ValueError(
            "Only one of blocks and blocks_passive is given; give the blocks of all rows or of none."
        )
    return np.zeros(0, dtype=np.int64) if blocks is None or n == 0 else np.asarray(blocks)

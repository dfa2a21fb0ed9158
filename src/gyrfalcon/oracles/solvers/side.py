"""One side, active or passive, in common coordinates: its mean error as a sum of squares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.oracles.linalg.whitening import Whitening, whitened_gram, whitened_rows

PLAINLY_SEEN = 1e-3
"""A singular value above this is no rounding."""

_NEGLIGIBLE = 1e-15
"""A column of one side below this share of both sides' is beneath the rounding of the common coordinates."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side's form sum (length y - target)^2 in common coordinates, (B, d) each."""

    length: Floats
    target: Floats
    distinct: bool

    @staticmethod
    def of(
        squares: Floats,
        pull: Floats,
        reward_squares: Floats,
        identified: Bools,
        square_rounding: Floats,
        pull_rounding: Floats,
        own: Callable[[], Whitening] | None,
    ) -> Side:
        """The side from its squared lengths and its pull, length times target.

        Lengths that are rounding become zero. Where a length is neither plain nor within (B,) rounding, the
        side's `own` rank tells how many of the smallest are. If one was not, the rewards pull at it: by more
        than rounding does. A ridge leaves nothing over, then `own` is None.
        """
        length = np.sqrt(np.where(identified, np.maximum(squares, 0.0), 0.0))
        dropped, distinct = identified & (squares <= square_rounding[:, None]), True
        if own is None:
            return Side(length, divided(pull, length), distinct)
        if (identified & ~dropped & (length <= PLAINLY_SEEN)).any():
            whitening = own()
            left_over = identified.sum(axis=1) - whitening.kept.sum(axis=1)
            place = np.argsort(np.argsort(np.where(identified, length, np.inf), axis=1), axis=1)
            dropped, distinct = place < left_over[:, None], whitening.distinct
        length = np.where(dropped, 0.0, length)
        most = pull_rounding * np.sqrt(reward_squares)
        distinct = distinct and not (dropped & (np.abs(pull) > most[:, None])).any()
        return Side(length, divided(pull, length), distinct)


def own_gram(form: Floats, scale: Floats) -> Whitening:
    """One side's whitening on its own; a column that is rounding beside the other side's is zero."""
    scaled = form * scale[:, :, None] * scale[:, None, :]
    seen = np.diagonal(scaled, axis1=1, axis2=2) > _NEGLIGIBLE
    return whitened_gram(scaled * seen[:, :, None] * seen[:, None, :])


def own_rows(rows: Floats, scale: Floats) -> Whitening:
    """One side's whitening from its rows; a column that is rounding beside the other side's is zero."""
    scaled = rows[:, :, :-1] * scale[:, None, :]
    return whitened_rows(scaled * (np.linalg.norm(scaled, axis=1) > _NEGLIGIBLE)[:, None, :])


def divided(numerator: Floats, denominator: Floats) -> Floats:
    """The quotient, 0 where the denominator is 0."""
    seen = denominator > 0.0
    quotient: Floats = np.where(seen, numerator, 0.0) / np.where(seen, denominator, 1.0)
    return quotient

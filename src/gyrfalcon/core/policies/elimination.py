"""Elimination: uniform play over the actions that may still be best, given bounds on every reward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.policies.kernels import uniform
from gyrfalcon.core.validation import check_share


def survivors(low: ArrayLike, high: ArrayLike, eligible: ArrayLike | None = None) -> Bools:
    """Which eligible actions could be best: high_a >= max_b low_b, (n, K); at least one in each row.

    >>> survivors([[0.4, 0.1, 0.0]], [[0.6, 0.5, 0.3]]).tolist()
    [[True, True, False]]
    >>> survivors([[0.4, 0.1, 0.0]], [[0.6, 0.5, 0.3]], [[False, True, True]]).tolist()
    [[False, True, True]]
    """
    lows, highs = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    mask = np.ones(lows.shape, dtype=np.bool_) if eligible is None else np.asarray(eligible, dtype=np.bool_)
    _check_bounds(lows[mask], highs[mask])
    floor = np.where(mask, lows, -np.inf).max(axis=-1, keepdims=True)
    alive: Bools = mask & (highs >= floor)
    return alive


class Bounds(Protocol):
    """Bounds on the expected reward of every action."""

    def bounds(self, contexts: Contexts) -> tuple[Floats, Floats]:
        """The smallest and the largest reward that each action may have, (n, K) each."""
        ...


@dataclass(frozen=True, slots=True)
class EliminationPolicy:
    """Every action that may be best alike, and a share `mixing` of uniform play over all."""

    scorer: Bounds
    mixing: float = 0.0

    def __post_init__(self) -> None:
        check_share("mixing", self.mixing)

    def probabilities(self, contexts: Contexts) -> Floats:
        """1 / the number of survivors for each of them, mixed with 1 / K."""
        low, high = self.scorer.bounds(contexts)
        n, n_actions = low.shape
        shares = uniform(n_actions, n, survivors(low, high, contexts.eligible))
        # In this form a row with one eligible action keeps probability 1 to the last bit.
        return shares + self.mixing * (uniform(n_actions, n, contexts.eligible) - shares)


def _check_bounds(low: Floats, high: Floats) -> None:
    ordered = low <= high
    if not ordered.all():
        bad = np.flatnonzero(~ordered)[0]
        raise ValueError(
            f"bounds of a reward are {low[bad]} and {high[bad]}; check the reward model and its features."
        )

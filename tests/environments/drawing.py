"""What tests of environments and their wrappers compare: every column that a draw gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.environments.protocol import Drawable, PotentialOutcomes


def columns(outcomes: PotentialOutcomes) -> list[Floats]:
    """All arrays of a draw; no mask is one that bars nothing."""
    contexts = outcomes.contexts
    eligible = np.ones(outcomes.means.shape) if contexts.eligible is None else contexts.eligible
    parts: list[Any] = [contexts.shared, contexts.actions, eligible, outcomes.means, outcomes.rewards]
    rounds: list[Any] = [outcomes.final_round, outcomes.reward_round]
    return [np.asarray(part, dtype=np.float64) for part in (*parts, *rounds) if part is not None]


def same(first: PotentialOutcomes, second: PotentialOutcomes) -> bool:
    pairs = zip(columns(first), columns(second), strict=True)
    return all(np.array_equal(one, other) for one, other in pairs)


def assert_same_however_cut(environment: Drawable, start: int, first: int, second: int, seed: int) -> None:
    """Rounds start.. in one draw are those of two draws, of `first` and `second` rounds."""
    middle, stop = start + first, start + first + second
    whole = columns(environment.draw(start, stop, seed))
    left, right = (
        columns(environment.draw(start, middle, seed)),
        columns(environment.draw(middle, stop, seed)),
    )
    for all_rows, *halves in zip(whole, left, right, strict=True):
        assert len(all_rows) == stop - start
        assert np.array_equal(all_rows, np.concatenate(halves))

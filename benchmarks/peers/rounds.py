"""The rounds that every library plays, and whether it learned from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.environments import PotentialOutcomes
from benchmarks.rows import NotRun
from gyrfalcon.core.arrays import Floats

LEAST_LEARNED = 0.2


@dataclass(frozen=True, slots=True)
class Rounds:
    """n rounds of an environment: contexts (n, p), expected and realised rewards of all actions (n, K)."""

    X: Floats
    means: Floats
    rewards: Floats

    @staticmethod
    def of(outcomes: PotentialOutcomes, n: int, seed: int = 0) -> Rounds:
        drawn = outcomes.draw(0, n, seed)
        return Rounds(drawn.contexts.shared, drawn.means, drawn.rewards)

    @property
    def n_actions(self) -> int:
        return int(self.rewards.shape[1])


Play = Callable[[], list[float]]
"""A new learner plays all rounds and says what it earned in each."""
Library = Callable[[Rounds], Play]
"""Gets rounds ready in the form that a library wants them; that is not timed."""


def learned(play: Play, rounds: Rounds) -> str:
    """How far the learner came from uniform play to the best, over the second half of its rounds.

    A loop that does not learn is broken, and its time means nothing.
    """
    half = len(rounds.X) // 2
    uniform, best = rounds.means[half:].mean(), rounds.means[half:].max(axis=1).mean()
    share = (np.mean(play()[half:]) - uniform) / (best - uniform)
    if share < LEAST_LEARNED:
        raise NotRun(f"it learned only {share:.0%} of what there is to learn.")
    return f"theirs learned {share:.0%} of what there is to learn"

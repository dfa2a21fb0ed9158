"""Coba's own learners in its own evaluator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from benchmarks.regret.players import Sums
from benchmarks.regret.rounds import Rounds

FEATURES = (1, "a", "ax")
"""An intercept and slopes per action: the model of all the other players."""


@dataclass(frozen=True, slots=True)
class CobaLearner:
    """A learner of coba by its name, with its own settings; all get the features above."""

    learner: str
    settings: tuple[tuple[str, float], ...] = ()

    def play(self, rounds: Rounds, seed: int) -> Sums:
        """What it earns."""
        import coba

        # Its seed of 0 would mean that there is none.
        learner: Any = getattr(coba, self.learner)(features=FEATURES, seed=seed + 1, **dict(self.settings))
        evaluator = coba.SequentialCB(record=["action"], seed=seed + 1)
        results = evaluator.evaluate(_Simulation(rounds), learner)
        return Sums.of(rounds, np.array([np.argmax(result["action"]) for result in results]))


class _Simulation:
    """Rounds as interactions; actions are unit vectors, so that each has coefficients of its own."""

    params: ClassVar[dict[str, object]] = {}

    def __init__(self, rounds: Rounds) -> None:
        n = rounds.n_actions
        self._actions = [tuple(int(other == action) for other in range(n)) for action in range(n)]
        self._rounds = rounds

    def read(self) -> Iterator[object]:
        from coba import SimulatedInteraction

        for x, rewards in zip(self._rounds.X.tolist(), self._rounds.rewards.tolist(), strict=True):
            yield SimulatedInteraction(tuple(x), self._actions, rewards)

"""MABWiser: `predict` and `partial_fit` of its linear policies, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from benchmarks.regret.players import Sums, played
from benchmarks.regret.rounds import Rounds
from gyrfalcon.core.arrays import Floats, Ints


@dataclass(frozen=True, slots=True)
class Mabwiser:
    """A linear policy of `MAB`, whose parameter is the alpha of LinUCB and LinTS, or an epsilon."""

    policy: Literal["LinUCB", "LinTS", "LinGreedy"]
    parameter: float

    def play(self, rounds: Rounds, seed: int) -> Sums:
        """What it earns."""
        return played(_Mab(self, rounds, seed), rounds)


class _Mab:
    """It predicts only after a fit, so that the first K rounds take turns; its models have no intercept."""

    def __init__(self, settings: Mabwiser, rounds: Rounds, seed: int) -> None:
        from mabwiser.mab import MAB, LearningPolicy

        name = "epsilon" if settings.policy == "LinGreedy" else "alpha"
        policy: Any = getattr(LearningPolicy, settings.policy)(**{name: settings.parameter})
        self._mab = MAB(arms=list(range(rounds.n_actions)), learning_policy=policy, seed=seed)
        self._n_first, self._n_seen = rounds.n_actions, 0
        self._first: list[tuple[Floats, int, float]] = []

    def decide(self, X: Floats) -> Ints:
        if self._n_seen < self._n_first:
            return np.array([self._n_seen])
        return np.atleast_1d(self._mab.predict(_with_one(X)))

    def learn(self, X: Floats, actions: Ints, rewards: Floats) -> None:
        self._n_seen += 1
        if self._n_seen > self._n_first:
            self._mab.partial_fit(actions, rewards, _with_one(X))
            return
        self._first.append((_with_one(X)[0], int(actions[0]), float(rewards[0])))
        if self._n_seen == self._n_first:
            contexts, chosen, earned = zip(*self._first, strict=True)
            self._mab.fit(np.array(chosen), np.array(earned), np.array(contexts))


def _with_one(X: Floats) -> Floats:
    return np.column_stack([np.ones(len(X)), X])

"""MABWiser: `predict` and `partial_fit` of its linear policies, row by row or in batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers.rounds import Play, Rounds

ALPHA = 0.1
EPSILON = 0.05


def linucb(rounds: Rounds, batch: int = 1) -> Play:
    from mabwiser.mab import LearningPolicy

    return _play(rounds, batch, lambda: LearningPolicy.LinUCB(alpha=ALPHA))


def greedy(rounds: Rounds, batch: int = 1) -> Play:
    from mabwiser.mab import LearningPolicy

    return _play(rounds, batch, lambda: LearningPolicy.LinGreedy(epsilon=EPSILON))


def _play(rounds: Rounds, batch: int, policy: Callable[[], Any]) -> Play:
    from mabwiser.mab import MAB

    n, K = rounds.rewards.shape
    X = np.column_stack([np.ones(n), rounds.X])
    rows, first = np.arange(n), max(batch, K)

    def play() -> list[float]:
        mab = MAB(arms=list(range(K)), learning_policy=policy(), seed=1)
        # It predicts only after a fit: the first rounds take turns.
        actions = rows[:first] % K
        r = rounds.rewards[rows[:first], actions]
        mab.fit(actions, r, X[:first])
        earned: list[float] = r.tolist()
        for start in range(first, n, batch):
            chosen = rows[start : start + batch]
            actions = np.atleast_1d(mab.predict(X[chosen]))
            r = rounds.rewards[chosen, actions]
            mab.partial_fit(actions, r, X[chosen])
            earned.extend(r.tolist())
        return earned

    return play

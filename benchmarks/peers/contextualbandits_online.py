"""contextualbandits: `predict` and `partial_fit` of its LinUCB, row by row or in batches."""

from __future__ import annotations

from typing import Literal

import numpy as np

from benchmarks.peers.rounds import Play, Rounds

ALPHA = 0.1


def linucb(rounds: Rounds, batch: int = 1) -> Play:
    from contextualbandits.online import LinUCB

    # Its documentation: updates of the inverse for few rows at a time, Cholesky for many.
    method: Literal["sm", "chol"] = "sm" if batch == 1 else "chol"
    X, rewards = np.ascontiguousarray(rounds.X), rounds.rewards

    def play() -> list[float]:
        policy = LinUCB(
            rounds.n_actions, alpha=ALPHA, use_float=False, method=method, random_state=1, njobs=1
        )
        earned: list[float] = []
        for start in range(0, len(X), batch):
            x = X[start : start + batch]
            actions = policy.predict(x).astype(np.int64)
            r = rewards[np.arange(start, start + len(x)), actions]
            policy.partial_fit(x, actions, r)
            earned.extend(r.tolist())
        return earned

    return play

"""bayesianbandits: `pull` and `update` of its contextual agent, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from benchmarks.regret.players import Sums, played
from benchmarks.regret.rounds import Rounds
from gyrfalcon.core.arrays import Floats, Ints


@dataclass(frozen=True, slots=True)
class BayesianAgent:
    """Conjugate linear regressions, one per action, and a policy over their posteriors.

    `scale` is the deviation of the noise, and of coefficients beforehand, so that the posterior is that of
    LinTS with a ridge of 1; None learns it (normal-inverse-gamma, with the library's own prior). `quantile`
    is the one that UpperConfidenceBound plays.
    """

    policy: Literal["ThompsonSampling", "UpperConfidenceBound"]
    scale: float | None = None
    quantile: float = 0.68

    def play(self, rounds: Rounds, seed: int) -> Sums:
        """What it earns."""
        return played(_Agent(self, rounds.n_actions, seed), rounds)


class _Agent:
    """Its models have no intercept, so that a column of ones is added."""

    def __init__(self, settings: BayesianAgent, n_actions: int, seed: int) -> None:
        import bayesianbandits as bb

        def learner() -> Any:
            if settings.scale is None:
                return bb.NormalInverseGammaRegressor()
            return bb.NormalRegressor(alpha=settings.scale**-2, beta=settings.scale**-2)

        policy: Any = bb.ThompsonSampling()
        if settings.policy == "UpperConfidenceBound":
            policy = bb.UpperConfidenceBound(alpha=settings.quantile)
        actions = [bb.Arm(action, learner=learner()) for action in range(n_actions)]
        self._agent = bb.ContextualAgent(actions, policy, random_seed=seed)

    def decide(self, X: Floats) -> Ints:
        return np.array(self._agent.pull(_with_one(X)))

    def learn(self, X: Floats, actions: Ints, rewards: Floats) -> None:
        self._agent.select_for_update(int(actions[0])).update(_with_one(X), rewards)


def _with_one(X: Floats) -> Floats:
    return np.column_stack([np.ones(len(X)), X])

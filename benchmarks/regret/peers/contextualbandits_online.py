"""contextualbandits: `predict` and `partial_fit` of its online policies, in batches as in its guide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from benchmarks.regret.players import Sums, played
from benchmarks.regret.rounds import Rounds
from gyrfalcon.core.arrays import Floats, Ints

BATCH = 50
"""Of the streaming models in its guide to online bandits."""


@dataclass(frozen=True, slots=True)
class LinearPolicy:
    """Its own linear models, updated row by row; the parameter is LinUCB's alpha, or LinTS's v squared."""

    policy: Literal["LinUCB", "LinTS"]
    parameter: float

    def play(self, rounds: Rounds, seed: int) -> Sums:
        """What it earns."""
        return played(_Policy(self._new(rounds.n_actions, seed)), rounds)

    def _new(self, n_actions: int, seed: int) -> Any:
        from contextualbandits import online

        # Its documentation: updates of the inverse are for few rows at a time.
        common: Any = {"use_float": False, "method": "sm", "random_state": seed + 1, "njobs": 1}
        if self.policy == "LinUCB":
            return online.LinUCB(n_actions, alpha=self.parameter, **common)
        # Drawing coefficients, the default, earned no more than uniform play in version 0.3.30.
        return online.LinTS(n_actions, v_sq=self.parameter, sample_from="ci", **common)


@dataclass(frozen=True, slots=True)
class ClassifierPolicy:
    """A policy over logistic regressions by stochastic gradient descent, learning in batches of 50.

    Rewards must be 0 and 1. `settings` are the policy's own.
    """

    policy: Literal["BootstrappedUCB", "AdaptiveGreedy"]
    settings: tuple[tuple[str, float], ...] = ()

    def play(self, rounds: Rounds, seed: int) -> Sums:
        """What it earns."""
        return played(_Policy(self._new(rounds.n_actions, seed)), rounds, BATCH)

    def _new(self, n_actions: int, seed: int) -> Any:
        from contextualbandits import online
        from sklearn.linear_model import SGDClassifier

        base = SGDClassifier(loss="log_loss", random_state=seed + 1)
        settings = {"batch_train": True, "random_state": seed + 1, **dict(self.settings)}
        return getattr(online, self.policy)(base, n_actions, **settings)


class _Policy:
    """A policy of the library; all of them begin with actions drawn by their priors, from a seed above 0."""

    def __init__(self, policy: Any) -> None:
        self._policy = policy

    def decide(self, X: Floats) -> Ints:
        return np.asarray(self._policy.predict(np.ascontiguousarray(X))).astype(np.int64)

    def learn(self, X: Floats, actions: Ints, rewards: Floats) -> None:
        self._policy.partial_fit(np.ascontiguousarray(X), actions, rewards)

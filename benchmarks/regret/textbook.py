"""LinUCB as it stands in textbooks: it learns from every row at once, on features as they are.

Ours is refitted in batches, on features that it standardises, after a first batch of uniform play: this one
shows what that costs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.regret.players import Sums, played
from benchmarks.regret.rounds import Rounds
from gyrfalcon.core.arrays import Floats, Ints


@dataclass(frozen=True, slots=True)
class TextbookLinUCB:
    """A ridge regression for each action, and the largest estimate plus alpha widths; of equals, any."""

    alpha: float
    ridge: float = 1.0
    n_uniform: int | None = None
    """So many rounds of uniform play come first; None for each action in turn."""

    def play(self, rounds: Rounds, seed: int) -> Sums:
        """What it earns."""
        return played(_Learner(self, rounds, seed), rounds)


class _Learner:
    def __init__(self, settings: TextbookLinUCB, rounds: Rounds, seed: int) -> None:
        self._settings, self._rng = settings, np.random.default_rng(seed)
        width, self._n_actions = rounds.X.shape[1] + 1, rounds.n_actions
        self._inverses = np.tile(np.eye(width) / settings.ridge, (self._n_actions, 1, 1))
        self._sums = np.zeros((self._n_actions, width))
        self._n_seen = 0

    def decide(self, X: Floats) -> Ints:
        n_uniform = self._settings.n_uniform
        if n_uniform is None and self._n_seen < self._n_actions:
            return np.array([self._n_seen])
        if n_uniform is not None and self._n_seen < n_uniform:
            return self._rng.integers(self._n_actions, size=1)
        upper = self.upper(X[0])
        return self._rng.choice(np.flatnonzero(upper >= upper.max() - 1e-12), size=1)

    def upper(self, x: Floats) -> Floats:
        """The upper confidence bound of each action, (K,)."""
        phi = np.concatenate([[1.0], x])
        known = self._inverses @ phi
        bounds: Floats = (known * self._sums).sum(axis=1) + self._settings.alpha * np.sqrt(known @ phi)
        return bounds

    def learn(self, X: Floats, actions: Ints, rewards: Floats) -> None:
        """Sherman and Morrison's rule."""
        phi, action = np.concatenate([[1.0], X[0]]), int(actions[0])
        step = self._inverses[action] @ phi
        self._inverses[action] -= np.outer(step, step) / (1.0 + phi @ step)
        self._sums[action] += rewards[0] * phi
        self._n_seen += 1

"""What a player is: settings that play rounds, and say how much was earned until when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from benchmarks.regret.rounds import Rounds
from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.simulation.replications import simulate


@dataclass(frozen=True, slots=True)
class Sums:
    """Cumulative reward and expected regret after half, three quarters and all of the rounds."""

    rounds: Ints
    reward: Floats
    regret: Floats

    @staticmethod
    def of(rounds: Rounds, actions: Ints) -> Sums:
        """What these actions add up to."""
        ends = cuts(len(rounds))
        reward, regret = np.cumsum(rounds.earned(actions)), np.cumsum(rounds.regret(actions))
        return Sums(ends, reward[ends - 1], regret[ends - 1])

    def reward_from(self, share: float) -> float:
        """Mean reward of the rounds after this share of them: 0, 1/2 or 3/4."""
        return self._from(self.reward, share)

    def regret_from(self, share: float) -> float:
        """Mean expected regret of the rounds after this share of them: 0, 1/2 or 3/4."""
        return self._from(self.regret, share)

    def _from(self, sums: Floats, share: float) -> float:
        first = {0.0: None, 0.5: 0, 0.75: 1}[share]
        before, start = (0.0, 0) if first is None else (sums[first], self.rounds[first])
        return float((sums[-1] - before) / (self.rounds[-1] - start))


def cuts(n_rounds: int) -> Ints:
    """Half, three quarters and all of the rounds.

    >>> cuts(1000).tolist()
    [500, 750, 1000]
    """
    if n_rounds < 4:
        raise ValueError(f"n_rounds is {n_rounds}; a run has a last quarter from 4 rounds on.")
    return np.array([n_rounds // 2, n_rounds - n_rounds // 4, n_rounds])


class Player(Protocol):
    """Frozen settings, whose `repr` names them, that can play."""

    def play(self, rounds: Rounds, seed: int) -> Sums:
        """What a new learner with these settings earns; the seed is that of its own randomness."""
        ...


@dataclass(frozen=True, slots=True)
class Ours:
    """A learner of this package, through `simulate`."""

    learner: Learner

    def play(self, rounds: Rounds, seed: int) -> Sums:
        """What it earns."""
        ends = cuts(len(rounds))
        trace = simulate(self.learner, rounds, len(rounds), seed=seed, checkpoints=ends)
        return Sums(ends, trace.reward[0], trace.regret[0])


class Online(Protocol):
    """A learner that decides and learns rows one by one, or some at a time."""

    def decide(self, X: Floats) -> Ints:
        """The actions for (n, p) contexts."""
        ...

    def learn(self, X: Floats, actions: Ints, rewards: Floats) -> None:
        """What these actions have earned: those of the last decision."""
        ...


def played(learner: Online, rounds: Rounds, batch: int = 1) -> Sums:
    """What a learner earns that sees its rewards after each batch, and no others."""
    actions = np.zeros(len(rounds), dtype=np.int64)
    for start in range(0, len(rounds), batch):
        rows = slice(start, start + batch)
        X = rounds.X[rows]
        actions[rows] = learner.decide(X)
        rewards = rounds.rewards[np.arange(start, start + len(X)), actions[rows]]
        learner.learn(X, actions[rows], rewards)
    return Sums.of(rounds, actions)

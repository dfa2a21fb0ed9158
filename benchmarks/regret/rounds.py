"""The rounds that all players meet: drawn once, the same contexts and potential rewards for each."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.environments.protocol import Environment, PotentialOutcomes


@dataclass(frozen=True)
class Rounds:
    """n rounds: contexts (n, p), expected and realised rewards of all actions (n, K), features of actions."""

    problem: Problem
    X: Floats
    means: Floats
    rewards: Floats
    actions: Floats | None = None
    """Features of actions, (n, K, q); only our own learners are shown them."""

    @staticmethod
    def of(environment: Environment, n_rounds: int, seed: int) -> Rounds:
        """The first rounds of an environment under this seed, which nobody can write to."""
        outcomes = environment.draw(0, n_rounds, seed)
        contexts = outcomes.contexts
        X, means, rewards = (np.array(part) for part in (contexts.shared, outcomes.means, outcomes.rewards))
        for column in (X, means, rewards):
            column.setflags(write=False)
        return Rounds(environment.problem, X, means, rewards, contexts.actions)

    def __len__(self) -> int:
        return len(self.X)

    @property
    def n_actions(self) -> int:
        """K."""
        return int(self.rewards.shape[1])

    @property
    def is_binary(self) -> bool:
        """Whether all rewards are 0 or 1."""
        return bool(np.isin(self.rewards, (0.0, 1.0)).all())

    @cached_property
    def digest(self) -> str:
        """Names what was drawn: results of other rounds are never paired with these."""
        hashed = hashlib.sha256()
        for column in self._columns:
            hashed.update(repr(column.shape).encode() + np.ascontiguousarray(column).tobytes())
        return hashed.hexdigest()[:16]

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        """Rounds start..stop-1 for `simulate`, whatever the seed: they have been drawn."""
        del seed
        here = slice(start, stop)
        actions = None if self.actions is None else self.actions[here]
        return PotentialOutcomes(Contexts(self.X[here], actions), self.means[here], self.rewards[here])

    def earned(self, actions: Ints) -> Floats:
        """What these actions earn, (n,)."""
        rows: Floats = self.rewards[np.arange(len(self)), actions]
        return rows

    def regret(self, actions: Ints) -> Floats:
        """By how much they are expected to fall behind the best ones, (n,)."""
        return self._best_worth - self._worth[np.arange(len(self)), actions]

    @property
    def uniform_regret(self) -> Floats:
        """By how much uniform play is expected to fall behind the best actions, (n,)."""
        behind: Floats = self._best_worth - self._worth.mean(axis=1)
        return behind

    @property
    def _worth(self) -> Floats:
        """Expected rewards, or costs times -1, (n, K)."""
        return -self.means if self.problem.cost else self.means

    @property
    def _best_worth(self) -> Floats:
        best: Floats = self._worth.max(axis=1)
        return best

    @property
    def _columns(self) -> list[Floats]:
        known = [self.X, self.means, self.rewards]
        return known if self.actions is None else [*known, self.actions]

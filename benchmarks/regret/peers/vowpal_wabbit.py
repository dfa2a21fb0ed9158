"""Vowpal Wabbit: a prediction, a draw and a lesson a round, from text as its documentation feeds it."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Literal

import numpy as np

from benchmarks.regret.players import Sums, played
from benchmarks.regret.rounds import Rounds
from gyrfalcon.core.arrays import Floats, Ints

Costs = Literal["-r", "1-r"]


@dataclass(frozen=True, slots=True)
class Wabbit:
    """A command of `--cb_explore_adf` with one linear model per action.

    Costs are "-r", so -1 and 0 for rewards 1 and 0, or "1-r" clipped to [0, 1], the range that regcb needs.
    """

    options: str
    costs: Costs = "-r"

    def play(self, rounds: Rounds, seed: int) -> Sums:
        """What it earns."""
        return played(_Workspace(self, rounds, seed), rounds)


class _Workspace:
    """A workspace and the text of the round that it has just decided."""

    def __init__(self, settings: Wabbit, rounds: Rounds, seed: int) -> None:
        from vowpalwabbit import Workspace

        command = f"--cb_explore_adf -q sa {settings.options} --random_seed {seed + 1} --quiet"
        self._workspace = Workspace(command)
        self._costs = settings.costs
        # Names that are whole numbers would be taken for hashes.
        self._context = "shared |s " + " ".join(f"f{feature}:%g" for feature in range(rounds.X.shape[1]))
        self._actions = [f"|a a{action}" for action in range(rounds.n_actions)]
        self._random = Random(seed)
        self._lines: list[str] = []
        self._propensity = 1.0

    def decide(self, X: Floats) -> Ints:
        self._lines = [self._context % tuple(X[0].tolist()), *self._actions]
        probabilities = self._workspace.predict("\n".join(self._lines))
        action = drawn(probabilities, self._random.random())
        self._propensity = probabilities[action]
        return np.array([action])

    def learn(self, X: Floats, actions: Ints, rewards: Floats) -> None:
        del X
        action, reward = int(actions[0]), float(rewards[0])
        cost = -reward if self._costs == "-r" else min(max(1.0 - reward, 0.0), 1.0)
        self._lines[1 + action] = f"0:{cost:g}:{self._propensity:g} {self._actions[action]}"
        self._workspace.learn("\n".join(self._lines))


def drawn(probabilities: list[float], uniform: float) -> int:
    """The action that a uniform number picks; the sum of probabilities may round to less than 1."""
    for action, probability in enumerate(probabilities):
        uniform -= probability
        if uniform < 0.0:
            return action
    return int(np.argmax(probabilities))

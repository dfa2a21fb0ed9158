"""Players whose results can be worked out by hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from benchmarks.regret.cells import Cell, Result
from benchmarks.regret.contestants import Contestant
from benchmarks.regret.environments import PLACES
from benchmarks.regret.players import Player, Sums
from benchmarks.regret.rounds import Rounds

from gyrfalcon.core.arrays import Floats, Ints


@dataclass(frozen=True, slots=True)
class Always:
    """Plays one action, and writes down that it did so."""

    action: int
    diary: str | None = None

    def play(self, rounds: Rounds, seed: int) -> Sums:
        if self.diary is not None:
            with Path(self.diary).open("a") as file:
                file.write(f"{seed}\n")
        return Sums.of(rounds, np.full(len(rounds), self.action))


@dataclass(frozen=True, slots=True)
class Broken:
    """Fails."""

    def play(self, rounds: Rounds, seed: int) -> Sums:
        raise ArithmeticError(f"seed {seed} of {len(rounds)} rounds is too much.")


@dataclass
class Watching:
    """Takes turns, and remembers all that it was shown."""

    n_actions: int
    n_decided: int = 0
    contexts: list[Floats] = field(default_factory=list)
    lessons: list[tuple[Floats, Ints, Floats]] = field(default_factory=list)

    def decide(self, X: Floats) -> Ints:
        self.contexts.append(X.copy())
        actions = (self.n_decided + np.arange(len(X))) % self.n_actions
        self.n_decided += len(X)
        return actions

    def learn(self, X: Floats, actions: Ints, rewards: Floats) -> None:
        self.lessons.append((X.copy(), actions.copy(), rewards.copy()))


def contestant(player: Player, name: str = "somebody", package: str = "gyrfalcon") -> Contestant:
    return Contestant(name, package, player, (0.1, 0.1, 0.1))


def cell(player: Player, seed: int = 0, name: str = "somebody", package: str = "gyrfalcon") -> Cell:
    return Cell(contestant(player, name, package), PLACES["section 1.1"], 40, seed)


def result(
    name: str, environment: str, seed: int, reward: float, rounds: str = "same", seconds: float = 1.0
) -> Result:
    """A result made up."""
    return Result(
        contestant=name,
        player=name,
        package="gyrfalcon",
        version="1",
        code="code",
        environment=environment,
        kind="real",
        content=environment,
        n_actions=2,
        n_features=1,
        n_rounds=100,
        seed=seed,
        rounds=rounds,
        reward=reward,
        reward_second_half=reward,
        reward_last_quarter=reward,
        regret=1.0 - reward,
        regret_second_half=1.0 - reward,
        regret_last_quarter=None,
        uniform_regret=1.0,
        uniform_regret_second_half=1.0,
        seconds=seconds,
    )

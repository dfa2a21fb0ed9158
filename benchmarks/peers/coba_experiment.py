"""Coba's own evaluator with its own learners."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from benchmarks.peers.rounds import Play, Rounds

ALPHA = 0.1


def linucb(rounds: Rounds) -> Play:
    from coba import LinUCBLearner

    return _play(rounds, lambda: LinUCBLearner(alpha=ALPHA))


def squarecb(rounds: Rounds) -> Play:
    """Through Vowpal Wabbit."""
    from coba import VowpalSquarecbLearner

    return _play(rounds, VowpalSquarecbLearner)


def _play(rounds: Rounds, learner: Any) -> Play:
    from coba import SequentialCB

    environment = _Simulation(rounds)

    def play() -> list[float]:
        results = SequentialCB(record=["reward"]).evaluate(environment, learner())
        return [float(result["reward"]) for result in results]

    return play


class _Simulation:
    """Rounds as interactions; actions are unit vectors, so that each has coefficients of its own."""

    params: ClassVar[dict[str, object]] = {}

    def __init__(self, rounds: Rounds) -> None:
        n = rounds.n_actions
        self._actions = [tuple(int(other == action) for other in range(n)) for action in range(n)]
        self._given = list(zip(map(tuple, rounds.X.tolist()), rounds.rewards.tolist(), strict=True))

    def read(self) -> Iterator[object]:
        from coba import SimulatedInteraction

        for x, rewards in self._given:
            yield SimulatedInteraction(x, self._actions, rewards)

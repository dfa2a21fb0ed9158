"""LinUCB on random Fourier features: one fixed nonlinear class beside those chosen from the data."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from benchmarks.regret.players import Ours, Sums
from benchmarks.regret.rounds import Rounds
from gyrfalcon.core.schedules import Schedule
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.oracles.features.smooth import RandomFourier
from gyrfalcon.oracles.linear.linear import Linear


@dataclass(frozen=True, slots=True)
class FourierLinUCB:
    """LinUCB on random Fourier features as long as sqrt(p), the distance of standardised contexts."""

    alpha: float
    n_features: int
    schedule: Schedule

    def play(self, rounds: Rounds, seed: int) -> Sums:
        """What it earns."""
        basis = RandomFourier(n_features=self.n_features, length_scale=sqrt(rounds.X.shape[1]))
        learner = LinUCB(alpha=self.alpha, schedule=self.schedule, model_class=Linear(basis=basis))
        return Ours(learner).play(rounds, seed)

"""Who has less regret: paired over seeds, in which all learners meet the same luck."""

from __future__ import annotations

from gyrfalcon.environments.environment import Environment
from gyrfalcon.experiments.simulate import simulate
from gyrfalcon.learners.epsilon_greedy import EpsilonGreedy
from gyrfalcon.learners.learner import Learner
from gyrfalcon.learners.uniform import Uniform

BASELINES: tuple[Learner, ...] = (Uniform(), EpsilonGreedy())


def beats(
    learner: Learner, world: Environment, n_rounds: int, others: tuple[Learner, ...] = BASELINES
) -> bool:
    """Whether regret is smaller than everyone's with each of 10 seeds.

    A sign test: of learners that are equal, 1 in 1024 would pass.
    """
    return all(
        _regret(learner, world, n_rounds, seed) < min(_regret(one, world, n_rounds, seed) for one in others)
        for seed in range(10)
    )


def _regret(learner: Learner, world: Environment, n_rounds: int, seed: int) -> float:
    return float(simulate(learner, world, n_rounds, seed).regret.sum())

"""Learners that meet the same luck: their regret, seed by seed."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.types import Floats
from gyrfalcon.environments.environment import Environment
from gyrfalcon.experiments.simulate import simulate
from gyrfalcon.learners.learner import Learner

SEEDS = range(8)


def regrets(learner: Learner, world: Environment, n_rounds: int) -> Floats:
    """The cumulative regret of each seed, (8,)."""
    return np.array([simulate(learner, world, n_rounds, seed).regret.sum() for seed in SEEDS])


def assert_always_ahead(learner: Learner, others: list[Learner], world: Environment, n_rounds: int) -> None:
    """Less regret than every other one in all 8 seeds: by luck alone once in 2^8 = 256 times for each."""
    ours = regrets(learner, world, n_rounds)
    for other in others:
        theirs = regrets(other, world, n_rounds)
        assert (ours < theirs).all(), (other, ours.round(1), theirs.round(1))

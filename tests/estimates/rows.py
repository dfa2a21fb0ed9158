"""Passive rows of small environments whose misspecification is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import PASSIVE, Log
from gyrfalcon.environments.population.best_in_class import misspecification
from gyrfalcon.environments.population.population import Population
from gyrfalcon.estimates.misspecification.result import MisspecificationEstimate
from gyrfalcon.oracles.linear.linear import Linear

Rng = np.random.Generator
LEVELS = np.arange(5) / 4
"""Contexts that recur."""


def passive_log(x: Any, action: Any, reward: Any) -> Log:
    """Rows of uniform play over two actions."""
    n = len(action)
    zeros = np.zeros(n, dtype=np.int64)
    contexts = Contexts(np.ascontiguousarray(x, dtype=np.float64))
    return Log(
        contexts,
        np.asarray(action),
        np.asarray(reward),
        np.full(n, 0.5),
        zeros,
        np.arange(n),
        zeros + PASSIVE,
    )


def drawn(rng: Rng, x: Floats, means: Floats, noise: float | None) -> Log:
    """Uniform play; normal noise of so much deviation, or rewards of 0 and 1."""
    n, n_actions = means.shape
    action = rng.integers(0, n_actions, n)
    mean = means[np.arange(n), action]
    reward = (rng.random(n) < mean) * 1.0 if noise is None else mean + noise * rng.standard_normal(n)
    return passive_log(x, action, reward)


def step_means(x: Floats, height: float = 1.0) -> Floats:
    """Section 1.1, with another height: b = height^2 / 32."""
    return np.stack([0.5 + height * ((x > 0.5) - 0.5), np.full(len(x), 0.5)], axis=1)


def step_log(rng: Rng, n: int = 1000, height: float = 1.0, noise: float | None = 0.1) -> Log:
    x = rng.random(n)
    return drawn(rng, x[:, np.newaxis], step_means(x, height), noise)


def line_log(rng: Rng, n: int = 1000, d: int = 1, noise: float | None = 0.1) -> Log:
    x = rng.random((n, d))
    return drawn(rng, x, np.stack([0.2 + 0.6 * x[:, 0], 0.9 - 0.8 * x[:, -1]], axis=1), noise)


def recurring_means(x: Floats, bend: float) -> Floats:
    return np.stack([0.5 + bend * np.sin(6 * x), 0.3 + 0.4 * x], axis=1)


def recurring_log(rng: Rng, n: int, bend: float, noise: float | None) -> Log:
    x = LEVELS[rng.integers(0, len(LEVELS), n)]
    return drawn(rng, x[:, np.newaxis], recurring_means(x, bend), noise)


def recurring_b(bend: float) -> float:
    population = Population.finite(Contexts(LEVELS[:, np.newaxis]), recurring_means(LEVELS, bend))
    return misspecification(population, Linear()).b if bend else 0.0


def repeated(
    estimate: Callable[[Rng], MisspecificationEstimate], n_repetitions: int
) -> list[MisspecificationEstimate]:
    return [estimate(np.random.default_rng([7, seed])) for seed in range(n_repetitions)]


def coverage(found: list[MisspecificationEstimate], b: float) -> float:
    return float(np.mean([one.lower <= b <= one.upper for one in found]))


def mean_and_deviation(found: list[MisspecificationEstimate]) -> tuple[float, float]:
    values = [one.untruncated for one in found]
    return float(np.mean(values)), float(np.std(values))

"""Every estimator once more, in plain Python from the formulas of the papers, and logs to try them on."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from gyrfalcon.core.arrays import Floats, Ints


@dataclass(frozen=True)
class Rows:
    """What estimators take."""

    rewards: Floats
    actions: Ints
    propensities: Floats
    target: Floats
    predictions: Floats

    @property
    def log(self) -> tuple[Floats, Ints, Floats, Floats]:
        return self.rewards, self.actions, self.propensities, self.target

    @property
    def all(self) -> tuple[Floats, Ints, Floats, Floats, Floats]:
        return *self.log, self.predictions

    def take(self, rows: Ints) -> Rows:
        return Rows(
            self.rewards[rows],
            self.actions[rows],
            self.propensities[rows],
            self.target[rows],
            self.predictions[rows],
        )


def random_rows(seed: int, n: int, n_actions: int) -> Rows:
    """Rewards of both signs; some actions that the target never takes."""
    rng = np.random.default_rng(seed)
    target = rng.dirichlet(np.ones(n_actions), n)
    certain = rng.random(n) < 0.2
    target[certain] = np.eye(n_actions)[rng.integers(0, n_actions, certain.sum())]
    return Rows(
        rewards=rng.normal(size=n),
        actions=rng.integers(0, n_actions, n),
        propensities=rng.uniform(0.05, 1.0, n),
        target=target,
        predictions=rng.normal(size=(n, n_actions)),
    )


some_rows = st.builds(random_rows, st.integers(0, 10**6), st.integers(1, 30), st.integers(1, 5))


def weight(rows: Rows, i: int) -> float:
    return float(rows.target[i, rows.actions[i]]) / float(rows.propensities[i])


def weights(rows: Rows) -> list[float]:
    return [weight(rows, i) for i in range(len(rows.rewards))]


def value_dm(rows: Rows) -> float:
    total = 0.0
    for chances, predicted in zip(rows.target.tolist(), rows.predictions.tolist(), strict=True):
        for chance, reward in zip(chances, predicted, strict=True):
            total += chance * reward
    return total / len(rows.rewards)


def value_ips(rows: Rows, w: list[float]) -> float:
    return sum(w[i] * float(rows.rewards[i]) for i in range(len(w))) / len(w)


def value_snips(rows: Rows, w: list[float]) -> float:
    return value_ips(rows, w) * len(w) / sum(w)


def residual(rows: Rows, i: int) -> float:
    return float(rows.rewards[i]) - float(rows.predictions[i, rows.actions[i]])


def value_dr(rows: Rows, w: list[float]) -> float:
    return value_dm(rows) + sum(w[i] * residual(rows, i) for i in range(len(w))) / len(w)


def value_sndr(rows: Rows, w: list[float]) -> float:
    return value_dm(rows) + sum(w[i] * residual(rows, i) for i in range(len(w))) / sum(w)


def clipped(w: list[float], most: float) -> list[float]:
    return [min(one, most) for one in w]


def switched(w: list[float], most: float) -> list[float]:
    return [one if one <= most else 0.0 for one in w]


def optimistic(w: list[float], shrinkage: float) -> list[float]:
    return [shrinkage / (one**2 + shrinkage) * one if one > 0.0 else 0.0 for one in w]


def harmonic(w: list[float], shrinkage: float) -> list[float]:
    """Metelli et al.: the harmonic mean of w and 1, with weights 1 - shrinkage and shrinkage."""
    return [1.0 / ((1.0 - shrinkage) / one + shrinkage) if one > 0.0 else 0.0 for one in w]


def standard_error_of_snips(rows: Rows, w: list[float]) -> float:
    value = value_snips(rows, w)
    squares = sum((w[i] * (float(rows.rewards[i]) - value)) ** 2 for i in range(len(w)))
    return math.sqrt(squares) / sum(w)

"""Epsilon-FALCON as one would type it for one experiment: arrays, no checks, no objects, nothing kept.

The algorithm, its constants and the environments are those of `EpsilonFalcon()` in `StepExample` and
`LinearEnvironment`. Whole epochs are arrays, cut into pieces that stay in the processor's cache. Scores and
rewards have actions first, as a maximum or a sum over actions is then one of long rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from benchmarks.constrained_by_hand import Sums, constrained
from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.environments.synthetic.families import LinearEnvironment

PIECE = 1 << 13
EPSILON, DELTA, TAU_1, C_GAMMA = 0.05, 0.05, 100, 10.0
NOISE = 0.1


@dataclass(frozen=True, slots=True)
class Setting:
    """Features with a leading 1, (n, d), and expected rewards, (K, n), of n rounds."""

    n_actions: int
    width: int
    draw: Callable[[Generator, int], tuple[Floats, Floats]]


def step_setting() -> Setting:
    """Section 1.1 of the paper."""

    def draw(rng: Generator, n: int) -> tuple[Floats, Floats]:
        X, means = np.ones((n, 2)), np.full((2, n), 0.5)
        X[:, 1] = x = rng.random(n)
        means[0] = x > 0.5
        return X, means

    return Setting(2, 2, draw)


def linear_setting(environment: LinearEnvironment) -> Setting:
    """The lines of an environment."""
    offset, slopes = (
        0.5 + 0.5 * environment.linear_part.intercepts[:, None],
        0.5 * environment.linear_part.slopes,
    )
    coefficients = np.concatenate([offset, slopes], axis=1)
    width = coefficients.shape[1]

    def draw(rng: Generator, n: int) -> tuple[Floats, Floats]:
        X = rng.random((n, width))
        X *= 2.0
        X -= 1.0
        X[:, 0] = 1.0
        return X, coefficients @ X.T

    return Setting(environment.n_actions, width, draw)


def cumulative_regret(setting: Setting, n_rounds: int, seed: int) -> Floats:
    """Regret up to each round; rewards of all actions are drawn, as common random numbers of all learners."""
    rng = np.random.default_rng(seed)
    K, d = setting.n_actions, setting.width
    regret = np.empty(n_rounds)
    W, gamma = np.zeros((K, d)), 0.0
    start, stop, index, total, squares = 0, TAU_1, 1, 0.0, 0.0
    while start < n_rounds:
        sums = Sums.none(K, d), Sums.none(K, d)
        for passive, begin, end in _pieces(start, stop, n_rounds):
            n = end - begin
            X, means = setting.draw(rng, n)
            rewards = rng.standard_normal((K, n))
            rewards *= NOISE
            rewards += means
            uniforms = rng.random(n)
            action = (K * uniforms).astype(np.int64) if passive else _drawn(W @ X.T, gamma, uniforms)
            chosen = action * n + np.arange(n)
            regret[begin:end] = means.max(axis=0) - means.ravel().take(chosen)
            earned = rewards.ravel().take(chosen)
            sums[passive].add(X, action, earned)
            total, squares = total + float(earned.sum()), squares + float(earned @ earned)
        if stop < n_rounds:
            W = constrained(*sums, index, DELTA)
            spread = 2.0 * math.sqrt(squares / stop - (total / stop) ** 2)  # the unit of gaps
            gamma = C_GAMMA / spread * math.sqrt((stop - start) / (d * math.log(index / DELTA)))
        start, stop, index = stop, 2 * stop, index + 1
    return np.cumsum(regret, out=regret)


def _pieces(start: int, stop: int, n_rounds: int) -> Iterator[tuple[bool, int, int]]:
    """Active rounds, then the passive tail."""
    tail = stop - math.ceil(EPSILON * (stop - start))
    for passive, first, last in ((False, start, tail), (True, tail, stop)):
        for begin in range(first, min(last, n_rounds), PIECE):
            yield passive, begin, min(begin + PIECE, last, n_rounds)


def _drawn(scores: Floats, gamma: float, uniforms: Floats) -> Ints:
    """Actions by inverse gap weighting.

    Every action has 1 / (K + gamma gap), and the best one also what these leave of 1: a uniform beyond their
    sum is the best's.
    """
    K, n = scores.shape
    top = scores.max(axis=0)
    weights = top - scores
    weights *= gamma
    weights += K
    np.reciprocal(weights, out=weights)
    action, best, running = np.zeros(n, np.int8), np.zeros(n, np.int8), np.zeros(n)
    for k in range(K):
        running += weights[k]
        action += (running <= uniforms).view(np.int8)
        best += (scores[k] == top).view(np.int8) * np.int8(k)
    return np.where(action == K, best, action).astype(np.int64)

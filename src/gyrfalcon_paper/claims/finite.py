"""Random problems with finitely many contexts, and all policies: lemmas can be checked outright."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.policies.kernels import inverse_gap_weighting

SHAPES = tuple(product((1, 2, 3), (2, 3, 4)))
"""How many contexts and how many actions."""


@dataclass(frozen=True, slots=True)
class Finite:
    """N problems of n contexts and K actions, each with a reward model and a gamma; P = K^n policies.

    Tables of models and of play are (N, n, K), what is known of every policy is (N, P).
    """

    weights: Floats
    """(N, n): how often a context comes."""
    truth: Floats
    """(N, n, K): expected rewards, in [0, 1]."""
    model: Floats
    """(N, n, K): reward model f_m."""
    gamma: Floats
    """(N,)."""

    def __len__(self) -> int:
        return len(self.gamma)

    @property
    def k(self) -> int:
        """The number of actions."""
        return int(self.truth.shape[2])

    @property
    def choices(self) -> Ints:
        """(P, n): the action of every policy in each context."""
        return np.array(list(product(range(self.k), repeat=self.weights.shape[1])))

    @property
    def play(self) -> Floats:
        """p_m: inverse gap weighting over the model."""
        return weighted_by_gaps(self.model, self.gamma)

    def mean(self, column: Floats) -> Floats:
        """E_x of (N, n)."""
        averaged: Floats = np.einsum("in,in->i", column, self.weights)
        return averaged

    def value(self, table: Floats) -> Floats:
        """E_x of what a table has for every policy's action, (N, P); with rewards, R_f(pi)."""
        contexts = np.arange(self.weights.shape[1])
        averaged: Floats = np.einsum("ipn,in->ip", table[:, contexts, self.choices], self.weights)
        return averaged

    def regret(self, table: Floats) -> Floats:
        """Reg_f(pi) of every policy under a table of rewards."""
        return self.value(table.max(axis=2, keepdims=True) - table)

    def divergence(self, play: Floats) -> Floats:
        """V(p, pi) of every policy."""
        return self.value(1.0 / play)

    def chances(self, play: Floats) -> Floats:
        """Q_p(pi): how likely independent draws in each context make this policy (eq. q-product)."""
        contexts = np.arange(self.weights.shape[1])
        return np.asarray(play[:, contexts, self.choices].prod(axis=2))

    def error(self, table: Floats, play: Floats) -> Floats:
        """E_x E_{a ~ p} of the squares of a table, (N,)."""
        return self.mean((play * table**2).sum(axis=2))


def weighted_by_gaps(model: Floats, gamma: Floats) -> Floats:
    """Inverse gap weighting with a gamma for each problem, which multiplies its gaps alone."""
    return inverse_gap_weighting(model * gamma[:, np.newaxis, np.newaxis], 1.0)


def random_problems(n_problems: int, seed: int) -> list[Finite]:
    """At least n problems, the same number of each shape; half of them are full of ties.

    >>> problems = random_problems(90, seed=0)
    >>> len(problems), len(problems[0]), problems[-1].choices.shape
    (9, 10, (64, 3))
    """
    rng = np.random.default_rng([seed, n_problems])
    per_shape = -(-n_problems // len(SHAPES))
    return [_problems(rng, per_shape, n, k) for n, k in SHAPES]


def largest(problems: list[Finite], number: Callable[[Finite], Floats]) -> float:
    """The largest number over all problems."""
    return max(float(number(part).max()) for part in problems)


def count(problems: list[Finite]) -> int:
    """How many problems there are."""
    return sum(map(len, problems))


def _problems(rng: np.random.Generator, n_problems: int, n: int, k: int) -> Finite:
    shape = n_problems, n, k
    truth, model = rng.random(shape), rng.random(shape)
    tied = rng.random((n_problems, 1, 1)) < 0.5
    truth, model = (np.where(tied, np.round(2.0 * table) / 2.0, table) for table in (truth, model))
    weights = rng.dirichlet(np.ones(n), size=n_problems)
    return Finite(weights, truth, model, 10.0 ** rng.uniform(-2.0, 4.0, size=n_problems))

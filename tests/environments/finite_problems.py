"""Random problems with finitely many contexts, small enough to go through all policies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.policies.kernel_policy import KernelPolicy
from gyrfalcon.core.policies.kernels import InverseGapWeighting
from gyrfalcon.environments.population.population import Population
from tests.environments.tables import TableModel, TablePolicy, numbered

values = st.floats(-2.0, 2.0)
gammas = st.floats(1e-2, 1e3)


@dataclass(frozen=True)
class Finite:
    """A population of n contexts with its K^n policies, and inverse gap weighting over some model."""

    population: Population
    model: TableModel
    gamma: float

    @property
    def k(self) -> int:
        return self.population.n_actions

    @cached_property
    def play(self) -> TablePolicy:
        """p_m."""
        policy = KernelPolicy(self.model, InverseGapWeighting(self.gamma))
        return TablePolicy(policy.probabilities(self.population.contexts))

    @cached_property
    def policies(self) -> list[TablePolicy]:
        choices = product(range(self.k), repeat=len(self.population.contexts))
        return [TablePolicy.choosing(choice, self.k) for choice in choices]

    def chances(self) -> Floats:
        """Q_m of every policy (eq. q-product)."""
        return np.array([(self.play.table * policy.table).sum(axis=1).prod() for policy in self.policies])


@st.composite
def tables(draw: st.DrawFn, n: int, k: int) -> Floats:
    table: Floats = draw(arrays(np.float64, (n, k), elements=values))
    return table


@st.composite
def finites(draw: st.DrawFn, min_contexts: int = 1, max_contexts: int = 3) -> Finite:
    n, k = draw(st.integers(min_contexts, max_contexts)), draw(st.integers(2, 4))
    mass = draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))
    population = Population.finite(numbered(n), draw(tables(n, k)), mass)
    return Finite(population, TableModel(draw(tables(n, k))), draw(gammas))


def one_context(means: list[float], scores: list[float], gamma: float) -> Finite:
    return Finite(Population.finite(numbered(1), [means]), TableModel(np.array([scores])), gamma)

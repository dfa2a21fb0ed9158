"""Misspecification of a model class in a population: its best model, by its own oracle, and its errors."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.policies.kernel_policy import Policy, Scorer
from gyrfalcon.core.records import PASSIVE, Log
from gyrfalcon.environments.population.population import Population, table_of
from gyrfalcon.oracles.protocol import ModelClass

MANY_ROWS = 2.0**40
"""Number of rows at which a ridge of 1, in units of rows, changes a fit by 1e-12."""


def best_in_class(
    population: Population, model_class: ModelClass, *, play: Policy | None = None, rows: float = MANY_ROWS
) -> Scorer:
    """The model of least mean squared error in its class, fhat* under uniform play (eq. fhatstar).

    The class's own oracle fits every node once per action, weighted by its probability. A class as rich as
    the nodes are many, such as deep trees, interpolates them: it needs a higher order or a larger sample.

    Parameters
    ----------
    population : Population
        The population that errors are averaged over.
    model_class : ModelClass
        The class of reward models.
    play : Policy, optional
        Policy that weights the actions; uniform by default.
    rows : float, default MANY_ROWS
        Number of rows that the fit stands for; so large by default that a ridge has no weight.

    Examples
    --------
    >>> from gyrfalcon.oracles.linear.linear import Linear
    >>> population = Population.on_interval(lambda x: np.stack([x**2, x], axis=1), (0.0, 1.0))
    >>> best = best_in_class(population, Linear())  # x - 1/6 is the best linear model of x^2
    >>> round(population.mean_error(best), 12) == round(1 / 360, 12)
    True
    """
    part = population if play is None else population.cut(table_of(play))
    p = part.uniform_play() if play is None else play.probabilities(part.contexts)
    oracle = model_class.oracle(part.contexts.take(part.weights > 0.0), part.n_actions)
    log, weights = _played_rows(part, p)
    model: Scorer
    model, _ = oracle.fit(oracle.summarise(log, rows * weights), oracle.empty())
    return model


@dataclass(frozen=True, slots=True)
class PopulationMisspecification:
    """The best in-class model fhat* of a population and its errors.

    Attributes
    ----------
    model : Scorer
        The best in-class model fhat*.
    b : float
        Mean squared error under uniform play (eq. b).
    B : float
        Mean squared error under the worst play (eq. capb): from b to K b.
    sup : float
        The largest error anywhere.
    """

    model: Scorer = field(repr=False)
    b: float
    B: float
    sup: float


def misspecification(population: Population, model_class: ModelClass) -> PopulationMisspecification:
    """The best in-class model of a population and its errors b, B and sup.

    Parameters
    ----------
    population : Population
        The population that errors are averaged over.
    model_class : ModelClass
        The class of reward models.

    Examples
    --------
    >>> from gyrfalcon.oracles.linear.linear import Linear
    >>> step = Population.on_interval(lambda x: np.stack([x > 0.5, 0.5 + 0.0 * x], axis=1), (0.0, 0.5, 1.0))
    >>> found = misspecification(step, Linear())
    >>> round(found.b, 12), round(found.B, 12), round(found.sup, 12)
    (0.03125, 0.0625, 0.5)
    """
    best = best_in_class(population, model_class)
    return PopulationMisspecification(
        best, population.mean_error(best), population.worst_error(best), population.sup_error(best)
    )


def _played_rows(population: Population, p: Floats) -> tuple[Log, Floats]:
    """One row for each node and action that play p can bring, and its weight."""
    weights = population.weights[:, np.newaxis] * p
    node, action = np.nonzero(weights)
    n = len(node)
    log = Log(
        contexts=population.contexts.take(node),
        action=action,
        reward=population.means[node, action],
        propensity=p[node, action],
        epoch=np.zeros(n, dtype=np.int64),
        round=np.arange(n),
        component=np.full(n, PASSIVE),
    )
    return log, weights[node, action]

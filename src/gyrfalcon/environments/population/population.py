"""What holds in an environment's population, by quadrature instead of simulation: values, regrets, errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, Policy, Scorer
from gyrfalcon.core.policies.kernels import EpsilonGreedyKernel, uniform
from gyrfalcon.core.settings import shapes_repr
from gyrfalcon.environments.population.interval import Interval, Table
from gyrfalcon.environments.population.quadrature import grid
from gyrfalcon.environments.protocol import Environment


def greedy_policy(scorer: Scorer) -> KernelPolicy:
    """The greedy policy pi_f of a reward model: its best action, the lowest index in a tie.

    Parameters
    ----------
    scorer : Scorer
        The reward model f.

    Examples
    --------
    >>> class Slopes:
    ...     def scores(self, contexts):
    ...         return contexts.shared * [1.0, -1.0]
    >>> greedy_policy(Slopes()).probabilities(Contexts(np.array([[-1.0], [1.0]]))).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    return KernelPolicy(scorer, EpsilonGreedyKernel(0.0))


@dataclass(frozen=True, slots=True)
class Population:
    """A distribution of contexts as weighted nodes, with the true mean reward of every action at each.

    Nodes of weight 0 are the one-sided limits at the ends of pieces: only `sup_error` uses them. On an
    interval, each quantity first cuts the pieces where the policies and models in it change their best
    action, so that it is a sum of integrals of smooth functions. `under` names a reward model f for R_f and
    Reg_f; None is the truth.

    Attributes
    ----------
    contexts : Contexts
        The n nodes.
    weights : array of float
        (n,) weights of the nodes, which sum to 1.
    means : array of float
        (n, K) true mean rewards f*.
    interval : Interval, optional
        The interval that the nodes were made from, where there is one.
    is_sample : bool, default False
        Whether the nodes are a random sample.

    Examples
    --------
    >>> from gyrfalcon.core.policies.kernel_policy import UniformPolicy
    >>> population = Population.on_interval(lambda x: np.stack([x, 1.0 - x], axis=1), (0.0, 1.0))
    >>> round(population.optimal_value(), 12), round(population.regret(UniformPolicy(2)), 12)
    (0.75, 0.25)
    """

    contexts: Contexts
    weights: Floats
    means: Floats
    interval: Interval | None = None
    is_sample: bool = False

    __repr__ = shapes_repr

    @staticmethod
    def on_interval(
        truth: Callable[[Floats], Floats],
        breaks: Sequence[float],
        *,
        order: int = 32,
        density: Callable[[Floats], Floats] | None = None,
    ) -> Population:
        """One feature on (breaks[0], breaks[-1]), with density(x) up to a factor, or uniform.

        `truth` maps (n,) numbers to (n, K) means. It and the density are smooth between breaks, and so should
        be policies and models, but for switches of a best action; polynomials of degree below 2 order are
        integrated exactly.
        """
        return _of_interval(Interval(truth, tuple(map(float, breaks)), order, density))

    @staticmethod
    def on_box(
        truth: Callable[[Floats], Floats],
        breaks: Sequence[Sequence[float]],
        *,
        order: int = 12,
        density: Callable[[Floats], Floats] | None = None,
    ) -> Population:
        """A few features on a box, each with its break points: `truth` maps (n, p) to (n, K).

        Cells are not cut where policies switch: regrets are as good as `order` and `breaks` make them.

        >>> box = Population.on_box(lambda x: x**2, [(0.0, 1.0), (0.0, 1.0)])
        >>> box.means.shape, round(box.mean(box.means[:, 1]), 12)
        ((196, 2), 0.333333333333)
        """
        x, weights = grid(breaks, order)
        return _of_nodes(Contexts(x), truth(x), _weighted(weights, density, x))

    @staticmethod
    def finite(contexts: Contexts, means: ArrayLike, weights: ArrayLike | None = None) -> Population:
        """Finitely many contexts, which is exact; `weights` are scaled to sum to 1, None makes them equal.

        >>> two = Population.finite(Contexts(np.zeros((2, 1))), [[1.0, 0.0], [0.0, 1.0]], weights=[3, 1])
        >>> two.weights.tolist(), two.optimal_value()
        ([0.75, 0.25], 1.0)
        """
        given = np.ones(len(contexts)) if weights is None else np.asarray(weights, dtype=np.float64)
        _check_weights(given, len(contexts))
        table = _checked_means(means, contexts)
        present = given > 0.0
        return Population(contexts.take(present), given[present] / given.sum(), table[present])

    @staticmethod
    def sampled(environment: Environment, n: int, seed: int) -> Population:
        """The first n rounds of any environment as equal nodes: plain Monte Carlo.

        Each mean deviates by its `standard_error`, and the error of a model that was fitted to these very
        nodes is too small by about its coefficients over n; `sup_error` only sees the nodes.

        >>> from gyrfalcon.environments.paper import StepExample
        >>> sample = Population.sampled(StepExample(), 400, seed=0)
        >>> value = sample.means[:, 0]
        >>> round(sample.mean(value), 4), round(sample.standard_error(value), 4)
        (0.5425, 0.0249)
        """
        if n < 2:
            raise ValueError(f"n is {n}; give at least 2 rounds, or there is no standard error.")
        outcomes = environment.draw(0, n, seed)
        return replace(Population.finite(outcomes.contexts, outcomes.means), is_sample=True)

    @property
    def n_actions(self) -> int:
        """Number of actions K."""
        return int(self.means.shape[1])

    @property
    def eligible(self) -> Bools:
        """Mask of the actions that may be chosen, (n, K)."""
        mask = self.contexts.eligible
        return np.ones(self.means.shape, dtype=np.bool_) if mask is None else mask

    def mean(self, column: Floats) -> float:
        """E_x of a number per node, (n,); what stands at nodes of weight 0 may be infinite."""
        weighed = self.weights > 0.0
        return math.fsum(self.weights[weighed] * column[weighed])

    def standard_error(self, column: Floats) -> float:
        """Standard error of `mean` if the nodes are a sample; 0 for quadrature and finite populations."""
        return float(np.std(column, ddof=1)) / math.sqrt(len(column)) if self.is_sample else 0.0

    def cut(self, *tables: Table | None) -> Population:
        """The population with finer pieces, divided where the largest column of a table changes.

        None stands for the true means. Only populations on an interval can be divided; others come back
        unchanged.
        """
        if self.interval is None:
            return self
        return _of_interval(
            self.interval.cut([self.interval.means if table is None else table for table in tables])
        )

    def uniform_play(self) -> Floats:
        """1 / K for every eligible action, (n, K)."""
        return uniform(self.n_actions, len(self.contexts), self.contexts.eligible)

    def rewards(self, policy: Policy, under: Scorer | None = None) -> Floats:
        """E_{a ~ pi(x)} f(x, a) at each node, (n,)."""
        return self._played(policy, self._table(under))

    def regrets(self, policy: Policy, under: Scorer | None = None) -> Floats:
        """E_{a ~ pi(x)} [max f(x, .) - f(x, a)] at each node, (n,)."""
        table = self._table(under)
        best = np.where(self.eligible, table, -np.inf).max(axis=1, keepdims=True)
        return self._played(policy, best - table)

    def inverse_propensities(self, play: Policy, policy: Policy) -> Floats:
        """E_{a ~ pi(x)} 1 / p(a | x) at each node, (n,); infinite where p never plays what pi does."""
        p, pi = play.probabilities(self.contexts), policy.probabilities(self.contexts)
        with np.errstate(divide="ignore", over="ignore"):
            ratios: Floats = np.divide(pi, p, out=np.zeros_like(pi), where=pi > 0.0)
        return np.asarray(ratios.sum(axis=1))

    def squared_errors(self, model: Scorer) -> Floats:
        """(f - f*)^2, (n, K); 0 for actions that may not be chosen."""
        squares: Floats = np.where(self.eligible, model.scores(self.contexts) - self.means, 0.0) ** 2
        return squares

    def value(self, policy: Policy, under: Scorer | None = None) -> float:
        """Value R_f(pi) of a policy (eq. instantaneous-reward)."""
        part = self.cut(table_of(policy))
        return part.mean(part.rewards(policy, under))

    def optimal_value(self, under: Scorer | None = None) -> float:
        """Value of the optimal policy, max_pi R_f(pi)."""
        part = self.cut(None if under is None else under.scores)
        return part.mean(np.where(part.eligible, part._table(under), -np.inf).max(axis=1))

    def regret(self, policy: Policy, under: Scorer | None = None) -> float:
        """Regret Reg_f(pi) of a policy (eq. instantaneous-regret)."""
        part = self.cut(table_of(policy), None if under is None else under.scores)
        return part.mean(part.regrets(policy, under))

    def divergence(self, play: Policy, policy: Policy) -> float:
        """V(p, pi) = E_x 1 / p(pi(x) | x) (eq. decisional-divergence), averaged over the actions of pi."""
        part = self.cut(table_of(play), table_of(policy))
        return part.mean(part.inverse_propensities(play, policy))

    def mean_error(self, model: Scorer, play: Policy | None = None) -> float:
        """E_x E_{a ~ p(x)} (f - f*)^2, under uniform play by default: b, if f is the best in its class."""
        part = self if play is None else self.cut(table_of(play))
        p = part.uniform_play() if play is None else play.probabilities(part.contexts)
        return part.mean((p * part.squared_errors(model)).sum(axis=1))

    def worst_error(self, model: Scorer) -> float:
        """E_x max_a (f - f*)^2, the error under the worst play: B (eq. capb), if f is best in its class."""
        part = self if self.interval is None else self.cut(self.interval.squared_errors(model))
        return part.mean(part.squared_errors(model).max(axis=1))

    def sup_error(self, model: Scorer) -> float:
        """The largest |f - f*| over nodes and limits at breaks; on an interval also between nodes."""
        if self.interval is None:
            return math.sqrt(self.squared_errors(model).max())
        return math.sqrt(self.interval.peak(self.interval.squared_errors(model)))

    def _table(self, under: Scorer | None) -> Floats:
        return self.means if under is None else under.scores(self.contexts)

    def _played(self, policy: Policy, table: Floats) -> Floats:
        p = policy.probabilities(self.contexts)
        played: Floats = (p * np.where(self.eligible, table, 0.0)).sum(axis=1)
        return played


def table_of(policy: Policy) -> Table:
    """Table whose largest column is a policy's best action: scores where it has any, else probabilities."""
    return policy.scorer.scores if isinstance(policy, KernelPolicy) else policy.probabilities


def _check_weights(weights: Floats, n: int) -> None:
    if weights.shape != (n,):
        raise ValueError(f"weights has shape {weights.shape}; give one for each of {n} contexts.")
    bad = weights[~(np.isfinite(weights) & (weights >= 0.0))]
    if len(bad) or not weights.sum() > 0.0:
        problem = f"weights holds {bad[0]}" if len(bad) else "weights sum to 0"
        raise ValueError(f"{problem}; give finite numbers of at least 0, some of them above 0.")


def _of_interval(interval: Interval) -> Population:
    x, weights = interval.nodes()
    contexts = Contexts(x[:, np.newaxis])
    nodes = _of_nodes(contexts, interval.means(contexts), _weighted(weights, interval.density, x))
    return replace(nodes, interval=interval)


def _of_nodes(contexts: Contexts, means: ArrayLike, weights: Floats) -> Population:
    """Quadrature nodes, those of weight 0 included."""
    _check_weights(weights, len(contexts))
    return Population(contexts, weights / weights.sum(), _checked_means(means, contexts))


def _checked_means(means: ArrayLike, contexts: Contexts) -> Floats:
    table = np.asarray(means, dtype=np.float64)
    if table.ndim != 2 or len(table) != len(contexts):
        raise ValueError(f"means has shape {table.shape}; give (n, K) for {len(contexts)} contexts.")
    bad = ~np.isfinite(table) if contexts.eligible is None else ~np.isfinite(table) & contexts.eligible
    if bad.any():
        raise ValueError(f"means holds {table[bad][0]}; give finite mean rewards to what may be chosen.")
    return table


def _weighted(weights: Floats, density: Callable[[Floats], Floats] | None, x: Floats) -> Floats:
    return weights if density is None else weights * density(x)

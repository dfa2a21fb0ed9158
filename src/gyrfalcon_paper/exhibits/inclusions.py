"""From which excess risk on a sample and its population agree on a class (Assumption 1), sample by sample.

Assumption 1 requires that models of population excess at most eta have empirical excess at most 3 eta / 2,
and that models of empirical excess at most eta have population excess at most 2 eta. A sample's threshold is
the least eta from which on this is so: the largest eta at which a model stands on the edge. For a linear
space that is a farthest point of an ellipsoid; for the hull of stumps it is searched for, which can only find
too little.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.oracles.stump_hull.regressor import StumpHull

FORWARD = 1.5
"""Population excess eta allows this times eta of empirical excess."""
BACKWARD = 2.0
"""Empirical excess eta allows this times eta of population excess."""
_HALVINGS = 100
_TINY = float(np.finfo(np.float64).tiny)


class Thresholds(NamedTuple):
    """The least eta from which on each inclusion holds, (S,) over samples; infinite if there is none."""

    forward: Floats
    backward: Floats


def linear_thresholds(gram: Floats, best: Floats, sample_grams: Floats, fits: Floats) -> Thresholds:
    """The thresholds of a linear space, exactly, for S samples at once.

    Excess risks are (theta - best)' gram (theta - best) in the population, and likewise with `sample_grams`
    (S, d, d) and `fits` (S, d) on the samples.

    >>> one = np.ones((1, 1, 1))
    >>> found = linear_thresholds(one[0], np.zeros(1), one, np.ones((1, 1)))  # u^2 against (u - 1)^2
    >>> found.forward.round(3), found.backward.round(3)
    (array([19.798]), array([5.828]))
    """
    factor = np.linalg.cholesky(gram)
    inverse = np.linalg.inv(factor)
    spectra, directions = np.linalg.eigh(inverse @ sample_grams @ inverse.T)
    shifts = np.einsum("sij,si->sj", directions, (fits - best) @ factor)
    return Thresholds(
        _farthest_on_edge(spectra, shifts, 1.0 / FORWARD),
        _farthest_on_edge(spectra, shifts, BACKWARD) / BACKWARD,
    )


def _farthest_on_edge(spectra: Floats, shifts: Floats, factor: float) -> Floats:
    """The largest |u|^2 with |u|^2 = factor sum_i s_i (u_i - v_i)^2; infinite if that is no ellipsoid."""
    sign = 1.0 if factor < 1.0 else -1.0
    curvatures = sign * (1.0 - factor * spectra)
    bounded = curvatures.min(axis=1) > 0.0
    curvatures, pulls, shifts = curvatures[bounded], (factor * spectra * shifts)[bounded], shifts[bounded]
    found = np.full(len(spectra), np.inf)
    levels = (pulls * shifts / curvatures).sum(axis=1)
    found[bounded] = farthest(curvatures, -sign * pulls / curvatures, levels)
    return found


def farthest(curvatures: Floats, centres: Floats, levels: Floats) -> Floats:
    """The largest |u|^2 in each ellipsoid sum_i d_i (u_i - m_i)^2 <= level, by its secular equation.

    At the farthest point u_i = m_i + m_i / (mu d_i - 1) with a multiplier mu >= 1 / min d, which is halved in
    on. Where the equation has no root, mu is at that end, and what is left of the level goes into the widest
    axis.

    >>> farthest(np.array([[1.0, 4.0]]), np.array([[3.0, 0.0]]), np.array([1.0]))
    array([16.])
    """
    widest = curvatures.min(axis=1)
    # |m| sqrt(d) / (mu d - 1) is at most sqrt(level) for every i at a root, so it lies below this end.
    reach = (np.sqrt(curvatures) * np.abs(centres)).sum(axis=1) / np.sqrt(np.maximum(levels, _TINY))
    low, high = 1.0 / widest, (1.0 + reach) / widest
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        above = _spent(curvatures, _steps(curvatures, centres, middle)) > levels
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    steps = _steps(curvatures, centres, high)
    left = np.maximum(levels - _spent(curvatures, steps), 0.0) / widest
    largest: Floats = ((centres + steps) ** 2).sum(axis=1) + left
    return largest


def _steps(curvatures: Floats, centres: Floats, multipliers: Floats) -> Floats:
    below = multipliers[:, np.newaxis] * curvatures - 1.0
    return np.divide(centres, below, out=np.zeros_like(centres), where=(centres != 0.0) & (below > 0.0))


def _spent(curvatures: Floats, steps: Floats) -> Floats:
    spent: Floats = (curvatures * steps**2).sum(axis=1)
    return spent


def step_thresholds(n: int, generators: Sequence[np.random.Generator]) -> Floats:
    """Thresholds of linear models on Section 1.1 under uniform play, (S, 2), from S samples of n rows."""
    samples = [_moments(n, rng) for rng in generators]
    grams = np.array([gram for gram, _ in samples])
    fits = np.linalg.solve(grams, np.array([cross for _, cross in samples])[:, :, np.newaxis])[:, :, 0]
    population = np.kron(np.eye(2), np.array([[1.0, 1.0 / 2.0], [1.0 / 2.0, 1.0 / 3.0]])) / 2.0
    return np.stack(
        linear_thresholds(population, np.ravel(StepExample().best_coefficients), grams, fits), axis=1
    )


def _moments(n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Means of phi phi' and phi r over n rows, with an intercept and a slope for each action."""
    x, action = rng.random(n), rng.integers(2, size=n)
    noise = StepExample().noise * rng.standard_normal(n)
    rewards = StepExample.means(x)[np.arange(n), action] + noise
    features = np.zeros((n, 4))
    features[np.arange(n), 2 * action] = 1.0
    features[np.arange(n), 2 * action + 1] = x
    return features.T @ features / n, features.T @ rewards / n


@dataclass(frozen=True, slots=True)
class GridSample:
    """Rows of a population whose context is one of M points, all as likely: how many, and their mean rewards.

    The class is the hull of stumps with a budget; `means` are the true ones.
    """

    means: Floats  # (M,)
    shares: Floats  # (M,): of the rows
    rewards: Floats  # (M,): the mean of the rows; anything where there are none
    budget: float

    @staticmethod
    def drawn(means: Floats, n: int, noise: float, budget: float, rng: np.random.Generator) -> GridSample:
        """N rows with normal noise."""
        counts = rng.multinomial(n, np.full(len(means), 1.0 / len(means)))
        errors = noise * rng.standard_normal(len(means)) / np.sqrt(np.maximum(counts, 1))
        return GridSample(means, counts / n, means + errors, budget)

    @property
    def grid(self) -> Floats:
        """(M, 1): the points."""
        m = len(self.means)
        return ((np.arange(m) + 0.5) / m)[:, np.newaxis]


class Excess:
    """Excess risks of models on a grid, (M,) each, in the population and on the sample."""

    def __init__(self, sample: GridSample) -> None:
        self.sample = sample
        m = len(sample.means)
        self._equal = np.full(m, 1.0 / m)
        self.best = self.fitted(sample.means, self._equal)
        self.fit = self.fitted(sample.rewards, sample.shares)
        self._least = self._risk(self.best), self._sample_risk(self.fit)

    def fitted(self, targets: Floats, shares: Floats) -> Floats:
        """The model of least squared distance to these targets."""
        grid = self.sample.grid
        return StumpHull(budget=self.sample.budget).fit(grid, targets, shares).predict(grid)

    def population(self, model: Floats) -> float:
        """Excess risk of a model over the best in its class, in the population."""
        return max(self._risk(model) - self._least[0], 0.0)

    def empirical(self, model: Floats) -> float:
        """Excess risk of a model over the best in its class, on the sample."""
        return max(self._sample_risk(model) - self._least[1], 0.0)

    def away_from_sample(self, model: Floats, price: float) -> Floats:
        """A model that does better than `model` by population excess minus price times empirical excess.

        Population excess is convex, so its tangent lies below it; with the tangent, what is left to do is a
        regression. Where there are no rows, it is left to the stumps.
        """
        shares = self.sample.shares
        seen = shares > 0.0
        pull = np.zeros_like(model)
        pull[seen] = (model - self.sample.means)[seen] * self._equal[seen] / (price * shares[seen])
        return self.fitted(self.sample.rewards + pull, shares)

    def away_from_population(self, model: Floats, price: float) -> Floats:
        """A model that does better by empirical excess minus price times population excess."""
        pull = self.sample.shares * (model - self.sample.rewards) / (price * self._equal)
        return self.fitted(self.sample.means + pull, self._equal)

    def _risk(self, model: Floats) -> float:
        return float(self._equal @ (model - self.sample.means) ** 2)

    def _sample_risk(self, model: Floats) -> float:
        return float(self.sample.shares @ (model - self.sample.rewards) ** 2)


def hull_thresholds(sample: GridSample, n_prices: int = 8, n_steps: int = 6) -> tuple[float, float]:
    """Lower bounds on both thresholds of the hull of stumps: what a search by tangents finds.

    The model of largest excess on the edge of an inclusion also does best by one excess minus a price times
    the other. Prices are closed in on, and for each some steps are taken from the best model found so far.
    """
    excess = Excess(sample)
    return _searched(excess, FORWARD, n_prices, n_steps), _searched(excess, BACKWARD, n_prices, n_steps)


def _searched(excess: Excess, factor: float, n_prices: int, n_steps: int) -> float:
    forward = factor == FORWARD
    step = excess.away_from_population if forward else excess.away_from_sample

    def reached_and_allowed(model: Floats) -> tuple[float, float]:
        risks = excess.empirical(model), excess.population(model)
        return risks if forward else risks[::-1]

    def is_inside(model: Floats) -> bool:
        reached, allowed = reached_and_allowed(model)
        return reached >= factor * allowed

    inside, found = (excess.best if forward else excess.fit), 0.0
    low, high = 1.0, factor
    for _ in range(n_prices):
        price, model, before = (low + high) / 2.0, inside, inside
        for _ in range(n_steps):
            # Tangents a little ahead of the last step take about half the steps.
            model, before = step(2.0 * model - before, price), model
            edge = _last_between(inside, model, is_inside)
            allowed = reached_and_allowed(edge)[1]
            if allowed > found:
                inside, found = edge, allowed
        low, high = (low, price) if is_inside(model) else (price, high)
    return found


def _last_between(inside: Floats, model: Floats, is_inside: Callable[[Floats], bool]) -> Floats:
    """The model itself if it is inside, else the last one that is on the way to it; the class is convex."""
    if is_inside(model):
        return model
    low, high = 0.0, 1.0
    for _ in range(20):
        middle = (low + high) / 2.0
        low, high = (middle, high) if is_inside(inside + middle * (model - inside)) else (low, middle)
    return inside + low * (model - inside)

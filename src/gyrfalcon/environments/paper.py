"""Environments of the paper: Section 1.1 and Appendix E."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.settings import changed_settings_repr
from gyrfalcon.core.validation import check_deviation
from gyrfalcon.environments.population.population import Population
from gyrfalcon.environments.protocol import BLOCK, PotentialOutcomes, block_generator, blocks


@dataclass(frozen=True, slots=True, repr=False)
class StepExample:
    """Section 1.1 of the paper: a step function against a constant.

    x is uniform on (0, 1), f_1 = 1{x > 0.5} and f_2 = 0.5. The best linear model (-0.25 + 1.5 x, 0.5) induces
    the optimal policy, yet learners that trust it drift away from it; b = 1/32 and B = 1/16. Gaussian rewards
    leave [0, 1], so the problem accepts that.

    Parameters
    ----------
    noise : float, default 0.1
        Standard deviation of the rewards around their means.

    Examples
    --------
    >>> environment = StepExample()
    >>> environment.draw(0, 3, seed=0).means.shape
    (3, 2)
    >>> environment.best_coefficients, environment.b, environment.uniform_regret
    (((-0.25, 1.5), (0.5, 0.0)), 0.03125, 0.25)
    """

    noise: float = 0.1

    def __post_init__(self) -> None:
        check_deviation("noise", self.noise)

    def __repr__(self) -> str:
        return changed_settings_repr(self)

    @property
    def problem(self) -> Problem:
        """Two actions, one feature, rewards accepted outside (0, 1)."""
        return _problem()

    @property
    def population(self) -> Population:
        """The distribution that rounds are drawn from."""
        return Population.on_interval(self.means, (0.0, 0.5, 1.0))

    @property
    def best_coefficients(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Intercept and slope of the best linear model of each action."""
        return (-0.25, 1.5), (0.5, 0.0)

    @property
    def b(self) -> float:
        """The mean squared error of the best linear model; as action 1 alone is misspecified, B = 2 b."""
        return 1.0 / 32.0

    @property
    def uniform_regret(self) -> float:
        """Expected regret per round of uniform play, and of either action: wrong half of the time, by 0.5."""
        return 0.25

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        """Outcomes of rounds start..stop-1."""
        return _drawn(self.means, self.noise, start, stop, seed)

    @staticmethod
    def means(x: Floats) -> Floats:
        """Expected rewards of both actions, (n, 2)."""
        return np.stack([(x > 0.5).astype(np.float64), np.full(len(x), 0.5)], axis=1)


@dataclass(frozen=True, slots=True, repr=False)
class SensitivityExample:
    """Appendix E of the paper: a rare step against a decreasing linear reward.

    x is uniform on (0, 1), f_1 = 0.1, but 1 above 1 - theta, and f_2 = 1 + m x. The slope m makes f_2 meet
    the best linear model of f_1 at 1 - theta, so that the best linear model induces the optimal policy. The
    model is nearly right for small theta, and still a fit to that policy's data, f_1 = 1, has a regret above
    0.4275.

    Parameters
    ----------
    theta : float, default 0.05
        Width of the step: action 1 earns 1 above 1 - theta; at most 0.05.
    noise : float, default 0.1
        Standard deviation of the rewards around their means.

    Examples
    --------
    >>> environment = SensitivityExample(theta=0.05)
    >>> [round(number, 6) for number in environment.best_coefficients]
    [0.01675, 0.2565]
    >>> round(environment.slope, 6), round(environment.b, 6)
    (-0.7785, 0.016496)
    """

    claimed_regret: ClassVar[float] = 0.4275
    """The paper's lower bound on the regret of a fit to the optimal policy's data."""

    theta: float = 0.05
    noise: float = 0.1

    def __post_init__(self) -> None:
        if not 0.0 < self.theta <= 0.05:
            raise ValueError(
                f"theta is {self.theta}; give a number above 0 and up to 0.05, as Appendix E does."
            )
        check_deviation("noise", self.noise)

    def __repr__(self) -> str:
        return changed_settings_repr(self)

    @property
    def problem(self) -> Problem:
        """Two actions, one feature, rewards accepted outside (0, 1)."""
        return _problem()

    @property
    def population(self) -> Population:
        """The distribution that rounds are drawn from."""
        return Population.on_interval(self.means, (0.0, 1.0 - self.theta, 1.0))

    @property
    def best_coefficients(self) -> tuple[float, float]:
        """Intercept and slope of the best linear model of f_1; that of f_2 is f_2 itself."""
        theta = self.theta
        return 0.1 - 1.8 * theta + 2.7 * theta**2, 5.4 * theta * (1.0 - theta)

    @property
    def slope(self) -> float:
        """Slope m of the mean reward f_2."""
        intercept, rise = self.best_coefficients
        return (intercept + rise * (1.0 - self.theta) - 1.0) / (1.0 - self.theta)

    @property
    def b(self) -> float:
        """The mean squared error of the best linear model; as action 1 alone is misspecified, B = 2 b."""
        spread = self.theta * (1.0 - self.theta)
        return 0.405 * spread * (1.0 - 3.0 * spread)

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        """Outcomes of rounds start..stop-1."""
        return _drawn(self.means, self.noise, start, stop, seed)

    def means(self, x: Floats) -> Floats:
        """Expected rewards of both actions, (n, 2)."""
        return np.stack([np.where(x > 1.0 - self.theta, 1.0, 0.1), 1.0 + self.slope * x], axis=1)


def _problem() -> Problem:
    return Problem(actions=(1, 2), features=["x"], out_of_range="accept")


def _drawn(
    means: Callable[[Floats], Floats], noise: float, start: int, stop: int, seed: int
) -> PotentialOutcomes:
    x, rewards = np.empty(stop - start), np.empty((stop - start, 2))
    for block, rows in blocks(start, stop):
        rng, first = block_generator(seed, block), block * BLOCK - start
        here = slice(first + rows.start, first + rows.stop)
        x[here], rewards[here] = rng.random(BLOCK)[rows], rng.standard_normal((BLOCK, 2))[rows]
    expected = means(x)
    rewards *= noise
    rewards += expected
    return PotentialOutcomes(Contexts(x[:, np.newaxis]), expected, rewards)

"""Environments whose rewards are hard to learn from: rare ones, and noise that depends on the context."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.validation import check_deviation, check_positive, check_share
from gyrfalcon.environments.synthetic.box import (
    BoxEnvironment,
    box_problem,
    noisy,
    truth_generator,
    within_unit,
)
from gyrfalcon.environments.synthetic.shapes import Lines, Waves


@dataclass(frozen=True, kw_only=True)
class _WavyEnvironment(BoxEnvironment):
    """(1 - m) line + m wave, whose mean over contexts and actions is 0."""

    misspecification: float = 0.0
    frequency: float = 4.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share("misspecification", self.misspecification)
        check_positive("frequency", self.frequency)

    @cached_property
    def parts(self) -> tuple[Lines, Waves]:
        """The linear part and what the dial turns to."""
        rng = truth_generator(self.environment_seed)
        size = self.n_actions, self.n_features
        return Lines.drawn(rng, *size).centred(), Waves.drawn(rng, *size, frequency=self.frequency, odd=True)

    def breaks(self, feature: int) -> Floats:
        """Where a quadrature rule is best cut along a feature."""
        return self.parts[1].breaks(feature)

    def _values(self, x: Floats) -> Floats:
        lines, waves = self.parts
        return (1.0 - self.misspecification) * lines.values(x) + self.misspecification * waves.values(x)


@dataclass(frozen=True, kw_only=True)
class RareRewardEnvironment(_WavyEnvironment):
    """Rewards that are 1 in a share `rate` of rounds under uniform play, else 0.

    Means run from 0 to 2 `rate`. The dial `misspecification` turns them from lines into sinusoids of random
    projections, and leaves the rate as it is.

    >>> environment = RareRewardEnvironment(misspecification=0.5).draw(0, 20_000, seed=0)
    >>> round(float(environment.rewards.mean()), 2), bool(environment.means.max() <= 0.1)
    (0.05, True)
    """

    rate: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("rate", self.rate)
        if self.rate > 0.5:
            raise ValueError(f"rate is {self.rate!r}; means run to twice the rate, so give at most .5.")

    @property
    def problem(self) -> Problem:
        """Actions 1 to K, p features, rewards 0 and 1."""
        return box_problem(self.n_actions, self.n_features, 0, "bernoulli")

    def means(self, x: Floats) -> Floats:
        """Expected rewards of all actions at (n, p) features, (n, K)."""
        return 2.0 * self.rate * within_unit(self._values(x))

    def rewards(self, rng: np.random.Generator, x: Floats, means: Floats) -> Floats:  # noqa: ARG002
        """Realised rewards of all actions, (n, K)."""
        return noisy(rng, means, "bernoulli")


@dataclass(frozen=True, kw_only=True)
class HeteroscedasticEnvironment(_WavyEnvironment):
    """Gaussian noise whose standard deviation grows along the first feature, from `noise` to `most_noise`.

    The dial `misspecification` turns means from lines into sinusoids of random projections.

    >>> environment = HeteroscedasticEnvironment(noise=0.1, most_noise=0.5)
    >>> environment.deviations(np.array([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])).round(12).tolist()
    [0.1, 0.3, 0.5]
    """

    noise: float = 0.05
    most_noise: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_deviation("noise", self.noise)
        check_deviation("most_noise", self.most_noise)
        if self.most_noise < self.noise:
            raise ValueError(
                f"most_noise is {self.most_noise!r}, below the noise, {self.noise!r}; give no less than that."
            )

    @property
    def problem(self) -> Problem:
        """Actions 1 to K, p features, rewards accepted outside (0, 1)."""
        return box_problem(self.n_actions, self.n_features, 0, self.noise)

    def deviations(self, x: Floats) -> Floats:
        """The standard deviation of rewards at (n, p) features, (n,)."""
        return self.noise + (self.most_noise - self.noise) * (1.0 + x[:, 0]) / 2.0

    def means(self, x: Floats) -> Floats:
        """Expected rewards of all actions at (n, p) features, (n, K)."""
        return within_unit(self._values(x))

    def rewards(self, rng: np.random.Generator, x: Floats, means: Floats) -> Floats:
        """Realised rewards of all actions, (n, K)."""
        return means + self.deviations(x)[:, np.newaxis] * rng.standard_normal(means.shape)

"""Scale of rewards: origin, unit and spread of what was seen, by which every learner's exploration is scaled.

Rewards enter a fit as (r - anchor) / unit, which the first rows fix: about 0 and of size 1, whatever they
are measured in. The unit is the spread of the first rows and the anchor one of their rewards, so that a + b r
gives the same bits as r wherever a + b r is exact and b a power of 2. Scores are above the mean of all
rewards so far, in multiples of their spread, which a policy's constants refer to: twice the standard
deviation, and so at most the width of the range that rewards keep to.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import Scorer
from gyrfalcon.core.records import Log
from gyrfalcon.oracles.linear.models import JointModel, LinearModel, OptimisticModel, PerActionModel
from gyrfalcon.oracles.protocol import RewardModel

_ROUNDING = 64 * float(np.finfo(np.float64).eps)
_N_BEYOND = 20
"""Rewards beyond an end of the range that must be seen before any counts beyond it, and then the largest this
many count as the last of them: errors of measurement are few, and what is common is no error."""


@dataclass(frozen=True, slots=True)
class RewardScale:
    """Origin and unit of the rewards in fits, and sums over all rewards seen, in these units.

    >>> scale, units = RewardScale().seen(np.array([100.0, 120.0, 100.0, 120.0]))
    >>> units.tolist(), scale.spread, scale.reward_unit
    ([-1.0, 0.0, -1.0, 0.0], 1.0, 20.0)
    """

    has_range: bool = False
    """Whether log rewards from 0 to 1 are to be expected: these are never capped."""
    literal: bool = False
    """Whether fits and exploration have the log's own unit, the paper's [0, 1]."""
    anchored: bool = True
    """Whether rewards may be measured from anywhere, which models without an intercept can't."""
    winsorised: bool = False
    """Whether the most extreme rewards outside the range count as less extreme ones."""
    anchor: float = 0.0
    """The median of the first rewards, in the log's units."""
    unit: float = 0.0
    """The spread of the first rows, in the log's units; 0 as long as all are equal."""
    n: float = 0.0
    total: float = 0.0
    squares: float = 0.0
    low: float = math.inf
    high: float = -math.inf
    above: tuple[float, ...] = ()
    """The largest rewards above the range, in the log's units, largest first."""
    below: tuple[float, ...] = ()
    """The smallest below it, as distances from 0, largest first."""

    @staticmethod
    def of(
        problem: Problem, *, literal: bool = False, anchored: bool = True, winsorised: bool = False
    ) -> RewardScale:
        """The scale of a problem before its first row; literal only where the problem has a range."""
        has_range = problem.reward_range is not None
        literal = literal and has_range
        return RewardScale(has_range, literal, anchored, winsorised, unit=1.0 if literal else 0.0)

    @property
    def mean(self) -> float:
        """The mean of all rewards so far, in units of fits; 0 before the first."""
        return self.total / self.n if self.n > 0.0 else 0.0

    @property
    def center(self) -> float:
        """What scores are measured from: the mean of all rewards, or 0 for models without an intercept."""
        return self.mean if self.anchored and not self.literal else 0.0

    @property
    def variance(self) -> float:
        """The variance of all rewards so far, in units of fits."""
        if self.n <= 0.0:
            return 0.0
        variance = self.squares / self.n - self.mean**2
        return variance if variance > _ROUNDING * self.squares / self.n else 0.0

    @property
    def spread(self) -> float:
        """Twice the standard deviation of rewards in units of fits; 1 while all are equal, and if literal."""
        if self.literal:
            return 1.0
        # Equal rewards are 0 from their anchor; without one, their distance from 0 is all there is.
        return 2.0 * math.sqrt(self.variance) or abs(self.mean) or 1.0

    @property
    def information(self) -> float:
        """4 q (1 - q), where the mean is at the share q of the way from the least reward to the largest."""
        share = (self.mean - self.low) / (self.high - self.low) if self.variance > 0.0 else 0.5
        return min(max(4.0 * share * (1.0 - share), 1e-6), 1.0)

    @property
    def reward_unit(self) -> float:
        """The spread in the log's units: what one unit of gamma, bonus and temperature refers to."""
        return self.spread * (self.unit or 1.0)

    @property
    def of_scores(self) -> tuple[float, float, float, float]:
        """Centre and spread of scores in units of fits, and the anchor and unit of these in the log's."""
        return self.center, self.spread, self.anchor, self.unit or 1.0

    @property
    def limits(self) -> tuple[float, float]:
        """The ends of the reward range as scores are; infinite without a range."""
        if not self.has_range:
            return -math.inf, math.inf
        ends = (self._converted(np.array([0.0, 1.0])) - self.center) / self.spread
        return float(ends[0]), float(ends[1])

    def converted(self, log: Log) -> tuple[RewardScale, Log]:
        """The scale with the rows of a log, and the log with rewards in units of fits."""
        scale, rewards = self.seen(log.reward)
        return scale, replace(log, reward=rewards)

    def seen(self, rewards: Floats) -> tuple[RewardScale, Floats]:
        """The scale with these rewards of a log, and the rewards in units of fits."""
        if len(rewards) == 0:
            return self, rewards
        scale, rewards = self._winsorised(rewards)
        if self.n == 0.0 and self.anchored and not self.literal:
            scale = replace(scale, anchor=float(np.sort(rewards)[len(rewards) // 2]))
        if scale.unit == 0.0:
            scale = scale._with_unit(rewards - scale.anchor)
        units = scale._capped(scale._converted(rewards))
        return (
            replace(
                scale,
                n=scale.n + len(units),
                total=scale.total + float(units.sum()),
                squares=scale.squares + float(units @ units),
                low=min(scale.low, float(units.min())),
                high=max(scale.high, float(units.max())),
            ),
            units,
        )

    def for_theory(self, log: Log) -> Log:
        """Rows of fits in units of the theory: those of the reward range, or spreads where there is none."""
        if not self.has_range:
            return self.in_spreads(log)
        return log if self.literal else replace(log, reward=self.anchor + (self.unit or 1.0) * log.reward)

    def in_spreads(self, log: Log) -> Log:
        """Rows in units of fits, with rewards above the mean in multiples of the spread, as scores are."""
        return replace(log, reward=(log.reward - self.center) / self.spread)

    def scaled(self, factor: float) -> RewardScale:
        """The scale with every row's weight times a factor."""
        return replace(self, n=factor * self.n, total=factor * self.total, squares=factor * self.squares)

    def _winsorised(self, rewards: Floats) -> tuple[RewardScale, Floats]:
        """The scale and rewards, with the most extreme ones outside the range moved towards it."""
        if not (self.winsorised and self.has_range):
            return self, rewards
        if float(rewards.min()) >= 0.0 and float(rewards.max()) <= 1.0:
            return self, rewards
        above, below = _largest(self.above, rewards, 1.0), _largest(self.below, -rewards, 0.0)
        high = above[-1] if len(above) == _N_BEYOND else 1.0
        low = -below[-1] if len(below) == _N_BEYOND else 0.0
        return replace(self, above=above, below=below), np.clip(rewards, low, high)

    def _converted(self, rewards: Floats) -> Floats:
        if self.literal:
            return rewards
        return (rewards - self.anchor) / (self.unit or 1.0)

    def _with_unit(self, distances: Floats) -> RewardScale:
        """The scale with its unit, where these distances from the anchor are not all 0.

        Rows before, if any, are all at the anchor, and 0 in any unit.
        """
        largest = float(np.abs(distances).max())
        if largest == 0.0:
            return self
        size = _power_of_2(largest)
        shares = _without_outlier(distances / size, *self._trusted(size))
        if self.n > 0.0:
            return replace(self, unit=size * float(np.abs(shares[shares != 0.0][0])))
        return replace(self, unit=size * (2.0 * float(shares.std()) or float(np.abs(shares).max())))

    def _trusted(self, size: float) -> tuple[float, float]:
        """The reward range as distances from the anchor, in units of a size."""
        if not self.has_range:
            return 0.0, 0.0
        return (0.0 - self.anchor) / size, (1.0 - self.anchor) / size

    def _capped(self, units: Floats) -> Floats:
        """Rewards, with those outside any range no further from the mean than all before are together.

        What a reward adds to the sum of squares is then at most what is there: one that is absurd can double
        the variance, and move the mean of n rows by no more than a deviation over the root of n. Rewards
        like some seen before stay as they are, also where earlier rows are discounted and hardly count.
        """
        if self.n == 0.0 or self.variance == 0.0:
            trusted = self._converted(np.array([0.0, 1.0])) if self.has_range else np.zeros(2)
            return _without_outlier(units, float(trusted[0]), float(trusted[1]))
        reach = math.sqrt(self.n * self.variance)
        low, high = min(self.mean - reach, self.low), max(self.mean + reach, self.high)
        if self.has_range:
            ends = self._converted(np.array([0.0, 1.0]))
            low, high = min(low, float(ends[0])), max(high, float(ends[1]))
        return np.clip(units, low, high)


NOTHING_SEEN = RewardScale()
COIN = RewardScale(has_range=True, unit=1.0, n=2.0, total=1.0, squares=1.0, low=0.0, high=1.0)
"""The scale of rewards that are 0 or 1 alike."""


@dataclass(frozen=True, slots=True)
class ScaledModel:
    """Scores of a reward model above a centre, in multiples of the spread of rewards."""

    model: RewardModel
    center: float
    spread: float
    anchor: float = 0.0
    unit: float = 1.0

    @property
    def known(self) -> Bools | None:
        """(K,): which actions there are data on; None: all."""
        return self.model.known

    def scores(self, contexts: Contexts) -> Floats:
        """(n, K) estimated rewards less the centre, over the spread."""
        return (self.model.scores(contexts) - self.center) / self.spread

    def rewards(self, contexts: Contexts) -> Floats:
        """The estimates as rewards in the log's units, (n, K)."""
        return self.anchor + self.unit * self.model.scores(contexts)


def in_spreads(model: RewardModel, scale: RewardScale) -> RewardModel:
    """The model with scores above the mean reward in multiples of the spread; as it is if literal."""
    if scale.literal:
        return model
    if isinstance(model, PerActionModel | JointModel):
        return model.rescaled(*scale.of_scores)
    return ScaledModel(model, *scale.of_scores)


def _largest(known: tuple[float, ...], values: Floats, end: float) -> tuple[float, ...]:
    """The largest values beyond an end, with those known before, largest first."""
    beyond = [*known, *values[values > end].tolist()]
    return tuple(sorted(beyond, reverse=True)[:_N_BEYOND])


def _power_of_2(value: float) -> float:
    """The smallest power of 2 above a positive number.

    >>> _power_of_2(20.0), _power_of_2(0.5)
    (32.0, 1.0)
    """
    return math.ldexp(1.0, math.frexp(value)[1])


def _without_outlier(values: Floats, low: float, high: float) -> Floats:
    """Values, with the one furthest from the median no further than all others are together.

    What is within low and high stays, and so does everything if all others are equal: a single reward among
    zeros is what there is to learn from.
    """
    centre = float(np.median(values))
    squares = (values - centre) ** 2
    others = math.sqrt(max(float(np.sort(squares)[:-1].sum()), 0.0))
    if others == 0.0:
        return values
    return np.clip(values, min(centre - others, low), max(centre + others, high))


def in_rewards(model: LinearModel, scale: RewardScale) -> LinearModel:
    """The model of a fit with scores that are rewards in the log's units."""
    return model.rescaled(*scale.of_scores).restored()


def estimated_rewards(scorer: Scorer, contexts: Contexts) -> Floats:
    """Estimates (n, K) of a policy's model without any bonus, as rewards in the log's units.

    Policies score in multiples of the spread of rewards, or in units of fits; their models know these.
    """
    if isinstance(scorer, OptimisticModel):
        return scorer.restored().means(contexts)
    if isinstance(scorer, PerActionModel | JointModel):
        return scorer.restored().scores(contexts)
    if isinstance(scorer, ScaledModel):
        return scorer.rewards(contexts)
    return scorer.scores(contexts)

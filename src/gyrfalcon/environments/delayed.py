"""A wrapper of environments whose rewards are known later: by how much, and what silence counts as."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np
from scipy.special import pdtr, pdtrik

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.settings import changed_settings_repr
from gyrfalcon.core.validation import check_choice, check_whole, is_number
from gyrfalcon.environments.protocol import BLOCK, NEVER, Drawable, PotentialOutcomes
from gyrfalcon.environments.streams import DELAYS, layers, rows_of, stream
from gyrfalcon.environments.validation import check_environment, problem_of

Distribution: TypeAlias = Literal["fixed", "geometric", "poisson"]
FitRows: TypeAlias = Literal["final", "rewarded"]
_LONGEST = 2.0**53
"""Largest mean delay: sums of delays then fit into 64 bits."""


@dataclass(frozen=True, repr=False)
class Delayed:
    """An environment whose rewards are known only some rounds later, or never.

    A delay of 0 is no delay: the reward is known at the end of its own round. Delays are drawn for each
    round, independently of contexts. Unless `mean` is a function or some rewards are `missing`, they are also
    independent of rewards and so of actions. They add to those of the environment itself.

    Parameters
    ----------
    environment : Environment
        The environment that contexts and rewards come from.
    mean : float or Callable
        Mean delay in rounds; or a function from the rewards of all actions, (n, K), to their mean delays,
        (n, K), which are infinite where a reward never arrives.
    distribution : {'fixed', 'geometric', 'poisson'}, default 'fixed'
        'fixed': every delay is the mean; 'geometric': an outstanding reward arrives with the same probability
        at the end of every round; 'poisson': delays stay close to their mean.
    missing : float or Sequence[float], optional
        Rewards that never arrive: 0.0 where nobody reports that a visitor did not buy.
    timeout : int, optional
        Rounds after its own in which a reward can still arrive; None waits without limit, and rewards that
        never arrive are never learned from.
    default_reward : float, default 0.0
        What counts in place of a reward that has not arrived by the timeout, to the learner and in traces.
        Regret is counted by expected rewards, which stay as they are.
    fit_rows : {'final', 'rewarded'}, default 'final'
        Rows that fits read where there is a timeout. 'final': in the order of their decisions, each when its
        timeout is up. 'rewarded': each as soon as it has a reward, so that those who answer quickly are
        counted before those who never do; this is biased, and here for comparison.

    Examples
    --------
    >>> from gyrfalcon.environments.paper import StepExample
    >>> Delayed(StepExample(), mean=100).draw(0, 3, seed=0).reward_round.tolist()
    [100, 101, 102]
    >>> Delayed(StepExample(), mean=2.5, distribution="geometric").draw(0, 3, seed=0).reward_round.tolist()
    [3, 5, 3]
    >>> Delayed(StepExample(), mean=2, timeout=10).draw(0, 3, seed=0).final_round.tolist()
    [10, 11, 12]
    """

    environment: Drawable
    _: KW_ONLY
    mean: float | Callable[[Floats], Floats]
    distribution: Distribution = "fixed"
    missing: float | Sequence[float] | None = None
    timeout: int | None = None
    default_reward: float = 0.0
    fit_rows: FitRows = "final"

    def __post_init__(self) -> None:
        check_environment("environment", self.environment)
        check_choice("fit_rows", self.fit_rows, get_args(FitRows))
        self._check_delays()
        self._check_missing()
        if self.timeout is not None:
            check_whole("timeout", self.timeout, least=0, below=int(_LONGEST))
            problem_of(self.environment).rewards.checked(self.default_reward)

    def __repr__(self) -> str:
        return changed_settings_repr(self)

    @property
    def problem(self) -> Problem:
        """The problem of the environment."""
        return problem_of(self.environment)

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        """Outcomes of rounds start..stop-1."""
        drawn = self.environment.draw(start, stop, seed)
        rounds, delays = np.arange(start, stop), self._delays(drawn.rewards, start, stop, seed)
        known = _later(rounds if drawn.reward_round is None else drawn.reward_round, delays)
        if self.timeout is None:
            final = None if drawn.final_round is None else _later(drawn.final_round, delays)
            return replace(drawn, reward_round=known, final_round=final)
        expires = rounds + self.timeout
        last = expires if known.ndim == 1 else expires[:, np.newaxis]
        late = (known > last).reshape(len(rounds), -1)
        return replace(
            drawn,
            rewards=np.where(late, float(self.default_reward), drawn.rewards),
            reward_round=np.minimum(known, last),
            final_round=expires if self.fit_rows == "final" else None,
        )

    def _delays(self, rewards: Floats, start: int, stop: int, seed: int) -> Ints:
        """Delays that this wrapper adds, (n,), or (n, K) where they depend on rewards."""
        if callable(self.mean):
            delays = self._delays_by_mean(self._means(self.mean, rewards, start), start, stop, seed)
        elif self.distribution == "fixed":
            delays = np.full(stop - start, int(self.mean))
        else:
            delays = rows_of(lambda block: self._block(self._stream(seed, block)), start, stop)
        missing = self._is_missing(rewards)
        if missing is None:
            return delays
        return np.where(missing, NEVER, delays if delays.ndim == 2 else delays[:, np.newaxis])

    def _block(self, rng: np.random.Generator) -> Ints:
        assert not callable(self.mean)
        if self.distribution == "poisson":
            return rng.poisson(self.mean, BLOCK)
        return rng.geometric(1.0 / (1.0 + self.mean), BLOCK) - 1

    def _delays_by_mean(self, means: Floats, start: int, stop: int, seed: int) -> Ints:
        """Delays of different means, (n, K), by the quantile of one uniform number for each round."""
        never = np.isinf(means)
        finite = np.where(never, 0.0, means)
        if self.distribution == "fixed":
            delays = finite
        else:
            levels = rows_of(lambda block: self._stream(seed, block).random(BLOCK), start, stop)
            quantile = _poisson_quantile if self.distribution == "poisson" else _geometric_quantile
            delays = quantile(levels[:, np.newaxis], finite)
        return np.where(never, NEVER, delays.astype(np.int64))

    def _means(self, mean: Callable[[Floats], Floats], rewards: Floats, start: int) -> Floats:
        """The mean delays of these rewards, (n, K), or a ValueError that says what is wrong with them."""
        means = np.asarray(mean(rewards), dtype=np.float64)
        if means.shape != rewards.shape:
            raise ValueError(
                f"mean gave an array of shape {means.shape} for rewards of shape {rewards.shape}; "
                "give a mean delay for each of them."
            )
        valid = ((means >= 0.0) & (means <= _LONGEST)) | np.isposinf(means)
        if self.distribution == "fixed":
            valid &= np.isinf(means) | (means == np.floor(means))
        if not valid.all():
            row, action = np.argwhere(~valid)[0].tolist()
            kind = "whole number" if self.distribution == "fixed" else "number"
            raise ValueError(
                f"mean gave {means[row, action]} for the reward {rewards[row, action]} in round "
                f"{start + row}; give a {kind} of rounds from 0 to 2**53, or infinity."
            )
        return means

    def _is_missing(self, rewards: Floats) -> Bools | None:
        if self.missing is None:
            return None
        return np.isin(rewards, np.asarray(self.missing, dtype=np.float64))

    def _stream(self, seed: int, block: int) -> np.random.Generator:
        return stream(seed, block, DELAYS, layers(self.environment, Delayed))

    def _check_delays(self) -> None:
        if self.distribution not in get_args(Distribution):
            raise ValueError(
                f"distribution is {self.distribution!r}; give 'fixed', 'geometric' or 'poisson'."
            )
        if callable(self.mean):
            return
        if not (is_number(self.mean) and 0.0 <= self.mean <= _LONGEST):
            raise ValueError(
                f"mean is {self.mean!r}; give a number of rounds from 0 to 2**53, or a function of rewards."
            )
        if self.distribution == "fixed" and self.mean != int(self.mean):
            raise ValueError(
                f"mean is {self.mean!r}, and a fixed delay is a whole number of rounds; "
                "give one, or distribution='geometric' or 'poisson'."
            )

    def _check_missing(self) -> None:
        if isinstance(self.missing, list | np.ndarray):
            # Settings are values: a list would leave them without a hash.
            object.__setattr__(self, "missing", tuple(self.missing))
        values = self.missing if isinstance(self.missing, tuple) else (self.missing,)
        if self.missing is not None and not all(is_number(one) and math.isfinite(one) for one in values):
            raise ValueError(
                f"missing is {self.missing!r}; give the reward that never arrives, such as 0.0, or several."
            )


def _later(rounds: Ints, delays: Ints) -> Ints:
    """Round numbers with delays added, at most `NEVER`."""
    if rounds.ndim < delays.ndim:
        rounds = rounds[:, np.newaxis]
    elif delays.ndim < rounds.ndim:
        delays = delays[:, np.newaxis]
    return np.minimum(np.minimum(rounds, NEVER - delays) + delays, NEVER)


def _geometric_quantile(levels: Floats, means: Floats) -> Floats:
    """Smallest delays whose cumulative probabilities exceed the levels, for geometric delays from 0 on."""
    with np.errstate(divide="ignore"):  # a mean of 0 divides by infinity below, which gives the delay 0
        delays: Floats = np.floor(np.log1p(-levels) / -np.log1p(1.0 / means))
    return delays


def _poisson_quantile(levels: Floats, means: Floats) -> Floats:
    """Smallest delays whose cumulative probabilities reach the levels, for Poisson delays."""
    positive = np.maximum(means, np.finfo(np.float64).tiny)
    above = np.ceil(pdtrik(np.maximum(levels, 2.0**-54), positive))
    below = np.maximum(above - 1.0, 0.0)
    # The inverse rounds: it can be just above the whole number that it should be.
    delays: Floats = np.where(pdtr(below, positive) >= levels, below, above)
    return delays

"""Conversion of rewards to the learner's units, in which they run from 0 to 1 and larger is better."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Literal, TypeAlias, get_args

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.core.inputs.tables import by_row, finite_floats, number_of, values_of

OutOfRange: TypeAlias = Literal["error", "clip", "accept"]


@dataclass(frozen=True, slots=True)
class RewardRange:
    """Range of rewards, and what happens to rewards out of range.

    A reward that is missing or infinite is refused always.

    Parameters
    ----------
    low
        Lowest reward.
    high
        Highest reward.
    out_of_range
        Effect of a reward outside the range: "error" refuses it, "clip" moves it to the nearer end, and
        "accept" takes it as it is.
    cost
        Whether rewards are costs, of which less is better: the lowest cost is then worth 1.

    Raises
    ------
    ValueError
        If an end is not finite, or the lower end does not come first.

    Examples
    --------
    >>> RewardRange(0, 50).to_unit([0, 10, 50]).tolist()
    [0.0, 0.2, 1.0]
    >>> RewardRange(0, 50, out_of_range="clip", cost=True).to_unit([10, 60]).tolist()
    [0.8, 0.0]
    >>> RewardRange(0, 50, cost=True).from_unit(np.array([0.8])).tolist()
    [10.0]
    """

    low: float = 0.0
    high: float = 1.0
    out_of_range: OutOfRange = "error"
    cost: bool = False

    def __post_init__(self) -> None:
        low, high = _bound("low", self.low), _bound("high", self.high)
        if not low < high:
            raise ValueError(f"the reward range is ({low:g}, {high:g}); the lower end must come first.")
        if not isfinite(high - low):
            raise ValueError(f"the reward range ({low:g}, {high:g}) is too wide for float64; narrow it.")
        if self.out_of_range not in get_args(OutOfRange):
            raise ValueError(
                f"out_of_range is {short_repr(self.out_of_range)}; give 'error', 'clip' or 'accept'."
            )
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "cost", bool(self.cost))

    def to_unit(self, values: object) -> Floats:
        """Rewards in the learner's units.

        Parameters
        ----------
        values
            A column of rewards, or an array of any shape.

        Returns
        -------
        ndarray
            Floats of the same shape, in [0, 1] unless rewards out of range are accepted.

        Raises
        ------
        ValueError
            If a reward is not a finite number, or is out of range and refused.
        """
        column = values if isinstance(values, np.ndarray) else values_of(values)
        floats = finite_floats(column)
        if floats is not None:
            within = self.out_of_range != "error" or ((floats >= self.low) & (floats <= self.high)).all()
            with np.errstate(over="ignore"):
                units = self.scaled(floats) if within else floats
            if within and np.isfinite(units).all():
                return units
        if isinstance(column, np.ndarray):
            return np.array(by_row(self.unit_one, column.reshape(-1)), dtype=np.float64).reshape(column.shape)
        return np.array(by_row(self.unit_one, column), dtype=np.float64)

    def scaled(self, rewards: Floats) -> Floats:
        """Rewards that were `checked` before, in the learner's units."""
        within = np.clip(rewards, self.low, self.high) if self.out_of_range == "clip" else rewards
        return (self.high - within if self.cost else within - self.low) / (self.high - self.low)

    def checked(self, value: object) -> float:
        """One reward as a plain float in the problem's units, refused if it has none in the learner's."""
        self.unit_one(value)
        return float(value)  # type: ignore[arg-type]  # unit_one has refused what is not a number

    def unit_one(self, value: object) -> float:
        """One reward in the learner's units, with the same bits as in a column."""
        reward = value if type(value) is float else self._number(value)
        if not self.low <= reward <= self.high:
            reward = self._moved(reward)
        return (self.high - reward if self.cost else reward - self.low) / (self.high - self.low)

    def from_unit(self, units: Floats) -> Floats:
        """Rewards, or costs, of numbers in the learner's units."""
        scaled = units * (self.high - self.low)
        return self.high - scaled if self.cost else self.low + scaled

    def _number(self, value: object) -> float:
        try:
            return number_of(value)
        except ValueError as error:
            raise ValueError(f"the {self._kind} {error}; give a finite number.") from None

    def _moved(self, reward: float) -> float:
        """A reward outside the range, as `out_of_range` changes it."""
        if not isfinite(reward):
            raise ValueError(
                f"the {self._kind} is {reward}; give a finite number, or wait until there is one."
            )
        if self.out_of_range == "clip":
            return min(max(reward, self.low), self.high)
        if self.out_of_range == "error":
            raise ValueError(
                f"{self._kind} {reward!r} is outside ({self.low:g}, {self.high:g}); "
                "widen the range, or choose out_of_range='clip' or 'accept'."
            )
        distance = self.high - reward if self.cost else reward - self.low
        if not isfinite(distance / (self.high - self.low)):
            raise ValueError(
                f"{self._kind} {reward!r} is too large for float64 in units of the range; clip it."
            )
        return reward

    @property
    def _kind(self) -> str:
        return "cost" if self.cost else "reward"


def _bound(name: str, value: object) -> float:
    try:
        bound = number_of(value)
    except ValueError as error:
        raise ValueError(f"the reward range's {name} end {error}; give a finite number.") from None
    if not isfinite(bound):
        raise ValueError(f"the reward range's {name} end is missing; give a finite number.")
    return bound

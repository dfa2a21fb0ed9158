"""Conversion of rewards to the log's units: 0 to 1 where their range is known, and larger is better."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import Literal, TypeAlias, get_args

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.core.inputs.tables import by_row, finite_floats, number_of, values_of

OutOfRange: TypeAlias = Literal["error", "clip", "accept"]

LARGEST = 1e100
"""Largest reward in the log's units, of either sign: sums of squares of larger ones could overflow."""


@dataclass(frozen=True, slots=True)
class RewardRange:
    """Range of rewards, and what happens to rewards out of range.

    A reward that is missing or infinite is refused always, and so is one that is more than 1e100 widths of
    the range, or of size 1e100 without a range: its square would leave no digits for any other reward.

    Parameters
    ----------
    low
        Lowest reward; None with `high` None where the range is unknown. Rewards in a log are then those of
        the problem, and costs times -1.
    high
        Highest reward.
    out_of_range
        Effect of a reward outside the range: "error" refuses it, "clip" moves it to the nearer end, and
        "accept" takes it as it is. Without a range no reward is outside, which is "accept".
    cost
        Whether rewards are costs, of which less is better: the lowest cost is then worth 1.

    Raises
    ------
    ValueError
        If an end is not finite, the lower end does not come first, or there is "clip" and no range.

    Examples
    --------
    >>> RewardRange(0, 50).to_unit([0, 10, 50]).tolist()
    [0.0, 0.2, 1.0]
    >>> RewardRange(0, 50, out_of_range="clip", cost=True).to_unit([10, 60]).tolist()
    [0.8, 0.0]
    >>> RewardRange(0, 50, cost=True).from_unit(np.array([0.8])).tolist()
    [10.0]
    >>> RewardRange(None, None, cost=True).to_unit([10, 60]).tolist()
    [-10.0, -60.0]
    """

    low: float | None = 0.0
    high: float | None = 1.0
    out_of_range: OutOfRange = "error"
    cost: bool = False

    def __post_init__(self) -> None:
        if self.out_of_range not in get_args(OutOfRange):
            raise ValueError(
                f"out_of_range is {short_repr(self.out_of_range)}; give 'error', 'clip' or 'accept'."
            )
        if self.low is None and self.high is None:
            if self.out_of_range == "clip":
                raise ValueError(
                    "out_of_range is 'clip' and there is no reward range to clip to; give a reward_range, or "
                    "leave out_of_range out."
                )
            object.__setattr__(self, "out_of_range", "accept")
        else:
            self._set_ends()
        object.__setattr__(self, "cost", bool(self.cost))

    def _set_ends(self) -> None:
        low, high = _bound("low", self.low), _bound("high", self.high)
        if not low < high:
            raise ValueError(f"the reward range is ({low:g}, {high:g}); the lower end must come first.")
        if not isfinite(high - low):
            raise ValueError(f"the reward range ({low:g}, {high:g}) is too wide for float64; narrow it.")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def ends(self) -> tuple[float, float] | None:
        """Lowest and highest reward, None where the range is unknown."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    def to_unit(self, values: object) -> Floats:
        """Rewards in the log's units.

        Parameters
        ----------
        values
            A column of rewards, or an array of any shape.

        Returns
        -------
        ndarray
            Floats of the same shape, in [0, 1] unless the range is unknown or rewards out of it are accepted.

        Raises
        ------
        ValueError
            If a reward is not a finite number, is too large, or is out of range and refused.
        """
        column = values if isinstance(values, np.ndarray) else values_of(values)
        floats = finite_floats(column)
        if floats is not None:
            low, high = self.ends or (-inf, inf)
            within = self.out_of_range != "error" or ((floats >= low) & (floats <= high)).all()
            with np.errstate(over="ignore"):
                units = self.scaled(floats) if within else floats
            if within and (np.abs(units) <= LARGEST).all():
                return units
        if isinstance(column, np.ndarray):
            return np.array(by_row(self.unit_one, column.reshape(-1)), dtype=np.float64).reshape(column.shape)
        return np.array(by_row(self.unit_one, column), dtype=np.float64)

    def scaled(self, rewards: Floats) -> Floats:
        """Rewards that were `checked` before, in the log's units."""
        if self.ends is None:
            return 0.0 - rewards if self.cost else rewards
        low, high = self.ends
        within = np.clip(rewards, low, high) if self.out_of_range == "clip" else rewards
        return (high - within if self.cost else within - low) / (high - low)

    def within(self, reward: float) -> float:
        """One reward that was `checked` before as fits see it, in the problem's units."""
        if self.ends is None or self.out_of_range != "clip":
            return reward
        return min(max(reward, self.ends[0]), self.ends[1])

    def checked(self, value: object) -> float:
        """One reward as a plain float in the problem's units, refused if it has none in the log's."""
        self.unit_one(value)
        return float(value)  # type: ignore[arg-type]  # unit_one has refused what is not a number

    def unit_one(self, value: object) -> float:
        """One reward in the log's units, with the same bits as in a column."""
        reward = value if type(value) is float else self._number(value)
        if self.ends is None:
            return self._of_any_size(reward, 0.0 - reward if self.cost else reward)
        low, high = self.ends
        if not low <= reward <= high:
            reward = self._moved(reward, low, high)
        return (high - reward if self.cost else reward - low) / (high - low)

    def from_unit(self, units: Floats) -> Floats:
        """Rewards, or costs, of numbers in the log's units."""
        if self.ends is None:
            return 0.0 - units if self.cost else units
        low, high = self.ends
        scaled = units * (high - low)
        return high - scaled if self.cost else low + scaled

    def _number(self, value: object) -> float:
        try:
            return number_of(value)
        except ValueError as error:
            raise ValueError(f"the {self._kind} {error}; give a finite number.") from None

    def _moved(self, reward: float, low: float, high: float) -> float:
        """A reward outside the range, as `out_of_range` changes it."""
        if not isfinite(reward):
            self._of_any_size(reward, reward)
        if self.out_of_range == "clip":
            return self.within(reward)
        if self.out_of_range == "error":
            raise ValueError(
                f"{self._kind} {reward!r} is outside ({low:g}, {high:g}); "
                "widen the range, or choose out_of_range='clip' or 'accept'."
            )
        self._of_any_size(reward, (high - reward if self.cost else reward - low) / (high - low))
        return reward

    def _of_any_size(self, reward: float, units: float) -> float:
        """The reward in the log's units, refused where it is not finite or swamps all others."""
        if not isfinite(reward):
            raise ValueError(
                f"the {self._kind} is {reward}; give a finite number, or wait until there is one."
            )
        if not abs(units) <= LARGEST:
            width = "" if self.ends is None else " widths of the reward range"
            raise ValueError(
                f"{self._kind} {reward!r} is more than {LARGEST:g}{width}, and no other {self._kind} would "
                "count beside it; correct it, or give a reward_range with out_of_range='clip'."
            )
        return units

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

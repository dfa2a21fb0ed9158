"""Rewards go to [0, 1] and back, and what lies outside follows the rule."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from gyrfalcon.core.inputs.reward_range import OutOfRange, RewardRange


def test_rewards_are_scaled_to_the_unit_interval() -> None:
    assert RewardRange(-10, 10).to_unit([-10, 0, 5, 10]).tolist() == [0.0, 0.5, 0.75, 1.0]


def test_a_cost_is_flipped_so_that_larger_is_better() -> None:
    costs = RewardRange(-10, 10, cost=True)
    assert costs.to_unit([-10, 0, 10]).tolist() == [1.0, 0.5, 0.0]
    assert costs.from_unit(np.array([1.0, 0.5, 0.0])).tolist() == [-10.0, 0.0, 10.0]


@pytest.mark.parametrize(
    "values",
    [
        [True, 0],
        (1, False),
        np.array([True, False]),
        np.array([1, 0], dtype=np.uint8),
        np.array([1.0, 0.0], dtype=np.float32),
        np.array([1, Decimal(0)], dtype=object),
        [np.int64(1), np.float32(0)],
        pd.Series([1, 0]),
        pl.Series([1, 0]),
        pa.array([1, 0]),
    ],
)
def test_columns_of_every_kind_are_rewards(values: object) -> None:
    units = RewardRange().to_unit(values)
    assert units.dtype == np.float64
    assert units.tolist() == [1.0, 0.0]


def test_an_array_keeps_its_shape() -> None:
    assert RewardRange(0, 2).to_unit(np.ones((2, 3))).tolist() == [[0.5] * 3] * 2
    assert RewardRange(0, 2).to_unit(np.zeros((0, 3))).shape == (0, 3)
    assert RewardRange(0, 2).to_unit([]).shape == (0,)


def test_a_reward_outside_is_refused_with_its_value_range_and_remedy() -> None:
    sentence = (
        r"row 1: reward 1.7 is outside \(0, 1\); widen the range, or choose out_of_range='clip' or 'accept'"
    )
    with pytest.raises(ValueError, match=sentence):
        RewardRange().to_unit([0.5, 1.7])
    with pytest.raises(ValueError, match=r"^reward 1.7 is outside"):
        RewardRange().unit_one(np.float64(1.7))
    with pytest.raises(ValueError, match=r"^cost -1.0 is outside"):
        RewardRange(cost=True).unit_one(-1)


def test_clip_moves_rewards_to_the_nearer_end() -> None:
    clipping = RewardRange(0, 2, out_of_range="clip")
    assert clipping.to_unit([-5, 1, 1e300]).tolist() == [0.0, 0.5, 1.0]
    assert clipping.to_unit([-5, 1, 9]).tolist() == [0.0, 0.5, 1.0]


def test_accept_lets_rewards_through() -> None:
    assert RewardRange(0, 2, out_of_range="accept").to_unit([-2, 1, 4]).tolist() == [-1.0, 0.5, 2.0]
    with pytest.raises(ValueError, match=r"more than 1e\+100 widths"):
        RewardRange(-1e308, 7e307, out_of_range="accept").unit_one(1e308)
    with pytest.raises(ValueError, match=r"more than 1e\+100 widths"):
        RewardRange(0, 1e-300, out_of_range="accept").to_unit([1e10])


@pytest.mark.parametrize("cost", [False, True])
def test_without_a_range_rewards_are_taken_as_they_are(cost: bool) -> None:
    rewards, sign = RewardRange(None, None, cost=cost), -1.0 if cost else 1.0
    assert rewards.ends is None
    assert rewards.out_of_range == "accept"
    assert rewards.to_unit([3, -4.5, 0]).tolist() == [sign * 3.0, sign * -4.5, 0.0]
    assert rewards.unit_one(7) == sign * 7.0
    assert rewards.from_unit(rewards.to_unit([3.0, -4.5])).tolist() == [3.0, -4.5]
    assert rewards.checked(2) == 2.0


def test_clipping_needs_a_range_and_a_range_both_ends() -> None:
    with pytest.raises(ValueError, match="no reward range to clip to"):
        RewardRange(None, None, out_of_range="clip")
    with pytest.raises(ValueError, match="low end"):
        RewardRange(None, 1.0)


@pytest.mark.parametrize("value", [1e155, -1e155])
def test_a_reward_that_would_swamp_all_others_is_refused(value: float) -> None:
    for rewards in (RewardRange(None, None), RewardRange(out_of_range="accept")):
        with pytest.raises(ValueError, match=r"e\+155 is more than 1e\+100"):
            rewards.checked(value)
        with pytest.raises(ValueError, match=r"row 1: .* more than 1e\+100"):
            rewards.to_unit([1.0, value])
    assert RewardRange(out_of_range="clip").unit_one(value) == float(value > 0)


@pytest.mark.parametrize("outside", ["error", "clip", "accept"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -np.inf, None, np.float32("nan")])
def test_missing_and_infinite_rewards_are_refused_by_every_rule(outside: OutOfRange, value: object) -> None:
    rule = RewardRange(out_of_range=outside)
    with pytest.raises(ValueError, match="finite number"):
        rule.unit_one(value)
    with pytest.raises(ValueError, match=r"row 1: .* finite number"):
        rule.to_unit([0.0, value])
    with pytest.raises(ValueError, match=r"row 1: .* finite number"):
        rule.to_unit(np.array([0.0, value], dtype=np.float64))


@pytest.mark.parametrize("value", ["1", b"1", 1j, np.datetime64("2020-01-01"), [1], np.array([1.0])])
def test_what_is_not_a_number_is_not_a_reward(value: object) -> None:
    with pytest.raises(ValueError, match=r"the reward .* is not a number; give a finite number"):
        RewardRange().unit_one(value)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"low": 1, "high": 0}, r"the reward range is \(1, 0\); the lower end must come first"),
        ({"low": 1, "high": 1}, "the lower end must come first"),
        ({"low": float("nan")}, "low end is missing"),
        ({"high": float("inf")}, "high end inf is not finite"),
        ({"high": "1"}, "high end '1' .* is not a number"),
        ({"low": -1e308, "high": 1e308}, "too wide"),
        ({"out_of_range": "ignore"}, "out_of_range is 'ignore'; give 'error', 'clip' or 'accept'"),
    ],
)
def test_a_range_that_makes_no_sense_is_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        RewardRange(**settings)


def test_equal_ranges_are_equal_however_they_were_written() -> None:
    assert RewardRange(0, 1) == RewardRange(np.float64(0.0), True)

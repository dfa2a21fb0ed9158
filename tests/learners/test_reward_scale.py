"""The scale of rewards: what is measured, from where, and what a single absurd reward can do."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.learners.reward_scale import RewardScale

UNKNOWN = RewardScale()
KNOWN = RewardScale(has_range=True)
finite = st.lists(st.integers(-1000, 1000), min_size=2, max_size=30).map(
    lambda one: np.array(one, dtype=float)
)


def seen(scale: RewardScale, *batches: Floats) -> tuple[RewardScale, Floats]:
    units = []
    for batch in batches:
        scale, own = scale.seen(batch)
        units.append(own)
    return scale, np.concatenate(units)


@given(finite, st.integers(-40, 40), st.integers(-(2**20), 2**20))
def test_powers_of_2_and_whole_numbers_leave_every_bit(rewards: Floats, power: int, shift: int) -> None:
    one, units = seen(UNKNOWN, rewards[: len(rewards) // 2], rewards[len(rewards) // 2 :])
    moved = math.ldexp(1.0, power) * (rewards + shift)
    other, moved_units = seen(UNKNOWN, moved[: len(rewards) // 2], moved[len(rewards) // 2 :])
    assert np.array_equal(units, moved_units)
    assert (one.spread, one.mean) == (other.spread, other.mean)
    assert other.unit == math.ldexp(one.unit, power)


@given(finite)
def test_the_spread_is_twice_the_deviation_however_rows_are_batched(rewards: Floats) -> None:
    rewards = 0.5 + rewards / 2000.0  # within the range: none is capped
    whole, units = seen(KNOWN, rewards)
    parts, _ = seen(KNOWN, *np.array_split(rewards, 3))
    if np.ptp(rewards) == 0.0:
        assert whole.spread == parts.spread == 1.0
        assert not units.any()
        return
    assert whole.reward_unit == pytest.approx(2.0 * rewards.std(), rel=1e-9)
    assert parts.reward_unit == pytest.approx(2.0 * rewards.std(), rel=1e-9)
    np.testing.assert_allclose(whole.anchor + whole.unit * units, rewards, atol=1e-12)


def test_rewards_that_keep_to_their_range_have_at_most_its_width() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert seen(KNOWN, (rng.random(50) < rng.random()).astype(float))[0].reward_unit <= 1.0 + 1e-12


def test_equal_rewards_are_0_until_one_differs() -> None:
    scale, units = seen(UNKNOWN, np.full(10, 7.25), np.full(5, 7.25))
    assert not units.any()
    assert (scale.unit, scale.spread, scale.variance) == (0.0, 1.0, 0.0)
    scale, units = scale.seen(np.array([7.25, 8.25]))
    assert units.tolist() == [0.0, 1.0 / scale.unit]
    assert scale.reward_unit == pytest.approx(2.0 * np.std([*[7.25] * 16, 8.25]))


@pytest.mark.parametrize("absurd", [1e90, -1e90])
@pytest.mark.parametrize("place", [0, 7, 150])
def test_one_absurd_reward_weighs_as_much_as_all_before_it_together(absurd: float, place: int) -> None:
    rewards = np.random.default_rng(1).normal(10.0, 2.0, 300)
    rewards[place] = absurd
    scale, units = seen(UNKNOWN, rewards[:100], rewards[100:200], rewards[200:])
    others = np.delete(rewards, place)
    assert scale.reward_unit < 3.0 * 2.0 * others.std()
    assert abs(scale.anchor + scale.unit * scale.mean - 10.0) < 1.0
    np.testing.assert_allclose(np.delete(scale.anchor + scale.unit * units, place), others, rtol=1e-9)


def test_rewards_within_the_range_are_never_capped_and_rare_ones_neither() -> None:
    rewards = np.zeros(1_000)
    rewards[[400, 900]] = 1.0
    scale, units = seen(KNOWN, *np.split(rewards, 10))
    np.testing.assert_allclose(scale.anchor + scale.unit * units, rewards)
    scale, units = seen(UNKNOWN, *np.split(20.0 * rewards, 10))
    np.testing.assert_allclose(scale.anchor + scale.unit * units, 20.0 * rewards)


def test_a_literal_scale_leaves_rewards_as_they_are() -> None:
    scale = RewardScale.of(Problem([0, 1]), literal=True)
    after, units = seen(scale, np.array([0.2, 0.9, 0.4]))
    assert units.tolist() == [0.2, 0.9, 0.4]
    assert (after.spread, after.center, after.reward_unit, after.limits) == (1.0, 0.0, 1.0, (0.0, 1.0))
    assert not RewardScale.of(Problem([0, 1], reward_range=None), literal=True).literal


def test_without_an_intercept_rewards_are_measured_from_0() -> None:
    scale, units = seen(replace(UNKNOWN, anchored=False), np.array([10.0, 14.0, 10.0, 14.0]))
    assert (scale.anchor, scale.center) == (0.0, 0.0)
    assert (scale.unit * units).tolist() == [10.0, 14.0, 10.0, 14.0]


def test_limits_are_the_range_as_scores_are() -> None:
    scale, _ = seen(KNOWN, np.array([0.2, 0.4, 0.2, 0.4]))
    assert scale.limits == pytest.approx((-0.3 / 0.2, 0.7 / 0.2))
    assert seen(UNKNOWN, np.array([1.0, 2.0]))[0].limits == (-math.inf, math.inf)


def test_discounted_rows_weigh_less() -> None:
    scale, _ = seen(UNKNOWN, np.array([0.0, 1.0] * 50))
    later, _ = scale.scaled(0.01).seen(np.array([100.0, 101.0] * 50))
    kept, _ = scale.seen(np.array([100.0, 101.0] * 50))
    assert later.spread < kept.spread


@pytest.mark.parametrize(("share", "information"), [(0.5, 1.0), (0.01, 0.0396), (0.99, 0.0396)])
def test_rewards_that_are_nearly_all_alike_say_little(share: float, information: float) -> None:
    rewards = (np.arange(10_000) < 10_000 * share).astype(float)
    for factor in (1.0, -20.0):
        scale = RewardScale().seen(factor * rewards)[0]
        assert scale.information == pytest.approx(information, rel=1e-9)
    assert RewardScale().information == RewardScale().seen(np.zeros(9))[0].information == 1.0


def test_rare_rewards_stay_what_they_are_while_earlier_rows_are_discounted() -> None:
    scale, found = RewardScale(), set()
    for block in range(40):
        rewards = np.zeros(100)
        rewards[0] = 5.0 * (block % 10 == 0)
        scale, units = scale.scaled(0.5).seen(rewards)
        found |= set((scale.anchor + units * (scale.unit or 1.0)).round(9).tolist())
    assert found == {0.0, 5.0}

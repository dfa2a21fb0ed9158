"""Scores of a difference between policies: unbiased by enumeration, and bounded below."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.arrays import Floats
from gyrfalcon.evaluation.intervals.sequences.contrast_scores import contrast_scores

shares = st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(any)
units = st.lists(st.integers(0, 4).map(lambda v: v / 4.0), min_size=3, max_size=3)
truncations = st.sampled_from([0.0, 0.25, 1.0, 4.0, 100.0])


def normalised(weights: list[int]) -> Floats:
    return np.array(weights) / sum(weights)


def every_outcome(
    difference: Floats, played: Floats, means: Floats, predictions: Floats, truncation: float
) -> tuple[Floats, Floats]:
    """Probabilities and scores of every action with a reward of 0 or 1."""
    cases = list(product(range(len(played)), (0.0, 1.0)))
    action, reward = (np.array(column) for column in zip(*cases, strict=True))
    chance = played[action] * np.where(reward == 1.0, means[action], 1.0 - means[action])
    possible = chance > 0.0
    action, reward, chance = action[possible], reward[possible], chance[possible]
    table = (len(action), 1)
    scores = contrast_scores(
        np.tile(difference, table),
        np.tile(played, table),
        action,
        played[action],
        reward,
        np.tile(predictions, table),
        truncation,
    )
    return chance, scores


@given(shares, shares, shares, units, units, truncations)
def test_scores_are_unbiased_where_all_actions_are_played(
    one: list[int], other: list[int], played: list[int], means: list[float], g: list[float], k: float
) -> None:
    difference = normalised(one) - normalised(other)
    chance, scores = every_outcome(
        difference, normalised([p + 1 for p in played]), np.array(means), np.array(g), k
    )
    np.testing.assert_allclose(chance @ scores, difference @ np.array(means), atol=1e-12)
    assert scores.min() >= -1.0 - k - 1e-12


@given(shares, shares, shares, units, units, truncations)
def test_scores_are_never_too_large_where_actions_are_left_out(
    one: list[int], other: list[int], played: list[int], means: list[float], g: list[float], k: float
) -> None:
    difference = normalised(one) - normalised(other)
    chance, scores = every_outcome(difference, normalised(played), np.array(means), np.array(g), k)
    assert chance @ scores <= difference @ np.array(means) + 1e-12
    assert scores.min() >= -1.0 - k - 1e-12


@given(shares, shares, shares, units, units)
def test_the_played_action_s_probability_is_enough(
    one: list[int], other: list[int], played: list[int], means: list[float], g: list[float]
) -> None:
    difference, known = normalised(one) - normalised(other), normalised([p + 1 for p in played])
    cases = list(product(range(3), (0.0, 1.0)))
    action, reward = (np.array(column) for column in zip(*cases, strict=True))
    chance = known[action] * np.where(reward == 1.0, np.array(means)[action], 1.0 - np.array(means)[action])
    table = (len(action), 1)
    scores = contrast_scores(
        np.tile(difference, table),
        np.full((len(action), 3), np.nan),
        action,
        known[action],
        reward,
        np.tile(g, table),
    )
    np.testing.assert_allclose(chance @ scores, difference @ np.array(means), atol=1e-12)
    assert scores.min() >= -1.0 - 1e-12


def test_equal_policies_have_scores_of_zero() -> None:
    zero, half = np.zeros((4, 2)), np.full((4, 2), 0.5)
    action = np.array([0, 1, 0, 1])
    assert contrast_scores(zero, half, action, half[:, 0], np.ones(4), half).tolist() == [0.0] * 4


def test_good_predictions_leave_little_variance() -> None:
    rng = np.random.default_rng(0)
    n, means = 4000, np.array([0.9, 0.6])
    played, difference = np.tile([0.5, 0.5], (n, 1)), np.tile([1.0, -1.0], (n, 1))
    action = rng.integers(0, 2, n)
    reward = np.clip(means[action] + rng.normal(0.0, 0.02, n), 0.0, 1.0)
    arguments = (difference, played, action, played[:, 0], reward)
    with_, without = (contrast_scores(*arguments, np.tile(means, (n, 1)), k) for k in (4.0, 0.0))
    assert with_.std() < 0.2 * without.std()
    assert abs(with_.mean() - 0.3) < 4.0 * with_.std() / np.sqrt(n)

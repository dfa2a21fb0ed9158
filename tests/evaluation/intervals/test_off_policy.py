"""Off-policy scores that are bounded below, and the sequence made from them."""

from __future__ import annotations

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.evaluation.intervals.sequences.off_policy_sequence import off_policy_sequence
from gyrfalcon.evaluation.intervals.sequences.one_sided_scores import one_sided_scores

METHODS = pytest.mark.parametrize("method", ["betting", "bernstein"])


@pytest.mark.parametrize("truncation", [0.0, 0.5, 1.0, 10.0])
def test_scores_are_unbiased_and_bounded_below_by_enumeration(truncation: float) -> None:
    target, propensities = np.array([[0.5, 0.5, 0.0]]), np.array([[0.85, 0.1, 0.05]])
    model, rewards = np.array([[1.0, 1.0, 0.2]]), np.array([0.3, 0.9, 0.4])
    mean = 0.0
    for action in range(3):
        for reward, chance in ((1.0, rewards[action]), (0.0, 1.0 - rewards[action])):
            (score,) = one_sided_scores(
                target, propensities, np.array([action]), np.array([reward]), model, truncation
            )
            assert score >= -truncation - 1e-12
            mean += propensities[0, action] * chance * score
    assert mean == pytest.approx(0.5 * 0.3 + 0.5 * 0.9)


def test_without_truncation_scores_are_importance_weighted_rewards() -> None:
    target, propensities = np.tile([0.25, 0.75], (2, 1)), np.array([[0.5, 0.5], [0.8, 0.2]])
    scores = one_sided_scores(target, propensities, np.array([0, 1]), np.array([1.0, 0.5]), target)
    assert scores.tolist() == [0.5, 1.875]


def logged(seed: int, n: int) -> tuple[Floats, Floats, Ints, Floats, Floats]:
    """Target, propensities, action, reward and model of a log whose target has the value 0.55."""
    random = np.random.default_rng(seed)
    target, propensities = np.tile([0.25, 0.75], (n, 1)), np.tile([0.9, 0.1], (n, 1))
    action = (random.random(n) < 0.1).astype(int)
    reward = (random.random(n) < np.where(action == 1, 0.6, 0.4)).astype(float)
    return target, propensities, action, reward, np.tile([0.4, 0.6], (n, 1))


def sequence_of(
    seed: int, n: int, truncation: float, method: str, resolution: int = 1
) -> tuple[float, float]:
    target, propensities, action, reward, model = logged(seed, n)
    up = one_sided_scores(target, propensities, action, reward, model, truncation)
    down = one_sided_scores(target, propensities, action, 1.0 - reward, 1.0 - model, truncation)
    last = off_policy_sequence(up, down, truncation, 0.9, method=method, resolution=resolution).last
    return last.low, last.high


@METHODS
@pytest.mark.parametrize("truncation", [0.0, 1.0])
def test_sequences_cover_uniformly(method: str, truncation: float) -> None:
    bounds = np.array([sequence_of(seed, 500, truncation, method) for seed in range(150)])
    assert np.mean((bounds[:, 0] <= 0.55) & (bounds[:, 1] >= 0.55)) >= 0.9


def test_a_good_model_and_truncation_make_betting_bounds_narrower() -> None:
    (low, high), (low_dr, high_dr) = (sequence_of(3, 5_000, k, "betting") for k in (0.0, 3.0))
    assert 0.0 < high_dr - low_dr < high - low < 1.0


def test_smaller_bets_make_bounds_of_many_rows_narrower() -> None:
    target, propensities, action, reward, model = logged(3, 5_000)
    up = one_sided_scores(target, propensities, action, reward, model)
    down = one_sided_scores(target, propensities, action, 1.0 - reward, model)
    small, large = (off_policy_sequence(up, down, largest_loss=c, resolution=1).last for c in (0.25, 0.5))
    assert small.width < 0.95 * large.width


@METHODS
def test_bounds_are_in_the_units_of_the_rewards(method: str) -> None:
    scores, flipped = np.tile([2.0, 0.0, 0.0, 0.0], 100), np.tile([0.0, 2.0, 0.0, 0.0], 100)
    unit = off_policy_sequence(scores, flipped, method=method).last
    cents = off_policy_sequence(scores, flipped, bounds=(-50.0, 150.0), method=method).last
    assert (cents.low, cents.high) == pytest.approx((-50.0 + 200.0 * unit.low, -50.0 + 200.0 * unit.high))


def test_truncations_may_differ_by_row() -> None:
    scores, truncation = np.tile([1.5, 0.0, -1.0, 1.5], 100), np.tile([0.0, 0.0, 1.0, 2.0], 100)
    last = off_policy_sequence(scores, 1.0 - np.clip(scores, 0.0, 1.0), truncation).last
    assert last.low > 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.array([0.5, -0.2]), np.zeros(2)), "row 1: scores is -0.2, below -truncation = 0"),
        ((np.zeros(2), np.array([-3.0, 0.0]), 1.0), "row 0: flipped_scores is -3, below -truncation = -1"),
        ((np.zeros(2), np.zeros(3)), "2 scores and 3 flipped_scores"),
        ((np.zeros(2), np.zeros(2), -1.0), "truncation is -1.0; give a finite number of at least 0"),
        ((np.zeros(2), np.array([0.0, np.nan])), "row 1: flipped_scores is nan"),
    ],
)
def test_wrong_scores_are_refused(arguments: tuple[Floats, Floats], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        off_policy_sequence(*arguments)


def test_wrong_inputs_of_scores_are_refused() -> None:
    half, action = np.full((2, 2), 0.5), np.array([0, 1])
    with pytest.raises(ValueError, match="row 1: reward is 2; map rewards to"):
        one_sided_scores(half, half, action, np.array([0.0, 2.0]), half)
    with pytest.raises(ValueError, match="row 0: action 1 has a propensity of 0, and the target may"):
        one_sided_scores(half, np.array([[1.0, 0.0], [0.5, 0.5]]), action, np.zeros(2), half)

"""The confidence sequence of a difference between two policies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.evaluation.intervals.sequences.contrast_sequence import (
    contrast_sequence,
    one_sided_contrast_scores,
)


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3, 1.0, 10.0]))
def test_scores_are_unbiased_and_bounded_below_by_enumeration(seed: int, truncation: float) -> None:
    rng = np.random.default_rng(seed)
    first, second, propensities = rng.dirichlet(np.ones(3), (3, 1))
    second[0] = first[0] if seed % 5 == 0 else second[0]
    model, means = rng.random((1, 3)), rng.random(3)
    mean = 0.0
    for action in range(3):
        for reward, chance in ((1.0, means[action]), (0.0, 1.0 - means[action])):
            (score,) = one_sided_contrast_scores(
                first, second, propensities, np.array([action]), np.array([reward]), model, truncation
            )
            assert score >= -truncation / 2.0 - 1e-9
            mean += propensities[0, action] * chance * score
    assert 2.0 * mean - 1.0 == pytest.approx(float((first - second)[0] @ means), abs=1e-9)


def logged(seed: int, n: int) -> tuple[Floats, Floats, Floats, Ints, Floats, Floats]:
    """Targets that differ by 0.6 * (0.7 - 0.4) = 0.18, and a log that seldom has the better action."""
    rng = np.random.default_rng(seed)
    propensities = np.tile([0.8, 0.2], (n, 1))
    action = (rng.random(n) < 0.2).astype(int)
    reward = (rng.random(n) < np.array([0.4, 0.7])[action]).astype(float)
    first, second = np.tile([0.1, 0.9], (n, 1)), np.tile([0.7, 0.3], (n, 1))
    return first, second, propensities, action, reward, np.tile([0.4, 0.6], (n, 1))


@pytest.mark.parametrize("method", ["betting", "bernstein"])
@pytest.mark.parametrize("truncation", [0.0, 1.0])
def test_sequences_cover_uniformly(method: str, truncation: float) -> None:
    ends = [
        contrast_sequence(*logged(seed, 400), truncation, 0.9, method=method, resolution=1)
        for seed in range(150)
    ]
    held = [one.empty_from is None and 0.18 in one.last for one in ends]
    assert np.mean(held) >= 0.9
    if method == "betting":
        assert np.median([one.last.width for one in ends]) < 1.0


def test_a_clear_difference_is_found_and_its_opposite_too() -> None:
    log = logged(0, 4_000)
    forward = contrast_sequence(*log, 1.0).last
    backward = contrast_sequence(log[1], log[0], *log[2:], 1.0).last
    assert 0.0 < forward.low < 0.18 < forward.high < 0.35
    assert (backward.low, backward.high) == pytest.approx((-forward.high, -forward.low), abs=1e-9)


def test_policies_that_are_alike_differ_by_nothing() -> None:
    log = logged(1, 2_000)
    last = contrast_sequence(log[0], log[0], *log[2:]).last
    assert last.low < 0.0 < last.high
    assert last.width < 0.05


def test_bounds_are_in_the_units_of_the_rewards() -> None:
    log = logged(2, 300)
    unit = contrast_sequence(*log, 1.0).last
    euros = contrast_sequence(*log, 1.0, bounds=(-10.0, 30.0)).last
    assert (euros.low, euros.high) == pytest.approx((40.0 * unit.low, 40.0 * unit.high))


def test_actions_without_propensity_are_refused() -> None:
    log = logged(3, 2)
    log[2][1] = [1.0, 0.0]
    with pytest.raises(ValueError, match="row 1: action 1 has a propensity of 0, and the target may take it"):
        contrast_sequence(*log)

from __future__ import annotations

import math

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.policies.kernels import (
    EpsilonGreedyKernel,
    InverseGapWeighting,
    Kernel,
    LogBarrierWeighting,
    SoftmaxKernel,
    epsilon_greedy,
    inverse_gap_weighting,
    log_barrier_weighting,
    mixture,
    softmax,
    uniform,
)

SCORES = np.array([0.7, 0.4, 0.1])
GAPS = np.array([0.0, 0.3, 0.6])
GAMMA = 10.0


def decision_estimation(p: Floats) -> Floats:
    """What nature gains at most by making each action the best one (A1.P7)."""
    gains: Floats = p @ GAPS - GAPS + (1.0 / p - 1.0) / GAMMA
    return gains


def test_inverse_gap_weighting_by_hand() -> None:
    p = inverse_gap_weighting(SCORES, GAMMA)
    np.testing.assert_allclose(p, [13 / 18, 1 / 6, 1 / 9], rtol=1e-14)
    assert p @ GAPS == pytest.approx(0.11666667, abs=5e-9)


def test_log_barrier_weighting_by_hand() -> None:
    p = log_barrier_weighting(SCORES, GAMMA)
    np.testing.assert_allclose(p, [0.64741395, 0.22004104, 0.13254501], atol=5e-9)
    assert 1.0 / p[0] == pytest.approx(1.5446068, abs=5e-8)
    assert p @ GAPS == pytest.approx(0.14553932, abs=5e-9)


def test_log_barrier_weighting_of_two_actions_solves_its_quadratic() -> None:
    # 1 / lam + 1 / (lam + 3) = 1 has the root lam = (sqrt(13) - 1) / 2.
    p = log_barrier_weighting([0.3, 0.0], 10.0)
    np.testing.assert_allclose(p[0], 2.0 / (math.sqrt(13.0) - 1.0), rtol=1e-14)


def test_decision_estimation_by_hand() -> None:
    weighted = decision_estimation(inverse_gap_weighting(SCORES, GAMMA))
    barrier = decision_estimation(log_barrier_weighting(SCORES, GAMMA))
    np.testing.assert_allclose(weighted, [0.15512821, 0.31666667, 0.31666667], atol=5e-9)
    np.testing.assert_allclose(barrier, [0.2, 0.2, 0.2], rtol=1e-13)


def test_the_decision_estimation_bound_of_inverse_gap_weighting_is_sharp() -> None:
    gaps = np.array([0.0, 1e9, 1e9])
    p = inverse_gap_weighting(-gaps, GAMMA)
    gain = p @ gaps + (1.0 / p[1] - 1.0) / GAMMA - gaps[1]
    assert gain == pytest.approx(2.0 * 2.0 / GAMMA, rel=1e-6)


def test_epsilon_greedy_by_hand() -> None:
    np.testing.assert_allclose(epsilon_greedy([0.2, 0.9, 0.5], 0.3), [0.1, 0.8, 0.1], rtol=1e-14)
    assert epsilon_greedy([0.2, 0.9, 0.5], 0.0).tolist() == [0.0, 1.0, 0.0]


def test_softmax_by_hand() -> None:
    np.testing.assert_allclose(softmax([math.log(3.0), 0.0], 1.0), [0.75, 0.25], rtol=1e-14)
    np.testing.assert_allclose(softmax([2.0 * math.log(3.0), 0.0], 2.0), [0.75, 0.25], rtol=1e-14)


def test_mixtures_by_hand() -> None:
    parts = [np.array([[1.0, 0.0]]), np.array([[0.5, 0.5]]), np.array([[0.0, 1.0]])]
    np.testing.assert_allclose(mixture(parts, [0.5, 0.25, 0.25]), [[0.625, 0.375]], rtol=1e-15)
    assert parts[0].tolist() == [[1.0, 0.0]]


def test_a_mixture_needs_as_many_weights_as_parts() -> None:
    with pytest.raises(ValueError, match="zip"):
        mixture([np.array([[1.0]])], [0.5, 0.5])


def test_only_eligible_actions_share_and_count() -> None:
    eligible = [True, False, True]
    np.testing.assert_allclose(
        inverse_gap_weighting(SCORES, GAMMA, eligible), [0.875, 0.0, 0.125], rtol=1e-14
    )
    np.testing.assert_allclose(epsilon_greedy(SCORES, 0.3, eligible), [0.85, 0.0, 0.15], rtol=1e-14)
    assert uniform(3, 2, np.array([eligible, [False, True, False]])).tolist() == [
        [0.5, 0.0, 0.5],
        [0.0, 1.0, 0.0],
    ]


def test_the_best_action_is_the_best_eligible_one() -> None:
    assert epsilon_greedy(SCORES, 0.0, [False, True, True]).tolist() == [0.0, 1.0, 0.0]


def test_negative_scores_of_eligible_actions_never_meet_the_ineligible_ones() -> None:
    """K + gamma (best - 0) is 0 here: an ineligible action must not be weighed at all."""
    mask = [True, True, False]
    assert inverse_gap_weighting([-2.0, -2.0, 5.0], 1.0, mask).tolist() == [0.5, 0.5, 0.0]
    assert log_barrier_weighting([-1.0, -1.0, 5.0], 1.0, mask).tolist() == [0.5, 0.5, 0.0]


def test_one_mask_serves_all_rows() -> None:
    p = inverse_gap_weighting(np.tile(SCORES, (2, 4, 1)), GAMMA, [True, False, True])
    np.testing.assert_allclose(p, np.tile([0.875, 0.0, 0.125], (2, 4, 1)), rtol=1e-14)


def test_scores_and_masks_are_left_as_they_were() -> None:
    scores, mask = np.array([[0.7, 0.4, 0.1]]), np.array([[True, True, False]])
    for kernel in (
        InverseGapWeighting(9.0),
        LogBarrierWeighting(9.0),
        EpsilonGreedyKernel(0.1),
        SoftmaxKernel(1.0),
    ):
        kernel.probabilities(scores, mask)
        kernel.probabilities(scores, None)
    assert scores.tolist() == [[0.7, 0.4, 0.1]]
    assert mask.tolist() == [[True, True, False]]


@pytest.mark.parametrize(
    "kernel",
    [InverseGapWeighting(2.0), LogBarrierWeighting(2.0), EpsilonGreedyKernel(), SoftmaxKernel(1.0)],
    ids=repr,
)
def test_one_action_is_certain(kernel: Kernel) -> None:
    assert kernel.probabilities(np.array([[0.3], [-4.0]]), None).tolist() == [[1.0], [1.0]]
    masked = kernel.probabilities(np.array([[0.3, 9.0]]), np.array([[True, False]]))
    assert masked.tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize("gamma", [math.nan, math.inf, -1.0])
def test_a_kernel_with_an_impossible_gamma_cannot_be_made(gamma: float) -> None:
    with pytest.raises(ValueError, match="give a finite number of at least 0"):
        InverseGapWeighting(gamma)
    with pytest.raises(ValueError, match="give a finite number of at least 0"):
        LogBarrierWeighting(gamma)


@pytest.mark.parametrize("epsilon", [math.nan, -0.1, 1.1])
def test_an_epsilon_outside_0_to_1_raises(epsilon: float) -> None:
    with pytest.raises(ValueError, match="give a number from 0 to 1"):
        epsilon_greedy([0.1, 0.2], epsilon)


@pytest.mark.parametrize("temperature", [math.nan, math.inf, 0.0, -1.0])
def test_a_temperature_that_is_not_positive_raises(temperature: float) -> None:
    with pytest.raises(ValueError, match="give a positive number"):
        softmax([0.1, 0.2], temperature)

"""Actions without data get their share, and the kernel the rest."""

from __future__ import annotations

import numpy as np
import pytest

from gyrfalcon.core.arrays import Bools
from gyrfalcon.core.policies.kernels import EpsilonGreedyKernel, InverseGapWeighting
from gyrfalcon.core.policies.untried import TryingKernel

SCORES = np.random.default_rng(0).normal(size=(60, 5))
MASK = np.random.default_rng(1).random((60, 5)) < 0.5
MASK[np.arange(60), np.arange(60) % 5] = True
SOME = np.array([True, False, True, True, False])


@pytest.mark.parametrize(
    "kernel", [EpsilonGreedyKernel(0.0), EpsilonGreedyKernel(0.2), InverseGapWeighting(9.0)]
)
@pytest.mark.parametrize("eligible", [None, MASK])
def test_shares_are_one_over_k_and_the_rest_follows_the_kernel(
    kernel: object, eligible: Bools | None
) -> None:
    assert isinstance(kernel, EpsilonGreedyKernel | InverseGapWeighting)
    p = TryingKernel(kernel, SOME).probabilities(SCORES, eligible)
    mask = np.ones_like(MASK) if eligible is None else eligible
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=0, atol=1e-15)
    assert (p[~mask] == 0.0).all()
    counts = np.broadcast_to(mask.sum(axis=1, keepdims=True), mask.shape)
    untried = mask & ~SOME
    assert np.array_equal(p[untried], 1.0 / counts[untried])
    rows = (mask & SOME).any(axis=1)
    inner = kernel.probabilities(SCORES[rows], (mask & SOME)[rows])
    share = (mask & SOME)[rows].sum(axis=1) / mask[rows].sum(axis=1)
    np.testing.assert_allclose(p[rows][:, SOME], (share[:, np.newaxis] * inner)[:, SOME], rtol=1e-14)


def test_the_only_action_is_played_for_certain_known_or_not() -> None:
    alone = np.eye(5, dtype=np.bool_)
    p = TryingKernel(EpsilonGreedyKernel(0.1), SOME).probabilities(SCORES[:5], alone)
    assert np.array_equal(p, alone.astype(np.float64))


def test_with_data_on_all_it_is_the_kernel() -> None:
    kernel = InverseGapWeighting(9.0)
    assert np.array_equal(
        TryingKernel(kernel, None).probabilities(SCORES, MASK), kernel.probabilities(SCORES, MASK)
    )

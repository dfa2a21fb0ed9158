from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.arrays import Bools
from gyrfalcon.oracles.stump_hull.active_set import descended


@given(k=st.integers(1, 8), rank=st.integers(1, 8), budget=st.floats(0.1, 5.0), seed=st.integers(0, 999))
def test_a_descent_ends_optimal_on_its_face(k: int, rank: int, budget: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    factor, start = rng.normal(size=(rank, k)), rng.normal(size=k) * (rng.random(k) < 0.5)
    start *= min(1.0, budget / max(np.abs(start).sum(), 1e-9))
    gram, slope = factor.T @ factor + 1e-3 * np.eye(k), rng.normal(size=k)
    signs = np.where(start != 0.0, np.sign(start), np.sign(slope))
    weights = descended(gram, slope, start, signs, budget)
    step = weights - start
    assert step @ gram @ step / 2.0 - slope @ step <= 1e-9
    assert (signs * weights >= 0.0).all()
    assert np.abs(weights).sum() <= budget * (1.0 + 1e-9)
    kept: Bools = weights != 0.0
    prices = (signs * (slope - gram @ step))[kept]
    np.testing.assert_allclose(prices, prices.mean() if kept.any() else 0.0, atol=1e-6)
    assert np.abs(weights).sum() > budget * (1.0 - 1e-9) or np.abs(prices).max(initial=0.0) < 1e-6


def test_a_descent_survives_atoms_that_rounding_makes_worse_than_equal() -> None:
    gram = np.ones((3, 3)) - 1e-9 * np.eye(3)
    weights = descended(gram, np.full(3, 2.0), np.zeros(3), np.ones(3), 1.0)
    assert weights.sum() == pytest.approx(1.0)
    assert (weights >= 0.0).all()

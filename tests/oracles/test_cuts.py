from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.oracles.stump_hull.thresholds import Cuts
from tests.oracles.stump_samples import Sample, all_stumps, samples


@given(data=samples(), seed=st.integers(0, 99))
def test_sums_over_cuts_are_sums_over_their_stumps(data: Sample, seed: int) -> None:
    cuts, rng = Cuts.of(data.x), np.random.default_rng(seed)
    stumps = (data.x[:, cuts.features] > cuts.thresholds).astype(np.float64)
    weights = rng.normal(size=cuts.thresholds.size)
    np.testing.assert_allclose(cuts.sums(data.y), stumps.T @ data.y, atol=1e-12)
    np.testing.assert_allclose(cuts.values(weights), stumps @ weights, atol=1e-12)
    np.testing.assert_array_equal(cuts.nearest(cuts.features, cuts.thresholds, weights), weights)
    places = np.flatnonzero(rng.random(weights.size) < 0.6)
    some = stumps[:, places]
    np.testing.assert_allclose(cuts.gram(places, data.w), some.T @ (data.w[:, None] * some), atol=1e-12)
    assert {tuple(column) for column in stumps.T} == {tuple(column) for column in all_stumps(data.x).T}

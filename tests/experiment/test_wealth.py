"""Wealth and bounds: martingales by enumeration, coverage at all times, and the same bits in any blocks."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats
from gyrfalcon.experiment.wealth import Wealth, bets, lower_bound


def mean_wealth(scores: Floats, null: float, truncation: float) -> Floats:
    """From the definition: products, not sums of logarithms."""
    gamblers = [np.cumprod(1.0 + bet * (scores - null)) for bet in bets(truncation)]
    return np.asarray(np.mean(gamblers, axis=0))


@pytest.mark.parametrize("null", [-0.4, 0.0, 0.3])
@pytest.mark.parametrize("truncation", [0.0, 1.5, 4.0])
def test_the_mean_of_the_wealth_is_one_where_the_null_is_the_mean(null: float, truncation: float) -> None:
    """All paths of six rows, whose second half depends on the first: a martingale under adaptive play."""
    low, total = -1.0 - truncation, 0.0
    for path in product((0, 1), repeat=6):
        chance, scores = 1.0, []
        for row, is_high in enumerate(path):
            high = 2.0 if row < 3 else 1.0 + sum(path[:3])
            up = (null - low) / (high - low)
            chance *= up if is_high else 1.0 - up
            scores.append(high if is_high else low)
        wealth = mean_wealth(np.array(scores), null, truncation)
        assert (wealth > 0.0).all()
        total += chance * wealth[-1]
    assert total == pytest.approx(1.0, abs=1e-12)


def test_wealth_in_blocks_is_that_of_all_rows() -> None:
    scores = np.random.default_rng(1).choice([-2.0, 0.5, 3.0], size=500)
    whole, blocks = Wealth(0.1, 1e-6, 4.0), Wealth(0.1, 1e-6, 4.0)
    first = whole.add(scores)
    found = None
    for start in range(0, 500, 37):
        at = blocks.add(scores[start : start + 37])
        found = start + at if at is not None else found
    assert found == first
    assert blocks.largest == whole.largest
    wealth = mean_wealth(scores, 0.1, 4.0)
    assert whole.largest == pytest.approx(math.log(wealth.max()))
    assert first == int((wealth >= 1e6).argmax())


def test_no_rows_say_nothing() -> None:
    wealth = Wealth(0.0, 0.05, 4.0)
    assert wealth.add(np.empty(0)) is None
    assert not wealth.refuted
    assert lower_bound(np.empty(0), 0.05, 4.0) == -1.0


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_is_where_wealth_refutes(seed: int) -> None:
    scores = np.random.default_rng(seed).choice([-2.0, 0.5, 3.0], size=300)
    bound = lower_bound(scores, 0.05, 4.0)
    for null, refuted in ((bound, True), (bound + 2e-6, False)):
        wealth = Wealth(null, 0.05, 4.0)
        wealth.add(scores)
        assert wealth.refuted is refuted


@pytest.mark.parametrize("chance", [0.02, 0.3])
def test_bounds_hold_at_all_times_at_once(chance: float) -> None:
    """2,000 runs of 1,000 rows at an error of 0.1: more than 230 above it would have a chance below 0.02."""
    rng = np.random.default_rng(2)
    high, low = 3.0, -1.0
    missed = 0
    for _ in range(2000):
        scores = np.where(rng.random(1000) < chance, high, low) / 4.0
        mean = (chance * high + (1.0 - chance) * low) / 4.0
        wealth = Wealth(mean, 0.1, 0.0)
        wealth.add(scores)
        missed += wealth.refuted
    assert missed <= 230


def test_small_effects_are_found_in_reasonable_time() -> None:
    """Effects of 0.1 with a deviation of 1: the best fixed bet would need about 600 rows at 0.05."""
    rng = np.random.default_rng(3)
    rows = []
    for _ in range(50):
        scores = np.where(rng.random(4000) < 0.55, 1.0, -1.0)
        at = Wealth(0.0, 0.05, 4.0).add(scores)
        rows.append(4000 if at is None else at)
    assert np.mean(rows) < 1500

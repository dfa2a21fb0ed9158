"""The nearest distribution within bounds: bounds hold to the last bit, and nothing moves without need."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.policies.nearest import attainable, nearest_row, nearest_within


def drawn(seed: int, n: int, k: int) -> tuple[Floats, Bools, Floats, Floats]:
    """Distributions over eligible actions, some certain, with bounds that some distribution meets."""
    rng = np.random.default_rng(seed)
    mask = rng.random((n, k)) < 0.7
    mask[np.arange(n), rng.integers(0, k, n)] = True
    p = np.where(mask, rng.exponential(size=(n, k)) ** rng.choice([0.5, 1.0, 6.0], (n, 1)), 0.0)
    p[p < 0.2 * p.max(axis=1, keepdims=True) * rng.integers(0, 2, (n, 1))] = 0.0
    p /= p.sum(axis=1, keepdims=True)
    low = rng.random(k) * rng.choice([0.0, 0.3, 2.0]) / k
    high = np.maximum(low, rng.random(k) * rng.choice([1.0, 2.0 / k]))
    if rng.random() < 0.5:
        low[:], high[:] = low[0], max(high[0], low[0])
    return p, mask, *attainable(low, high, mask)


cases = st.builds(drawn, st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 12))


def by_bisection(p: Floats, low: Floats, high: Floats) -> Floats:
    """The same by 200 halvings of the interval of the shift."""
    below, above = np.full((len(p), 1), -2.0), np.full((len(p), 1), 2.0)
    for _ in range(200):
        middle = (below + above) / 2.0
        more = np.clip(p - middle, low, high).sum(axis=1, keepdims=True) > 1.0
        below, above = np.where(more, middle, below), np.where(more, above, middle)
    return np.asarray(np.clip(p - (below + above) / 2.0, low, high))


@given(cases)
def test_bounds_hold_exactly_and_rows_sum_to_1(case: tuple[Floats, Bools, Floats, Floats]) -> None:
    p, mask, low, high = case
    nearest = nearest_within(p, low, high)
    assert (low <= nearest).all()
    assert (nearest <= high).all()
    assert (nearest[~mask] == 0.0).all()
    np.testing.assert_allclose(nearest.sum(axis=1), 1.0, rtol=0, atol=2e-15)


@given(cases)
def test_it_is_the_nearest_one(case: tuple[Floats, Bools, Floats, Floats]) -> None:
    p, _, low, high = case
    nearest = nearest_within(p, low, high)
    np.testing.assert_allclose(nearest, by_bisection(p, low, high), rtol=0, atol=1e-14)
    for other in (low, high, np.roll(p, 1, axis=1)):
        feasible = by_bisection(other, low, high)
        # No feasible distribution lies beyond the plane through the nearest one.
        assert (((p - nearest) * (feasible - nearest)).sum(axis=1) <= 1e-13).all()


@given(cases)
def test_what_is_within_the_bounds_keeps_its_bits(case: tuple[Floats, Bools, Floats, Floats]) -> None:
    p, _, low, high = case
    once = nearest_within(p, low, high)
    assert np.array_equal(nearest_within(once, low, high), once)
    within = ((low <= p) & (p <= high)).all(axis=1)
    assert np.array_equal(once[within], p[within])


@given(cases)
def test_the_order_of_actions_with_equal_bounds_stays(case: tuple[Floats, Bools, Floats, Floats]) -> None:
    p, _, low, high = case
    nearest = nearest_within(p, low, high)
    alike = (low[:, :, None] == low[:, None]) & (high[:, :, None] == high[:, None])
    above = p[:, :, None] >= p[:, None]
    assert (nearest[:, :, None] >= nearest[:, None])[alike & above].all()


@given(cases)
def test_a_row_gets_the_same_bits_alone(case: tuple[Floats, Bools, Floats, Floats]) -> None:
    p, _, low, high = case
    together = nearest_within(p, low, high)
    for row in range(len(p)):
        one = slice(row, row + 1)
        assert np.array_equal(nearest_within(p[one], low[one], high[one]), together[one])


@given(cases)
def test_attainable_bounds_are_bounds_of_a_distribution(case: tuple[Floats, Bools, Floats, Floats]) -> None:
    _, mask, low, high = case
    assert (low <= high).all()
    assert (low.sum(axis=1) <= 1.0 + 1e-15).all()
    assert (high.sum(axis=1) >= 1.0 - 1e-15).all()
    assert (high[~mask] == 0.0).all()


def test_a_floor_alone_has_a_closed_form() -> None:
    """Sorted downwards, the first rho actions give the same share of what the others lack."""
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.full(5, 0.3), 200)
    m = 0.04
    ordered, k = -np.sort(-p, axis=1), np.arange(1, 6)
    taus = ((5 - k) * m + np.cumsum(ordered, axis=1) - 1.0) / k
    rho = np.array([k[row > tau + m].max() for row, tau in zip(ordered, taus, strict=True)])
    expected = np.maximum(p - taus[np.arange(200), rho - 1][:, None], m)
    np.testing.assert_allclose(nearest_within(p, m, 1.0), expected, rtol=0, atol=1e-15)


def test_many_actions_sum_to_1_as_well() -> None:
    p = np.random.default_rng(2).dirichlet(np.full(2000, 0.01), 3)
    for high in (0.02, 1.0):
        nearest = nearest_within(p, np.full(2000, 4e-4), np.full(2000, high))
        np.testing.assert_allclose(nearest.sum(axis=1), 1.0, rtol=0, atol=1e-13)
        assert nearest.min() == 4e-4
        assert nearest.max() <= high


@given(cases)
def test_plain_floats_give_the_same_bits(case: tuple[Floats, Bools, Floats, Floats]) -> None:
    p, _, low, high = case
    together = nearest_within(p, low, high).tolist()
    rows = zip(p.tolist(), low.tolist(), high.tolist(), strict=True)
    assert [nearest_row(*row) for row in rows] == together

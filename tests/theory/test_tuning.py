from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.theory import EPSILON_MAX, constants, cost_of_epsilon, optimal_cost, optimal_epsilon

some_b = st.floats(1e-10, 1.0)
some_k = st.integers(2, 50)
some_rho = st.floats(0.05, 1.0)
some_c = st.floats(1e-3, 100.0)


@pytest.mark.parametrize(
    ("b", "K", "expected"), [(0.01, 2, 0.09102821), (1e-4, 2, 0.01442700), (1e-6, 10, 0.00828614)]
)
def test_the_best_share_for_the_rate(b: float, K: int, expected: float) -> None:
    assert optimal_epsilon(b, K) == pytest.approx(expected, rel=1e-6)
    assert optimal_epsilon(b, K, clip=False) == optimal_epsilon(b, K)
    assert optimal_cost(b, K) == pytest.approx(5.0 * expected, rel=1e-6)


def test_the_best_share_for_the_bound() -> None:
    c = constants().C_10
    assert optimal_epsilon(1e-4, 2, c=c) == pytest.approx(0.29161595, rel=1e-8)
    assert optimal_epsilon(0.01, 2, c=c, clip=False) == pytest.approx(1.84, abs=5e-3)
    assert optimal_epsilon(0.01, 2, c=c) == EPSILON_MAX


def test_shares_stay_between_the_least_and_a_half() -> None:
    assert optimal_epsilon(0.0, 2) == 0.001
    assert optimal_epsilon(0.0, 2, eps_min=0.02) == 0.02
    assert optimal_epsilon(0.0, 2, clip=False) == 0.0
    assert EPSILON_MAX < 0.5 == math.nextafter(EPSILON_MAX, 1.0)


@given(some_b, some_k, some_rho, some_c)
def test_no_share_on_a_fine_grid_costs_less(b: float, K: int, rho: float, c: float) -> None:
    least = cost_of_epsilon(optimal_epsilon(b, K, rho, c), b, K, rho, c)
    ratio = (0.4999 / 0.001) ** (1 / 400)
    costs = [cost_of_epsilon(0.001 * ratio**i, b, K, rho, c) for i in range(401)]
    assert least <= min(costs) * (1.0 + 1e-12)


@given(some_b, some_k, some_rho, some_c)
def test_the_cost_at_the_unclipped_share(b: float, K: int, rho: float, c: float) -> None:
    share = optimal_epsilon(b, K, rho, c, clip=False)
    cost = c * K * math.sqrt(b) * share ** (-rho / 4.0) + share
    assert optimal_cost(b, K, rho, c) == pytest.approx(cost, rel=1e-11)
    assert optimal_cost(b, K, rho, c) == pytest.approx((1.0 + 4.0 / rho) * share, rel=1e-14)


@given(st.floats(1e-10, 0.1), some_k, st.floats(1.1, 10.0))
def test_the_slopes_in_logs(b: float, K: int, factor: float) -> None:
    share = optimal_epsilon(b, K, clip=False)
    in_b = math.log(optimal_epsilon(b * factor, K, clip=False) / share) / math.log(factor)
    in_k = math.log(optimal_epsilon(b, 2 * K, clip=False) / share) / math.log(2.0)
    assert in_b == pytest.approx(2 / 5, rel=1e-9)
    assert in_k == pytest.approx(4 / 5, rel=1e-9)

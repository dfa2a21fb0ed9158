from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.theory import (
    RegretRate,
    cost_of_epsilon,
    example_1,
    example_2,
    example_3,
    linear,
    optimal_cost,
    optimal_epsilon,
    regret_rate,
    tuned_rate,
)

T, K, B, EPSILON, DELTA = 100_000, 3, 0.01, 0.1, 0.05
inner = math.log(math.log(T) / DELTA)
linear_misspecification = K * T * math.sqrt(B / math.sqrt(EPSILON))


def test_theorem_1_by_hand() -> None:
    d = linear(7).comp
    rate = regret_rate(T, K, d, B, EPSILON, DELTA)
    assert rate.estimation == pytest.approx(math.sqrt(K * T * 7 * inner), rel=1e-14)
    assert rate.misspecification == pytest.approx(linear_misspecification, rel=1e-14)
    assert rate.passive == EPSILON * T
    assert rate.total == rate.passive + rate.misspecification + rate.estimation


def test_theorem_2_by_hand() -> None:
    rate = regret_rate(T, K, 2.0, B, EPSILON, DELTA, rho=0.5, rho_prime=2.0)
    growth = T**1.5 * math.log(T) ** 2 * inner
    assert rate.estimation == pytest.approx(math.sqrt(K * growth * 2.0), rel=1e-14)
    expected = K * T * math.sqrt(B / math.sqrt(EPSILON**0.5))
    assert rate.misspecification == pytest.approx(expected, rel=1e-14)


def test_example_1_as_printed_has_t_over_v_in_its_logarithm() -> None:
    paper = example_1(T, K, 5, B, EPSILON, DELTA, "paper")
    corrected = example_1(T, K, 5, B, EPSILON, DELTA)
    assert paper.estimation == pytest.approx(math.sqrt(K * T * 5 * math.log(T / 5) * inner), rel=1e-13)
    assert corrected.estimation == pytest.approx(math.sqrt(K * T * 5 * math.log(T) * inner), rel=1e-13)
    assert paper.misspecification == corrected.misspecification
    assert paper.misspecification == pytest.approx(linear_misspecification, rel=1e-13)


@pytest.mark.parametrize("V", [1, 2, 5, 100])
def test_example_2_as_printed_is_looser_in_epsilon(V: int) -> None:
    paper = example_2(T, K, V, B, EPSILON, DELTA, "paper")
    corrected = example_2(T, K, V, B, EPSILON, DELTA)
    rho = (2 + V) / (2 + 2 * V)
    growth = T ** ((2 + 3 * V) / (2 + 2 * V)) * V**rho
    assert paper.estimation == corrected.estimation == pytest.approx(math.sqrt(K * growth * inner), rel=1e-13)
    assert paper.misspecification == pytest.approx(linear_misspecification, rel=1e-13)
    expected = K * T * math.sqrt(B / math.sqrt(EPSILON**rho))
    assert corrected.misspecification == pytest.approx(expected, rel=1e-13)
    assert corrected.misspecification < paper.misspecification


@pytest.mark.parametrize("s", [0.1, 0.5, 0.9])
def test_example_3_is_theorem_2(s: float) -> None:
    rate = example_3(T, K, s, B, EPSILON, DELTA)
    growth = T ** ((1 + 2 * s) / (1 + s))
    assert rate.estimation == pytest.approx(math.sqrt(K * growth * inner), rel=1e-13)
    expected = K * T * math.sqrt(B / math.sqrt(EPSILON ** (1 / (1 + s))))
    assert rate.misspecification == pytest.approx(expected, rel=1e-13)
    assert rate == example_3(T, K, s, B, EPSILON, DELTA, "paper")


def test_corollary_1_by_hand() -> None:
    rate = tuned_rate(T, K, 7.0, B, DELTA)
    assert rate.misspecification == pytest.approx(K**0.8 * B**0.4 * T, rel=1e-14)
    assert rate.estimation == regret_rate(T, K, 7.0, B, EPSILON, DELTA).estimation
    assert rate.total == rate.misspecification + rate.estimation


@given(st.floats(1e-8, 0.01), st.integers(2, 20), st.floats(0.2, 1.0))
def test_the_best_epsilon_attains_corollary_1_up_to_its_constant(b: float, K: int, rho: float) -> None:
    tuned = tuned_rate(T, K, 1.0, b, DELTA, rho).misspecification
    constant = (1.0 + 4.0 / rho) * (rho / 4.0) ** (4.0 / (4.0 + rho))
    assert optimal_cost(b, K, rho) * T == pytest.approx(constant * tuned, rel=1e-12)


@given(st.floats(1e-8, 1e-3), st.integers(2, 5), st.floats(0.2, 1.0))
def test_the_cost_of_epsilon_is_the_rates_two_terms(b: float, K: int, rho: float) -> None:
    epsilon = optimal_epsilon(b, K, rho, eps_min=1e-6)
    rate: RegretRate = regret_rate(T, K, 1.0, b, epsilon, DELTA, rho)
    assert (rate.passive + rate.misspecification) / T == pytest.approx(
        cost_of_epsilon(epsilon, b, K, rho), rel=1e-12
    )

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.theory import (
    DELTA_MAX,
    active_error_bound,
    best_model_regret_bound,
    best_policy_divergence_bound,
    constants,
    divergence_bound,
    epoch_regret_bound,
    gamma,
    misspecification_scale,
    passive_error_bound,
    policy_regret_bound,
    reward_error_bound,
    slack,
    worst_misspecification,
)

lengths = st.integers(4, 10**9)
indices = st.integers(1, 60)
shares = st.floats(0.001, 0.499)
deltas = st.floats(1e-9, DELTA_MAX)
exponents = st.tuples(st.floats(0.2, 1.0), st.floats(0.0, 2.0))


def test_the_lines_of_conreg_by_hand() -> None:
    k = constants()
    rate = math.log(5 / 0.05) * 4 / 1000
    assert passive_error_bound(1000, 4, 5, 0.1, 0.05) == pytest.approx(k.C_4 * rate / 0.1, rel=1e-14)
    assert active_error_bound(1000, 4, 5, 0.05, B=0.2) == pytest.approx(0.2 + k.C_5 * rate, rel=1e-14)


def test_conreg_of_a_slow_class_by_hand() -> None:
    k = constants(rho=0.5, rho_prime=1.0, C=2.0)
    rate = math.log(100) * math.log(3 / 0.1) * 2 / 10
    assert passive_error_bound(100, 2, 3, 0.04, 0.1, k) == pytest.approx(k.C_4 * rate / 0.2, rel=1e-14)
    assert active_error_bound(100, 2, 3, 0.1, 0.0, k) == pytest.approx(k.C_5 * rate, rel=1e-14)


@given(lengths, indices, deltas, exponents)
def test_gamma_makes_the_estimation_error_k_over_4_gamma_squared(
    n: int, m: int, delta: float, exponent: tuple[float, float]
) -> None:
    rho, rho_prime = exponent
    error = active_error_bound(n, 3.0, m, delta, 0.0, constants(rho, rho_prime))
    after = gamma(n, 2, 3.0, m + 1, delta, rho, rho_prime)
    assert error == pytest.approx(2 / (4.0 * after**2), rel=1e-10)
    assert reward_error_bound(5.0, 0.0, 2, after) == pytest.approx(math.sqrt(5.0 * error), rel=1e-10)


@given(lengths, indices, shares, deltas, exponents)
def test_the_passive_error_covers_twice_twice_the_slack(
    n: int, m: int, epsilon: float, delta: float, exponent: tuple[float, float]
) -> None:
    n_passive = math.ceil(epsilon * n)
    beta = slack(n_passive, 3.0, m, delta, *exponent)  # C_1; the population set doubles it, Pythagoras again
    assert 4.0 * beta <= passive_error_bound(n, 3.0, m, epsilon, delta, constants(*exponent)) * (1 + 1e-12)


def test_beyond_the_corrected_delta_the_passive_error_is_too_small() -> None:
    k = constants(variant="paper")
    assert 4.0 * slack(25, 3.0, 1, 0.5) > passive_error_bound(100, 3.0, 1, 0.25, 0.5, k)


@given(lengths, st.integers(2, 60), shares, deltas, exponents)
def test_the_best_policys_divergence_follows_from_the_passive_error(
    n: int, m: int, epsilon: float, delta: float, exponent: tuple[float, float]
) -> None:
    k = constants(*exponent)
    error = passive_error_bound(n, 3.0, m - 1, epsilon, delta, k)
    proved = 2 + 2.0 * gamma(n, 2, 3.0, m, delta, *exponent) * math.sqrt(2 * error)
    assert proved <= best_policy_divergence_bound(2, epsilon, k) * (1.0 + 1e-12)


@given(st.integers(4, 10**6), st.integers(2, 60), shares, deltas, exponents)
def test_the_divergences_change_follows_from_the_passive_error(
    n_before: int, m: int, epsilon: float, delta: float, exponent: tuple[float, float]
) -> None:
    k, n = constants(*exponent), n_before * (1 if m == 2 else 2)
    now = passive_error_bound(n, 3.0, m, epsilon, delta, k) * (n / n_before) ** k.rho
    scale = gamma(n_before, 2, 3.0, m, delta, *exponent)
    assert 2 + 2.0 * scale * math.sqrt(4.0 * 2 * now) <= divergence_bound(0.0, 2, epsilon, k) * (1.0 + 1e-12)


def test_divergences_by_hand() -> None:
    k = constants()
    assert best_policy_divergence_bound(3, 0.25) == pytest.approx(6.0 * k.C_6, rel=1e-14)
    assert divergence_bound(7.0, 3, 0.25) == pytest.approx(6.0 * k.C_7 + 7.0, rel=1e-14)


def test_the_best_models_regret() -> None:
    assert worst_misspecification(0.01, 5) == 0.05
    assert best_model_regret_bound(0.0) == 0.0
    assert best_model_regret_bound(0.09) == pytest.approx(0.6)


def test_regret_bounds_by_hand() -> None:
    k = constants()
    scale = math.sqrt(2 * 0.01 / math.sqrt(0.1))
    assert misspecification_scale(2, 0.01, 0.1) == pytest.approx(scale, rel=1e-14)
    policy = policy_regret_bound(0.1, V=9.0, gamma=20.0, K=2, B=0.01, epsilon=0.1)
    assert policy == pytest.approx(0.2 + 0.5125 + k.C_8 * scale + 2.5 * 0.3, rel=1e-14)
    assert epoch_regret_bound(20.0, 2, 0.01, 0.1) == pytest.approx(0.7125 + k.C_10 * scale, rel=1e-14)


@given(st.floats(0.01, 1e6), st.integers(2, 20), st.floats(0.0, 1.0), shares)
def test_the_epochs_regret_covers_the_mean_policys(gamma: float, K: int, B: float, epsilon: float) -> None:
    mean = policy_regret_bound(K / gamma, V=float(K), gamma=gamma, K=K, B=B, epsilon=epsilon)
    assert mean <= epoch_regret_bound(gamma, K, B, epsilon) * (1.0 + 1e-12)

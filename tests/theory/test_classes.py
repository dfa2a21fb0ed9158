from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.arrays import Floats
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.theory import (
    C_LINEAR,
    DELTA_MAX,
    Rates,
    entropy,
    gamma,
    linear,
    regret_bound,
    vc_hull,
    vc_subgraph,
)

every_class = st.one_of(
    st.integers(1, 100).map(linear),
    st.integers(1, 100).map(vc_subgraph),
    st.integers(1, 100).map(vc_hull),
    st.floats(0.01, 0.99).map(entropy),
)


def test_the_parameters_of_each_class() -> None:
    assert linear(8) == Rates(1.0, 0.0, 8.0, C_LINEAR, 512.0)
    assert vc_subgraph(8) == Rates(1.0, 1.0, 8.0)
    assert vc_hull(2) == Rates(4 / 6, 0.0, 2 ** (4 / 6))
    assert entropy(0.5) == Rates(1 / 1.5, 0.0, 1.0)


def test_the_hulls_exponent_lies_between_a_half_and_three_quarters() -> None:
    exponents = [vc_hull(V).rho for V in range(1, 200)]
    assert exponents[0] == 0.75
    assert exponents == sorted(exponents, reverse=True)
    assert 0.5 < exponents[-1] < 0.503


def rare_features(N: int, n: int, n_samples: int) -> Floats:
    """(n_samples, n): x = sqrt(N) with probability 1/N, else 0, so that E x^2 = 1."""
    return np.where(np.random.default_rng(0).random((n_samples, n)) < 1.0 / N, math.sqrt(N), 0.0)


def test_assumption_1_fails_for_linear_models_without_a_bound_on_their_values() -> None:
    # Mean rewards are 0, so that f = w x has the excess risk w^2 in the population, and w^2 mean(x^2) in a
    # sample without noise. Assumption 1 allows the first to be above 2 eta in 5 of 100 samples in which the
    # second is at most eta; here it is in 99 of 100, and the ratio of the two is infinite.
    N, n, confidence, w = 10**6, 1000, 0.05, 100.0
    eta = linear(1).threshold(n, confidence)
    empirical = w**2 * (rare_features(N, n, 500) ** 2).mean(axis=1)
    assert w**2 > 2.0 * eta
    assert np.mean(empirical <= eta) > 0.99
    assert np.mean(empirical == 0.0) == pytest.approx((1.0 - 1.0 / N) ** n, abs=0.01)


def test_assumption_1_holds_there_for_linear_models_with_values_in_the_unit_interval() -> None:
    N, n = 10**6, 1000
    largest = 1.0 / math.sqrt(N)  # the w with f = 1 at x = sqrt(N)
    eta = linear(1).threshold(n, 0.05)
    assert largest**2 <= 2.0 * eta
    assert (largest**2 * (rare_features(N, n, 500) ** 2).mean(axis=1) <= 1.5 * eta).all()


def test_psi_sharp_by_hand() -> None:
    n, e = 100_000, 0.25
    rows = n * e**2
    assert linear(3).psi_sharp(e, n) == pytest.approx(512 * 3 / rows, rel=1e-14)
    assert vc_subgraph(3).psi_sharp(e, n) == pytest.approx(3 / rows * math.log(rows / 3), rel=1e-14)
    assert vc_hull(3).psi_sharp(e, n) == pytest.approx((3 / rows) ** (0.5 * 5 / 4), rel=1e-14)
    assert entropy(0.3).psi_sharp(e, n) == pytest.approx(rows ** (-1 / 1.3), rel=1e-14)
    assert linear(3).psi_sharp(1 / 16, n) == pytest.approx(131072 * 3 / n, rel=1e-14)


def test_with_few_rows_psi_sharp_of_a_vc_class_stays_positive() -> None:
    assert vc_subgraph(10).psi_sharp(1 / 16, 100) == pytest.approx(10 / (100 / 256), rel=1e-14)


@given(every_class, st.integers(1, 10**9), st.floats(0.01, 1.0))
def test_psi_sharp_falls_with_the_error_allowed(rates: Rates, n: int, e: float) -> None:
    assert rates.psi_sharp(2.0 * e, n) <= rates.psi_sharp(e, n)


def test_the_threshold_is_the_larger_of_class_and_confidence() -> None:
    assert linear(1).threshold(1000, 0.05) == pytest.approx(131.072, rel=1e-14)
    assert linear(1).threshold(1000, 1e-9) == pytest.approx(16.384 * math.log(2e9), rel=1e-14)


@given(st.integers(1, 100), st.integers(1, 10**9), st.floats(1e-12, 0.499))
def test_assumption_1_with_the_linear_constant_covers_the_threshold(d: int, n: int, z: float) -> None:
    assert C_LINEAR * math.log(1.0 / z) * d / n >= linear(d).threshold(n, z) * (1.0 - 1e-12)


@given(every_class, st.floats(1e-6, DELTA_MAX), st.integers(4, 1000))
def test_from_epoch_3_on_gamma_grows_in_every_class(rates: Rates, delta: float, tau_1: int) -> None:
    gammas = [
        gamma(tau_1 * 2 ** (m - 3), 2, rates.comp, m, delta, rates.rho, rates.rho_prime) for m in range(3, 40)
    ]
    assert gammas == sorted(gammas)


def test_settings_fit_the_learner_and_the_bound() -> None:
    learner = EpsilonFalcon(**vc_hull(2).settings(C=3.0))
    assert (learner.C, learner.rho, learner.rho_prime) == (3.0, 4 / 6, 0.0)
    assert learner.comp == vc_hull(2).comp
    bound = regret_bound(1000, 2, b=0.01, epsilon=0.1, delta=0.05, **linear(4).settings())
    assert bound == regret_bound(1000, 2, 4.0, b=0.01, epsilon=0.1, delta=0.05)


def test_a_class_without_c_has_no_settings_of_its_own() -> None:
    with pytest.raises(ValueError, match=r"C is None; .* give settings\(C=\.\.\.\)"):
        entropy(0.5).settings()

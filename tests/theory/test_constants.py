from __future__ import annotations

import math
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.theory import (
    C_LINEAR,
    C_LINEAR_EPOCHS,
    DELTA_MAX,
    LINEAR_CONSTANTS,
    A,
    Constants,
    Variant,
    c_1,
    c_3,
    c_5,
    c_linear,
    constants,
)
from gyrfalcon.theory.constants import c_8_first, c_8_second

both = pytest.mark.parametrize("variant", ["corrected", "paper"])
rhos = st.floats(0.01, 1.0)
rho_primes = st.floats(0.0, 3.0)


linear_class = {
    "C": 189096.92,
    "C_0": 5.125,
    "C_1": 283645.39,
    "L_1": 3.0 * 189096.92,
    "C_3": 3.684785e-8,
    "C_4": 5088492.3,
    "C_5": 6784656.4,
    "C_6": 1.8660254,
    "C_7": 3.4494897,
    "C_8": 40.3592030,
    "C_9": 2.5,
    "C_10": 42.8592030,
}
vc_class = {"C_6": 1.8660254, "C_7": 4.4641016, "C_8": 44.1926311, "C_10": 46.6926311}


@both
def test_the_constants_of_a_linear_class(variant: Variant) -> None:
    found = asdict(constants(variant=variant))
    assert {name: found[name] for name in linear_class} == pytest.approx(linear_class, rel=1e-7)
    assert asdict(LINEAR_CONSTANTS) | {"variant": variant} == found


@both
def test_the_constants_of_a_vc_class(variant: Variant) -> None:
    found = asdict(constants(rho=1.0, rho_prime=1.0, variant=variant))
    assert {name: found[name] for name in vc_class} == pytest.approx(vc_class, rel=1e-7)


def test_values_in_closed_form() -> None:
    k = constants()
    exact = (4.484906649788, 1.0 + math.sqrt(3.0) / 2.0, 1.0 + math.sqrt(6.0), 1.5 * C_LINEAR, 3.0 * C_LINEAR)
    assert exact == pytest.approx((A, k.C_6, k.C_7, k.C_1, k.L_1), rel=1e-13)
    assert (c_1(), c_3(), c_5()) == (k.C_1, k.C_3, k.C_5)


def test_c_at_the_confidences_of_epochs() -> None:
    assert pytest.approx(131072.0 / math.log(2.0), rel=1e-15) == C_LINEAR
    assert pytest.approx(131072.0 / math.log(24.0), rel=1e-15) == C_LINEAR_EPOCHS
    assert pytest.approx(41242.85, rel=2e-7) == C_LINEAR_EPOCHS


@given(st.floats(1e-12, 0.5), st.floats(1e-6, 1.0), st.integers(1, 50))
def test_the_linear_constant_serves_every_smaller_confidence(z: float, share: float, d: int) -> None:
    smaller = z * share
    needed = max(131072.0 * d, 16384.0 * math.log(2.0 / smaller))
    assert c_linear(z, d) * d * math.log(1.0 / smaller) >= needed * (1.0 - 1e-12)
    assert c_linear(z, d) <= C_LINEAR


@given(rhos, rho_primes, st.floats(1e-3, 1e9))
def test_c_3_times_c_4_and_what_follows_is_free_of_c(rho: float, rho_prime: float, c: float) -> None:
    k, unit = constants(rho, rho_prime, c), constants(rho, rho_prime, 1.0)
    expected = (0.75 / 4.0**rho, unit.C_6, unit.C_7, unit.C_10)
    assert expected == pytest.approx((k.C_3 * k.C_4, k.C_6, k.C_7, k.C_10), rel=1e-12)


def induction_holds(k: Constants) -> bool:
    """Both halves of the induction of Lemma policy-reg-bound, coefficient by coefficient."""
    first = c_8_first(k.C_6, k.C_7, k.C_9, "paper")
    true_regret = (
        (2.0 * k.C_0 + 5.125) / 3.0 <= k.C_0 * (1.0 + 1e-15),
        (2.0 * k.C_8 + first + 14.0) / 3.0 <= k.C_8,
        (k.C_9 + 5.0) / 3.0 <= k.C_9,
    )
    estimated_regret = (
        0.625 + 0.4 * (1.0 + 2.0 * k.C_0) <= k.C_0 * (1.0 + 1e-15),
        (4.0 * k.C_8 + c_8_second(k.C_7, k.C_9)) / 5.0 <= k.C_8 * (1.0 + 1e-15),
        (k.C_9 + 5.0) / 5.0 <= k.C_9,
    )
    return all(true_regret) and all(estimated_regret)


@both
@given(rhos, rho_primes)
def test_the_induction_goes_through(variant: Variant, rho: float, rho_prime: float) -> None:
    assert induction_holds(constants(rho, rho_prime, variant=variant))


def test_the_second_halfs_printed_c_0_fails() -> None:
    printed = 2.0
    assert 0.625 + 0.4 * (1.0 + 2.0 * printed) > printed
    below = math.nextafter(5.125, 0.0) - 1e-9
    assert 0.625 + 0.4 * (1.0 + 2.0 * below) > below


@given(rhos, rho_primes)
def test_the_first_halfs_printed_c_8_fails_without_the_second_half(rho: float, rho_prime: float) -> None:
    k = constants(rho, rho_prime)
    printed = c_8_first(k.C_6, k.C_7, k.C_9, "paper")
    assert (2.0 * printed + printed + 14.0) / 3.0 > printed
    assert c_8_first(k.C_6, k.C_7, k.C_9, "corrected") == printed + 14.0


@given(rhos, rho_primes)
def test_the_second_half_decides_c_8_so_that_variants_agree(rho: float, rho_prime: float) -> None:
    corrected, paper = (asdict(constants(rho, rho_prime, variant=v)) for v in ("corrected", "paper"))
    assert corrected["C_8"] == c_8_second(corrected["C_7"], 2.5)
    assert corrected | {"variant": "paper"} == paper


def within_a(m: int, delta: float) -> bool:
    return math.log(12.0 * m**2 / delta) <= A * math.log(m / delta) * (1.0 + 1e-14)


def test_epoch_1_limits_delta() -> None:
    assert pytest.approx(0.4901, abs=5e-5) == DELTA_MAX
    assert within_a(1, DELTA_MAX)
    assert not any(within_a(1, delta) for delta in (DELTA_MAX + 1e-9, 0.4902, 0.5))


@given(st.integers(1, 10**6), st.floats(1e-12, DELTA_MAX))
def test_a_turns_the_confidence_of_every_epoch(m: int, delta: float) -> None:
    assert within_a(m, delta)
    assert within_a(m + 1, 0.5)

from __future__ import annotations

import math

import pytest

from gyrfalcon.theory import C_LINEAR, c_1, c_3, c_5, log_confidence, unit_gamma, unit_slack


def test_the_constants_of_the_linear_class() -> None:
    assert abs(C_LINEAR - 189096.92) < 0.005
    assert c_1() == pytest.approx(283645.39, abs=0.005)
    assert c_3() == pytest.approx(3.684785e-8, abs=5e-15)
    assert c_5() == pytest.approx(6784656.4, abs=0.05)


@pytest.mark.parametrize("rho", [0.5, 0.75, 1.0])
@pytest.mark.parametrize("c", [1.0, C_LINEAR])
def test_c_3_times_c_4_is_free_of_c(c: float, rho: float) -> None:
    c_4 = 4.0 * c_1(c) * (2.0 + math.log(12.0))  # C_4 = 2 L_1 A with L_1 = 2 C_1 = 3 C
    assert c_3(c, rho) * c_4 == pytest.approx(0.75 / 4.0**rho, rel=1e-14)
    assert 1.0 / (4.0 * c_3(c, rho)) == pytest.approx(c_5(c, rho), rel=1e-14)


def test_gamma_by_hand() -> None:
    unit = unit_gamma(1000, 2, 4, index=3, delta=0.05)
    assert unit == pytest.approx(11.642, abs=5e-4)
    assert unit == pytest.approx(math.sqrt(2 * 1000 / (math.log(40.0) * 4)), rel=1e-14)
    assert math.sqrt(c_3()) * unit == pytest.approx(0.00223, abs=5e-6)


def test_gamma_of_slow_classes_by_hand() -> None:
    gamma = unit_gamma(100, 3, 2.0, index=4, delta=0.1, rho=0.5, rho_prime=1.0)
    assert gamma == pytest.approx(math.sqrt(3 * 10 / (math.log(100.0) * math.log(30.0) * 2)), rel=1e-14)


def test_the_first_gamma_is_1() -> None:
    assert unit_gamma(0, 2, 4, index=1, delta=0.05) == 1.0


def test_gamma_falls_from_epoch_2_to_3_which_are_equally_long() -> None:
    second, third = (unit_gamma(100, 2, 4, index=m, delta=0.05) for m in (2, 3))
    assert third == pytest.approx(second * math.sqrt(math.log(20.0) / math.log(40.0)), rel=1e-14)
    assert third < second


def test_gamma_grows_by_root_2_per_doubling_up_to_the_log() -> None:
    one, two = (unit_gamma(n, 2, 4, index=5, delta=0.05) for n in (1000, 2000))
    assert two / one == pytest.approx(math.sqrt(2.0), rel=1e-14)


def test_slack_by_hand() -> None:
    assert unit_slack(100, 4, index=2, delta=0.05) == pytest.approx(math.log(960.0) * 4 / 100, rel=1e-14)
    slow = unit_slack(100, 4, index=2, delta=0.05, rho=0.5, rho_prime=1.0)
    assert slow == pytest.approx(math.log(100.0) * math.log(960.0) * 4 / 10, rel=1e-14)


def test_without_passive_rows_there_is_no_constraint() -> None:
    assert unit_slack(0, 4, index=1, delta=0.05) == math.inf


def test_the_confidence_of_all_epochs_is_at_most_delta() -> None:
    spent = sum(math.exp(-log_confidence(m, 0.05)) for m in range(1, 10_000))
    assert log_confidence(1, 0.05) == pytest.approx(math.log(240.0), rel=1e-14)
    assert 6.0 * spent < 0.05  # 6 pi^2 / 72 = .822: six events of delta / (12 m^2) each fit into delta

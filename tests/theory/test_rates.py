from __future__ import annotations

import math

import pytest

from gyrfalcon.theory import c_1, c_3, constants, gamma, log_confidence, slack, unit_gamma, unit_slack


def test_gamma_by_hand() -> None:
    unit = unit_gamma(1000, 2, 4, index=3, delta=0.05)
    assert unit == pytest.approx(11.642, abs=5e-4)
    assert unit == pytest.approx(math.sqrt(2 * 1000 / (math.log(40.0) * 4)), rel=1e-14)
    assert (
        gamma(1000, 2, 4, index=3, delta=0.05) == math.sqrt(c_3()) * unit == pytest.approx(0.00223, abs=5e-6)
    )


def test_gamma_of_slow_classes_by_hand() -> None:
    unit = unit_gamma(100, 3, 2.0, index=4, delta=0.1, rho=0.5, rho_prime=1.0)
    assert unit == pytest.approx(math.sqrt(3 * 10 / (math.log(100.0) * math.log(30.0) * 2)), rel=1e-14)


def test_the_first_gamma_is_1() -> None:
    assert unit_gamma(0, 2, 4, index=1, delta=0.05) == 1.0
    assert gamma(0, 2, 4, index=1, delta=0.05) == 1.0


@pytest.mark.parametrize("rho", [0.5, 1.0])
def test_the_papers_gamma_and_slack_are_constants_times_the_unit_ones(rho: float) -> None:
    paper, unit = gamma(500, 3, 6, 4, 0.1, rho, 1.0, C=7.0), unit_gamma(500, 3, 6, 4, 0.1, rho, 1.0)
    assert paper == pytest.approx(math.sqrt(constants(rho, C=7.0).C_3) * unit, rel=1e-14)
    beta, rate = slack(500, 6, 4, 0.1, rho, 1.0, C=7.0), unit_slack(500, 6, 4, 0.1, rho, 1.0)
    assert beta == pytest.approx(c_1(7.0) * rate, rel=1e-14)
    assert slack(0, 6, 4, 0.1) == math.inf


def test_the_slack_of_the_paper_exceeds_1_until_a_million_passive_rows() -> None:
    assert slack(1_000_000, 4, index=18, delta=0.05) > 1.0 > slack(100_000_000, 4, index=25, delta=0.05)


@pytest.mark.parametrize("index", [2, 3, 10])
def test_the_bodys_gamma_has_m_in_its_logarithm(index: int) -> None:
    body = gamma(500, 2, 4, index, 0.05, form="body")
    assert body == pytest.approx(gamma(500, 2, 4, index + 1, 0.05), rel=1e-14)
    assert body < gamma(500, 2, 4, index, 0.05)


def test_the_bodys_gamma_falls_from_epoch_2_to_3_as_well() -> None:
    second, third = (gamma(100, 2, 4, m, 0.05, form="body") for m in (2, 3))
    assert third < second


@pytest.mark.parametrize("delta", [1e-6, 0.05, 0.49])
@pytest.mark.parametrize("tau_1", [4, 1000, 10**8])
def test_while_gamma_2_is_small_the_induction_may_start_at_epoch_3(tau_1: int, delta: float) -> None:
    trivial = constants().C_0 * 2  # C_0 K / gamma >= 1 bounds any regret
    assert all(gamma(tau_1, 2, 4, m, delta) <= trivial for m in (2, 3))


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

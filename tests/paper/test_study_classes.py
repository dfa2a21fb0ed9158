from __future__ import annotations

import pytest
from numpy.polynomial import legendre

from gyrfalcon.theory import regret_rate
from gyrfalcon_paper.exhibits.classes import DEGREES, EXHIBIT, learner, runs
from gyrfalcon_paper.exhibits.exhibit import Tables
from gyrfalcon_paper.tables import distinct, matching, numbers
from tests.paper.showing import check_readable, tables_of


@pytest.fixture(scope="module")
def tables() -> Tables:
    return tables_of(EXHIBIT)


def left_of_the_step(degree: int) -> float:
    """The mean squared error of the best polynomial for 1{x > 0.5} on (0, 1), by Legendre's series.

    On (-1, 1) the coefficient of P_k is (2 k + 1)/2 times the integral of P_k over (0, 1), and P_k has a mean
    square of 1 / (2 k + 1).
    """
    explained = 0.0
    for k in range(degree + 1):
        whole = legendre.legint([0.0] * k + [1.0])
        integral = float(legendre.legval(1.0, whole) - legendre.legval(0.0, whole))
        explained += ((2 * k + 1) / 2 * integral) ** 2 / (2 * k + 1)
    return 0.5 - explained


def test_b_is_what_legendre_polynomials_leave_of_the_step(tables: Tables) -> None:
    exact = [left_of_the_step(degree) / 2 for degree in DEGREES]  # one of two actions is a step
    assert numbers(tables["classes"], "b") == pytest.approx(exact, rel=1e-6)
    assert exact[0] == pytest.approx(1 / 32)


def test_comp_counts_the_coefficients_of_both_actions(tables: Tables) -> None:
    assert numbers(tables["classes"], "coefficients").tolist() == [2 * (degree + 1) for degree in DEGREES]


def test_regret_is_that_of_the_simulation(tables: Tables) -> None:
    own = matching(tables["regret"], degree=3)
    n = int(own["replications"][0])
    trace = runs(3, 12_800, 8, n, 0)
    assert numbers(own, "horizon").tolist() == trace.checkpoints.tolist()
    assert numbers(own, "regret") == pytest.approx(trace.regret.mean(axis=0))


def test_the_best_class_of_a_horizon_is_the_measure_of_the_others(tables: Tables) -> None:
    for horizon in distinct(tables["regret"], "horizon"):
        own = matching(tables["regret"], horizon=horizon)
        assert numbers(own, "to_best").min() == 1.0
        best = int(numbers(own, "to_best").argmin())
        assert numbers(own, "to_best_standard_error")[best] == 0.0
        assert numbers(own, "rate_to_best").min() == 1.0


def test_rates_are_theorem_1s(tables: Tables) -> None:
    own = matching(tables["regret"], degree=5, horizon=12_800)
    b = float(matching(tables["classes"], degree=5)["b"][0])
    rate = regret_rate(12_800, K=2, comp=12, b=b, epsilon=0.05, delta=0.05)
    assert float(own["rate"][0]) == pytest.approx(rate.total / 12_800)


def test_learners_differ_in_their_class_alone() -> None:
    assert learner(1).epsilon == learner(9).epsilon
    assert learner(1) != learner(9)


def test_it_can_be_read(tables: Tables) -> None:
    check_readable(EXHIBIT, tables)

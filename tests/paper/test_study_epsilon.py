from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from gyrfalcon_paper.exhibits.epsilon import EXHIBIT, corollary_epsilon, lowest, runs
from gyrfalcon_paper.exhibits.exhibit import Tables
from gyrfalcon_paper.tables import entry, matching, numbers, only
from tests.paper.showing import check_readable, tables_of


@pytest.fixture(scope="module")
def tables() -> Tables:
    return tables_of(EXHIBIT)


def test_the_corollarys_share_is_where_its_two_terms_are_least() -> None:
    cost = minimize_scalar(
        lambda share: 2 * np.sqrt(1 / 32) * share**-0.25 + share,
        bounds=(1e-4, 0.5),
        method="bounded",
        options={"xatol": 1e-10},
    )
    assert corollary_epsilon() == pytest.approx(float(cost.x), rel=1e-6)
    assert corollary_epsilon() == pytest.approx(0.144, abs=5e-4)


def test_its_share_is_among_those_that_are_played(tables: Tables) -> None:
    assert corollary_epsilon() in tables["regret"]["epsilon"]
    assert only(tables["summary"])["corollary"] == pytest.approx(corollary_epsilon(), rel=1e-9)


def test_regret_is_that_of_the_simulation(tables: Tables) -> None:
    horizon = int(max(numbers(tables["regret"], "horizon")))
    row = only(matching(tables["regret"], epsilon=0.05, horizon=horizon))
    n = int(row["replications"])
    regret = runs(0.05, horizon, n).regret[:, -1]
    assert row["regret"] == pytest.approx(regret.mean())
    assert row["standard_error"] == pytest.approx(regret.std(ddof=1) / np.sqrt(n))


@given(vertex=st.floats(-2.5, -1.5), curve=st.floats(0.1, 10.0))
def test_the_lowest_point_of_a_parabola_is_found_between_the_shares(vertex: float, curve: float) -> None:
    shares = np.exp(np.array([-4.0, -3.0, -2.0, -1.0]))
    means = curve * (np.log(shares) - vertex) ** 2
    assert np.log(lowest(shares, means)) == pytest.approx(vertex, abs=1e-6)


def test_the_lowest_share_at_an_end_is_that_end() -> None:
    assert lowest(np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 3.0])) == 0.1
    assert lowest(np.array([0.1, 0.2, 0.3]), np.array([2.0, 2.0, 2.0])) == 0.1


def test_intervals_contain_the_measured_optimum_and_shares_that_were_played(tables: Tables) -> None:
    best = tables["optimum"]
    assert (numbers(best, "low") <= numbers(best, "epsilon")).all()
    assert (numbers(best, "epsilon") <= numbers(best, "high")).all()
    assert numbers(best, "low").min() >= min(numbers(tables["regret"], "epsilon"))


def test_many_passive_rounds_cost_a_quarter_each(tables: Tables) -> None:
    horizon = int(max(numbers(tables["regret"], "horizon")))
    regret = {
        share: entry(tables["regret"], "regret", horizon=horizon, epsilon=share) for share in (0.2, 0.4)
    }
    # A fifth more of the rounds is passive, and active play costs about 0.01 a round less at most.
    assert (regret[0.4] - regret[0.2]) / horizon == pytest.approx(0.2 * 0.25, abs=0.012)


def test_it_can_be_read(tables: Tables) -> None:
    check_readable(EXHIBIT, tables)

from __future__ import annotations

import numpy as np
import pytest

from gyrfalcon.environments.population.best_in_class import misspecification
from gyrfalcon.environments.synthetic.families import XorEnvironment
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.simulation.replications import simulate
from gyrfalcon_paper.exhibits.exhibit import Tables
from gyrfalcon_paper.exhibits.misspecification import (
    EXHIBIT,
    SHRINKING,
    SINUSOID,
    XOR,
    Shrunk,
    environment_of,
    runs,
    slope_of,
)
from gyrfalcon_paper.tables import entry, matching, numbers
from tests.paper.showing import check_readable, tables_of


@pytest.fixture(scope="module")
def tables() -> Tables:
    return tables_of(EXHIBIT)


@pytest.mark.parametrize("family", [SINUSOID, XOR, SHRINKING])
def test_b_grows_with_the_square_of_the_dial(family: str) -> None:
    b = [misspecification(environment_of(family, dial).population, Linear()).b for dial in (0.1, 0.5, 1.0)]
    assert b == pytest.approx([0.01 * b[2], 0.25 * b[2], b[2]], rel=1e-6)


def test_a_shrunk_environment_has_smaller_gaps_and_the_same_noise() -> None:
    whole = XorEnvironment(n_actions=2, n_features=2)
    drawn, small = whole.draw(0, 500, seed=1), Shrunk(whole, 0.1).draw(0, 500, seed=1)
    assert np.ptp(small.means, axis=1) == pytest.approx(0.1 * np.ptp(drawn.means, axis=1))
    assert small.rewards - small.means == pytest.approx(drawn.rewards - drawn.means, abs=1e-12)
    assert np.array_equal(small.contexts.shared, drawn.contexts.shared)


def test_a_shrunk_environment_is_the_same_however_rounds_are_cut() -> None:
    example = Shrunk(XorEnvironment(n_actions=2, n_features=2), 0.3)
    assert np.array_equal(example.draw(0, 100, seed=0).rewards[40:], example.draw(40, 100, seed=0).rewards)


def test_regret_is_that_of_active_rounds_alone() -> None:
    family, dial, regret = runs(SINUSOID, 0.3, 1_600, 2)
    assert (family, dial) == (SINUSOID, 0.3)
    trace = simulate(EpsilonFalcon(), environment_of(SINUSOID, 0.3), 1_600, 2, checkpoints="every")
    by_round = np.diff(trace.regret, axis=1, prepend=0.0)
    # The last 40 of the epoch's 800 rounds are passive.
    assert regret == pytest.approx(by_round[:, 800:1_560].mean(axis=1))


def test_the_slope_is_that_of_least_squares() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=9), rng.normal(size=9)
    assert slope_of(x, y, np.ones(9))[0] == pytest.approx(np.polyfit(x, y, 1)[0])


def test_the_error_of_the_slope_is_its_spread_under_such_errors() -> None:
    rng = np.random.default_rng(1)
    x, errors = np.linspace(0, 3, 6), np.array([0.3, 0.1, 0.2, 0.1, 0.1, 0.4])
    slopes = [slope_of(x, x + errors * rng.standard_normal(6), errors)[0] for _ in range(4_000)]
    # The spread of 4,000 normal numbers is off by 1.1%; this is four such errors.
    assert slope_of(x, x, errors)[1] == pytest.approx(np.std(slopes), rel=0.045)


def test_one_point_has_no_slope() -> None:
    assert np.isnan(slope_of(np.ones(1), np.ones(1), np.ones(1))[0])


def test_the_rate_is_the_theorems(tables: Tables) -> None:
    b = numbers(tables["regret"], "b")
    assert numbers(tables["regret"], "rate") == pytest.approx(2 * np.sqrt(b / np.sqrt(0.05)))


def test_a_xor_that_shrinks_costs_in_proportion_to_its_size(tables: Tables) -> None:
    # Its four replications leave the power off by about 0.01.
    assert entry(tables["growth"], "power", family=SHRINKING) == pytest.approx(0.5, abs=0.05)
    own = matching(tables["regret"], family=SHRINKING)
    assert numbers(own, "regret") == pytest.approx(numbers(own, "excess"))
    assert np.isnan(numbers(own, "best_model")).all()


def test_the_best_lines_cost_at_most_twice_the_root_of_their_worst_error(tables: Tables) -> None:
    own = matching(tables["regret"], family=SINUSOID)
    assert (numbers(own, "best_model") <= 2 * np.sqrt(numbers(own, "B"))).all()
    assert (numbers(own, "best_model") > 0.0).all()


def test_it_can_be_read(tables: Tables) -> None:
    check_readable(EXHIBIT, tables)

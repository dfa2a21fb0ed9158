from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from scipy.optimize import brentq

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.environments.population.best_in_class import best_in_class
from gyrfalcon.environments.population.population import greedy_policy
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.simulation.trace import Trace
from gyrfalcon_paper.exhibits.exhibit import Effort, Tables
from gyrfalcon_paper.exhibits.regret_over_time import EXHIBIT, REGRET, SWITCH, runs, stretches
from gyrfalcon_paper.linear_models import crossing
from gyrfalcon_paper.tables import numbers, only
from tests.paper.showing import check_readable, tables_of


@dataclass(frozen=True)
class Switching:
    """A model that prefers action 1 above a point."""

    at: float

    def scores(self, contexts: Contexts) -> Floats:
        x = contexts.shared[:, 0]
        return np.stack([x - self.at, np.zeros(len(x))], axis=1)


@pytest.fixture(scope="module")
def tables() -> Tables:
    return tables_of(EXHIBIT)


def test_the_self_consistent_switch_is_a_fixed_point_by_quadrature() -> None:
    population = StepExample().population

    def moved(at: float) -> float:
        return crossing(best_in_class(population, Linear(), play=greedy_policy(Switching(at)))) - at

    assert brentq(moved, 0.3, 0.49, xtol=1e-10) == pytest.approx(SWITCH, abs=1e-8)
    assert population.regret(greedy_policy(Switching(SWITCH))) == pytest.approx(REGRET, abs=1e-12)


def test_regret_falls_and_then_rises(tables: Tables) -> None:
    mean = numbers(tables["regret"], "mean")
    found = only(tables["summary"])
    assert mean[0] == pytest.approx(0.25, abs=0.03)
    assert mean[1] < 0.03
    assert found["late"] == pytest.approx(REGRET, abs=0.004)
    assert found["rise"] > 5 * found["rise_standard_error"]


def test_pieces_are_the_replications_of_one_simulation() -> None:
    together = runs(600, 6, 0)
    apart = Trace.concat([runs(600, 3, 0), runs(600, 3, 3)])
    assert np.array_equal(together.regret, apart.regret)


def test_full_effort_is_the_papers_hundred_simulations() -> None:
    pieces = EXHIBIT.work(Effort(quick=False))
    assert all(isinstance(piece, partial) for piece in pieces)
    assert sum(piece.args[1] for piece in pieces if isinstance(piece, partial)) == 100


@pytest.mark.parametrize("n_rounds", [4_000, 50_000])
def test_stretches_are_whole_batches_up_to_the_last_round(n_rounds: int) -> None:
    ends = np.unique(stretches(n_rounds))
    assert ends[0] == 100
    assert ends[-1] == n_rounds
    assert not (ends % 100).any()


def test_the_figure_is_labelled(tables: Tables) -> None:
    check_readable(EXHIBIT, tables)

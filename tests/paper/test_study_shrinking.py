from __future__ import annotations

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.environments.population.population import Population
from gyrfalcon.learners.steps import fitted_state
from gyrfalcon.oracles.linear.linear import LinearOracle
from gyrfalcon.oracles.solvers.moments import Moments
from gyrfalcon.simulation.replications import simulate
from gyrfalcon_paper.exhibits.exhibit import Tables
from gyrfalcon_paper.exhibits.shrinking import EXHIBIT, ellipse
from gyrfalcon_paper.exhibits.shrinking_fits import BEST, LEARNER, Watched, fits
from gyrfalcon_paper.linear_models import distance
from gyrfalcon_paper.tables import matching, numbers, table_of_rows
from tests.paper.showing import check_readable, tables_of


@pytest.fixture(scope="module")
def tables() -> Tables:
    return tables_of(EXHIBIT)


class Lines:
    def __init__(self, lines: Floats) -> None:
        self.lines = lines

    def scores(self, contexts: Contexts) -> Floats:
        return self.lines[:, 0] + contexts.shared * self.lines[:, 1]


def test_distance_is_a_root_mean_square_over_contexts_and_actions() -> None:
    lines = np.array([[0.3, -1.2], [0.1, 2.0]])
    nothing = Population.on_interval(lambda x: np.zeros((len(x), 2)), (0.0, 1.0))
    assert distance(lines) ** 2 == pytest.approx(nothing.mean_error(Lines(lines)), rel=1e-12)


def test_a_watched_learner_plays_as_it_does_alone() -> None:
    watched = simulate(Watched(LEARNER), StepExample(), 3_000, 1, seed=4)
    alone = simulate(LEARNER, StepExample(), 3_000, 1, seed=4)
    assert np.array_equal(watched.regret, alone.regret)


def test_the_excess_of_the_best_lines_is_what_the_risk_of_passive_rows_says() -> None:
    watched = Watched(LEARNER)
    simulate(watched, StepExample(), 6_401, 1, checkpoints=1)
    rows = table_of_rows(fits(6_401, 0, 1))
    for epoch, excess in zip(watched.epochs, numbers(rows, "best_excess"), strict=True):
        state = fitted_state(epoch)
        assert isinstance(state.oracle, LinearOracle)
        assert isinstance(state.passive, Moments)
        centre = state.oracle.design.center[0]
        scale = state.scale
        centred = np.stack([BEST[:, 0] + centre * BEST[:, 1] - scale.anchor, BEST[:, 1]], axis=1) / scale.unit
        passive = state.passive
        risk = (
            passive.squares.sum()
            - 2 * np.einsum("ki,ki->", centred, passive.cross)
            + np.einsum("ki,kij,kj->", centred, passive.gram, centred)
        ) / passive.n
        assert excess == pytest.approx(scale.unit**2 * (risk - state.oracle.passive_risk(passive)), abs=1e-9)


def test_the_fit_that_is_played_is_within_the_set_and_on_its_edge_if_the_constraint_binds() -> None:
    watched = Watched(LEARNER)
    simulate(watched, StepExample(), 25_601, 1, checkpoints=1)
    reports = [epoch.report for epoch in watched.epochs if epoch.report is not None]
    assert all(report.excess <= report.slack * (1 + 1e-9) for report in reports)
    binding = [report for report in reports if report.multiplier > 0.0]
    assert binding
    assert all(report.excess == pytest.approx(report.slack, rel=1e-6) for report in binding)


def test_the_edge_spends_all_of_the_slack(tables: Tables) -> None:
    for place in range(len(tables["sets"]["epoch"])):
        row = {name: float(column[place]) for name, column in tables["sets"].items()}
        x, y = ellipse(row)
        u, v = x - row["passive_intercept"], y - row["passive_slope"]
        spent = row["gram_00"] * u**2 + 2 * row["gram_01"] * u * v + row["gram_11"] * v**2
        assert spent == pytest.approx(np.full(len(x), row["slack"]), rel=1e-9)


def test_coverage_grows_with_the_scale_of_the_slack(tables: Tables) -> None:
    assert (np.diff(numbers(tables["coverage"], "coverage")) >= 0.0).all()
    assert numbers(tables["coverage"], "coverage")[-1] > 0.95


def test_sets_shrink_about_as_the_root_of_the_rounds(tables: Tables) -> None:
    late = matching(tables["epochs"], epoch=9), matching(tables["epochs"], epoch=5)
    ratio = float(late[1]["radius"][0]) / float(late[0]["radius"][0])
    assert ratio == pytest.approx(4.0, rel=0.15)  # 16 times the rounds, up to the logarithm


def test_it_can_be_read(tables: Tables) -> None:
    check_readable(EXHIBIT, tables)

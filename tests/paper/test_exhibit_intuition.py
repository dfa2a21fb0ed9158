from __future__ import annotations

import numpy as np
import pytest

from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon_paper.exhibits.exhibit import Tables
from gyrfalcon_paper.exhibits.intuition import (
    EPOCHS,
    EXHIBIT,
    FirstActionModel,
    ellipse,
    epoch_rows,
    excess,
    point_of,
)
from gyrfalcon_paper.tables import numbers, only, where
from tests.paper.showing import check_readable, tables_of


@pytest.fixture(scope="module")
def tables() -> Tables:
    return tables_of(EXHIBIT)


@pytest.mark.parametrize("index", EPOCHS)
def test_no_line_on_the_edge_of_the_set_has_less_active_risk(tables: Tables, index: int) -> None:
    active, passive = epoch_rows(index)
    slack = only(where(tables["summary"], "epoch", index))["slack"]
    edge = ellipse(passive.minimiser, passive.gram, slack, n_points=100_001)
    steps = edge - active.minimiser
    risks = np.einsum("ni,ij,nj->n", steps, active.gram, steps)
    ours = point_of(where(tables["fits"], "epoch", index), "constrained")
    assert ours == pytest.approx(edge[risks.argmin()], abs=1e-4)
    assert excess(active.gram, ours - active.minimiser) <= risks.min() + 1e-12


def test_sets_are_drawn_where_the_passive_risk_says(tables: Tables) -> None:
    _, passive = epoch_rows(EPOCHS[0])
    edge = where(tables["set"], "epoch", EPOCHS[0])
    lines = np.stack([numbers(edge, "intercept"), numbers(edge, "slope")])
    risks = np.mean((passive.r[:, np.newaxis] - passive.X @ lines) ** 2, axis=0)
    least = np.mean((passive.r - passive.X @ passive.minimiser) ** 2)
    slack = only(where(tables["summary"], "epoch", EPOCHS[0]))["slack"]
    assert risks == pytest.approx(np.full(len(risks), least + slack), abs=1e-12)


def test_the_level_of_active_risk_touches_the_set_at_its_minimiser(tables: Tables) -> None:
    active, passive = epoch_rows(EPOCHS[0])
    fit = point_of(where(tables["fits"], "epoch", EPOCHS[0]), "constrained")
    uphill = active.gram @ (fit - active.minimiser)
    outward = passive.gram @ (fit - passive.minimiser)
    cosine = uphill @ outward / np.linalg.norm(uphill) / np.linalg.norm(outward)
    assert cosine == pytest.approx(-1.0, abs=1e-9)


def test_the_slack_is_that_of_the_learners_preset(tables: Tables) -> None:
    learner = EpsilonFalcon()
    _, passive = epoch_rows(EPOCHS[0])
    n, d = passive.X.shape
    variance = np.sum((passive.r - passive.X @ passive.minimiser) ** 2) / (n - d)
    expected = learner.c_beta * variance * d * np.log(12 * EPOCHS[0] ** 2 / learner.delta) / n
    assert only(where(tables["summary"], "epoch", EPOCHS[0]))["slack"] == pytest.approx(expected, rel=1e-9)


def test_sets_shrink_and_the_minimiser_comes_closer(tables: Tables) -> None:
    slack = numbers(tables["summary"], "slack")
    assert (np.diff(slack) < 0.0).all()
    assert (numbers(tables["summary"], "excess_of_active") > slack).all()


def test_an_ellipse_has_the_same_excess_all_around() -> None:
    gram = np.array([[2.0, 0.5], [0.5, 1.0]])
    points = ellipse(np.array([1.0, -1.0]), gram, 0.3)
    assert [excess(gram, point - [1.0, -1.0]) for point in points] == pytest.approx([0.3] * len(points))


def test_a_line_above_a_half_plays_action_1_everywhere() -> None:
    from gyrfalcon.environments.paper import StepExample
    from gyrfalcon.environments.population.population import greedy_policy

    assert StepExample().population.regret(greedy_policy(FirstActionModel(1.0, 0.0))) == pytest.approx(0.25)


def test_the_figure_is_labelled(tables: Tables) -> None:
    check_readable(EXHIBIT, tables)

from __future__ import annotations

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats
from gyrfalcon.environments.paper import SensitivityExample
from gyrfalcon_paper.exhibits.exhibit import Tables
from gyrfalcon_paper.exhibits.sensitivity import EXHIBIT, THETA, confidence, optimal_log
from gyrfalcon_paper.tables import numbers, only
from tests.paper.showing import check_readable, tables_of


@pytest.fixture(scope="module")
def tables() -> Tables:
    return tables_of(EXHIBIT)


def test_the_best_lines_are_those_of_the_closed_form(tables: Tables) -> None:
    example = SensitivityExample(THETA)
    at_0, at_1 = numbers(tables["best"], "action_1")
    assert (at_0, at_1 - at_0) == pytest.approx(example.best_coefficients, abs=1e-9)
    assert only(tables["summary"])["b"] == pytest.approx(example.b, abs=1e-9)
    assert numbers(tables["best"], "action_2") == pytest.approx([1.0, 1.0 + example.slope], abs=1e-9)


def test_optimal_data_teach_a_flat_line_that_plays_action_1_everywhere(tables: Tables) -> None:
    assert numbers(tables["learnt"], "action_1") == pytest.approx([1.0, 1.0], abs=1e-6)
    # 1 + m x - 0.1 is lost up to 1 - theta.
    slope = SensitivityExample(THETA).slope
    lost = 0.9 * (1 - THETA) + slope * (1 - THETA) ** 2 / 2
    assert only(tables["summary"])["regret_of_learnt"] == pytest.approx(lost, abs=1e-6)


def test_intervals_are_those_of_ridge_regression_on_the_rows() -> None:
    example, n_rows = SensitivityExample(THETA), 3_000
    log = optimal_log(example, n_rows)
    mine = log.action == 0
    x = log.contexts.shared[:, 0]

    def columns(at: Floats) -> Floats:  # the ridge acts on standardised features
        return np.stack([np.ones(len(at)), (at - x.mean()) / x.std()], axis=1)

    X = columns(x[mine])
    gram = X.T @ X + np.eye(2)
    mean = log.reward.mean()  # towards which the ridge shrinks
    line = np.linalg.solve(gram, X.T @ (log.reward[mine] - mean))
    found = confidence(THETA, n_rows)
    phi = columns(numbers(found, "x")).T
    assert numbers(found, "estimate") == pytest.approx(mean + line @ phi, abs=1e-8)
    width = np.sqrt(np.einsum("in,in->n", phi, np.linalg.solve(gram, phi)))
    assert numbers(found, "width") == pytest.approx(width, abs=1e-8)


def test_the_log_is_the_optimal_policys() -> None:
    example = SensitivityExample(THETA)
    log = optimal_log(example, 500)
    assert np.array_equal(log.action == 0, log.contexts.shared[:, 0] > 1 - THETA)


def test_more_rows_narrow_the_interval_around_the_bad_line(tables: Tables) -> None:
    at_0 = numbers(tables["confidence"], "x") == 0.0
    assert (np.diff(numbers(tables["confidence"], "width")[at_0]) < 0.0).all()
    # A million rows show action 1 on a twentieth of contexts: at 0 its model strays by 0.1 / sqrt(50,000)
    # times 0.975 over the spread of x there, 0.05 / sqrt(12), which is 0.03, around the 0.955 that a ridge of
    # 1 leaves. Five such deviations are passed once in 1.7 million seeds.
    assert abs(numbers(tables["confidence"], "estimate")[at_0][-1] - 0.955) < 5 * 0.03


def test_the_figure_is_labelled(tables: Tables) -> None:
    check_readable(EXHIBIT, tables)

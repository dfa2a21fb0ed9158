from __future__ import annotations

import numpy as np
import pytest

from gyrfalcon.environments.paper import SensitivityExample
from gyrfalcon_paper.exhibits.exhibit import Tables
from gyrfalcon_paper.exhibits.supnorm import EXHIBIT, sup_error
from gyrfalcon_paper.tables import numbers
from tests.paper.showing import check_readable, tables_of


@pytest.fixture(scope="module")
def tables() -> Tables:
    return tables_of(EXHIBIT)


def test_quadrature_agrees_with_the_closed_forms(tables: Tables) -> None:
    table = tables["errors"]
    assert numbers(table, "b") == pytest.approx(numbers(table, "b_closed_form"), rel=1e-9)
    assert numbers(table, "sup") == pytest.approx(numbers(table, "sup_closed_form"), rel=1e-9)


@pytest.mark.parametrize("theta", [0.001, 0.01, 0.05])
def test_the_largest_error_is_what_a_line_through_many_points_shows(theta: float) -> None:
    example = SensitivityExample(theta=theta)
    # As many points below the step as above it would weigh contexts wrongly: an even grid has their weights.
    x = (np.arange(1_000_000) + 0.5) / 1_000_000
    truth = example.means(x)[:, 0]
    slope, intercept = np.polyfit(x, truth, 1)
    largest = np.abs(intercept + slope * x - truth).max()
    assert sup_error(theta) == pytest.approx(largest, abs=1e-4)


def test_b_vanishes_with_theta_and_the_largest_error_tends_to_nine_tenths(tables: Tables) -> None:
    b, sup = numbers(tables["errors"], "b"), numbers(tables["errors"], "sup")
    assert b[0] < 1e-4
    assert sup[0] == pytest.approx(0.9, abs=1e-3)
    assert (np.diff(b) > 0.0).all()
    assert (np.diff(sup) < 0.0).all()


def test_the_rate_by_b_is_five_times_the_best_share(tables: Tables) -> None:
    shares = (2 * np.sqrt(numbers(tables["errors"], "b")) / 4) ** 0.8
    assert numbers(tables["errors"], "mean_square_rate") == pytest.approx(5 * shares)


def test_it_can_be_read(tables: Tables) -> None:
    check_readable(EXHIBIT, tables)

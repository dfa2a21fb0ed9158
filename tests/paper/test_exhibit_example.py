from __future__ import annotations

import pytest

from gyrfalcon_paper.exhibits.example import EXHIBIT
from gyrfalcon_paper.exhibits.exhibit import Tables
from gyrfalcon_paper.tables import only
from tests.paper.showing import check_readable, tables_of


@pytest.fixture(scope="module")
def tables() -> Tables:
    return tables_of(EXHIBIT)


def test_the_best_line_is_that_of_the_closed_form(tables: Tables) -> None:
    # Cov(x, 1{x > 1/2}) = 1/8 and Var(x) = 1/12, so the slope is 3/2; b and B are 1/32 and 1/16.
    found = only(tables["summary"])
    assert found["slope"] == pytest.approx(1.5, abs=1e-9)
    assert found["intercept"] == pytest.approx(-0.25, abs=1e-9)
    assert found["b"] == pytest.approx(1 / 32, abs=1e-9)
    assert found["B"] == pytest.approx(1 / 16, abs=1e-9)


def test_truth_and_line_play_the_same_policy(tables: Tables) -> None:
    assert tables["play of truth"]["action"] == tables["play of best"]["action"] == [2, 1]
    assert only(tables["summary"])["crossing"] == pytest.approx(0.5, abs=1e-9)


def test_the_figure_is_labelled(tables: Tables) -> None:
    check_readable(EXHIBIT, tables)

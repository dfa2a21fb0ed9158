from __future__ import annotations

import pytest

from gyrfalcon.environments.paper import SensitivityExample
from gyrfalcon_paper.exhibits.exhibit import Tables
from gyrfalcon_paper.exhibits.live_loop import EXHIBIT, THETAS, collapsed_regret
from gyrfalcon_paper.tables import numbers
from tests.paper.showing import check_readable, tables_of


@pytest.fixture(scope="module")
def tables() -> Tables:
    return tables_of(EXHIBIT)


@pytest.mark.parametrize("theta", THETAS)
def test_the_collapse_would_cost_what_action_1_everywhere_costs(theta: float) -> None:
    example = SensitivityExample(theta)
    lost = 0.9 * (1 - theta) + example.slope * (1 - theta) ** 2 / 2
    assert collapsed_regret(example) == pytest.approx(lost, abs=1e-6)


def test_no_learner_collapses_in_the_live_loop(tables: Tables) -> None:
    # A tenth of the collapse is five times what any of them pays.
    assert (numbers(tables["late"], "mean") < 0.1 * numbers(tables["late"], "one_step")).all()


def test_the_figure_is_labelled(tables: Tables) -> None:
    check_readable(EXHIBIT, tables)

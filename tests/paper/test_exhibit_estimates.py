from __future__ import annotations

import numpy as np
import pytest

from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.records import Log
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.simulation.replications import simulate
from gyrfalcon_paper.exhibits.estimates import EXHIBIT, estimates
from gyrfalcon_paper.exhibits.exhibit import Tables
from gyrfalcon_paper.exhibits.regret_over_time import SWITCH
from gyrfalcon_paper.tables import numbers
from tests.paper.showing import check_readable, tables_of


@pytest.fixture(scope="module")
def tables() -> Tables:
    return tables_of(EXHIBIT)


def test_lines_are_ridge_fits_of_the_rounds_before() -> None:
    # The first 100 rounds are uniform whatever the fit, so their rows can be had from a run that ends there.
    found = estimates((100,), seed=3)
    rows: list[Log] = []

    class Watched(LinUCB):
        __slots__ = ()

        def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
            rows.append(log)
            return super().next_epoch(epoch, log)

    simulate(Watched(), StepExample(), 101, seed=3)
    log = rows[0]
    mine = log.action == 0
    x = log.contexts.shared[:, 0]
    z = (np.array([*x[mine], 0.0, 1.0]) - x.mean()) / x.std()  # the ridge acts on standardised features
    X = np.stack([np.ones(len(z)), z], axis=1)
    rows_of_1, ends = X[:-2], X[-2:]
    line = np.linalg.solve(
        rows_of_1.T @ rows_of_1 + np.eye(2), rows_of_1.T @ (log.reward[mine] - log.reward.mean())
    )
    at_0_and_1 = [found["action_1_at_0"][0], found["action_1_at_1"][0]]
    assert at_0_and_1 == pytest.approx((log.reward.mean() + ends @ line).tolist(), abs=1e-9)


def test_regret_is_what_switching_elsewhere_than_at_a_half_costs(tables: Tables) -> None:
    rows = tables["estimates"]
    assert numbers(rows, "regret") == pytest.approx(0.5 * np.abs(numbers(rows, "crossing") - 0.5), abs=1e-9)


def test_the_run_ends_near_the_self_consistent_switch(tables: Tables) -> None:
    # The spread of the switch over runs at 20,000 rounds is about 0.004.
    assert numbers(tables["estimates"], "crossing")[-1] == pytest.approx(SWITCH, abs=0.02)


def test_the_figure_is_labelled(tables: Tables) -> None:
    assert len(check_readable(EXHIBIT, tables).axes) == len(tables["estimates"]["rounds"])

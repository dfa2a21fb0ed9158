"""Vowpal Wabbit itself reads our dsjson, with costs and probabilities to single precision."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.agreement import wabbit_labels as wabbit
from hypothesis import given

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.logs.formats.vowpal_wabbit.dsjson_writing import dsjson_lines
from tests.logs.formats.tables import COLUMNS, decision_tables

pytest.importorskip("vowpalwabbit")

SHOWN = tuple(name for name in COLUMNS if name != "shadow")
"""Columns but the one whose rows Vowpal Wabbit passes over."""


@given(decision_tables(min_rows=1, columns=SHOWN))
def test_costs_and_probabilities_are_read_to_single_precision(table: DecisionTable) -> None:
    found = wabbit.labels(dsjson_lines(table))
    costs = np.where(np.isnan(table.reward), wabbit.UNLABELLED, -table.reward)
    np.testing.assert_allclose([label.cost for label in found], costs, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose([label.probability for label in found], table.propensity, rtol=1e-7, atol=1e-7)


@given(decision_tables(min_rows=1, columns=SHOWN))
def test_the_chosen_action_is_read_among_the_eligible_ones(table: DecisionTable) -> None:
    for row, label in enumerate(wabbit.labels(dsjson_lines(table))):
        eligible = np.flatnonzero(table.eligible[row]).tolist()
        assert label.n_actions == len(eligible)
        assert label.action == label.position + 1
        assert eligible[label.position] == table.action[row]

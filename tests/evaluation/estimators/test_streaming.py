"""Estimates from tables that are read one after the other."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gyrfalcon import evaluation as ev
from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.evaluation.estimators import streaming
from tests.evaluation.estimators import direct
from tests.evaluation.estimators.direct import Rows, some_rows


def table_of(rows: Rows) -> DecisionTable:
    """Decisions whose features are the probabilities of the target, and then the predictions."""
    return DecisionTable(
        actions=tuple(range(rows.target.shape[1])),
        contexts=Contexts(np.column_stack([rows.target, rows.predictions])),
        action=rows.actions,
        reward=rows.rewards,
        propensity=rows.propensities,
    )


def target(table: DecisionTable) -> Floats:
    return table.contexts.shared[:, : table.n_actions]


def predictions(table: DecisionTable) -> Floats:
    return table.contexts.shared[:, table.n_actions :]


@given(some_rows, st.integers(1, 7))
def test_batches_give_what_all_rows_give_at_once(rows: Rows, size: int) -> None:
    assume(sum(direct.weights(rows)) > 0.0)
    table = table_of(rows)
    batches = [table.take(slice(start, start + size)) for start in range(0, len(table) + size, size)]
    for name, whole in (
        ("ips", ev.inverse_propensity(*rows.log)),
        ("snips", ev.self_normalised_inverse_propensity(*rows.log)),
        ("dr", ev.doubly_robust(*rows.all)),
        ("sndr", ev.self_normalised_doubly_robust(*rows.all)),
    ):
        model = predictions if name in {"dr", "sndr"} else None
        found = ev.estimate_in_batches(iter(batches), target, name, predictions=model)
        assert found.value == pytest.approx(whole.value, abs=1e-9)
        np.testing.assert_allclose(found.influence, whole.influence, atol=1e-9)


def test_columns_may_have_several_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "_BLOCK", 7)
    rows = direct.random_rows(4, 30, 3)
    table = table_of(rows)
    batches = [table.take(slice(start, start + 10)) for start in range(0, 30, 10)]
    found = ev.estimate_in_batches(batches, target, "sndr", predictions=predictions)
    whole = ev.self_normalised_doubly_robust(*rows.all)
    np.testing.assert_allclose(found.influence, whole.influence, atol=1e-12)


def test_memory_holds_one_table_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "_BLOCK", 2**14)

    def tables() -> Iterator[DecisionTable]:
        return (table_of(direct.random_rows(number, 2_000, 50)) for number in range(20))

    one = 2_000 * 50 * 8 * 2  # bytes of a table's features
    tracemalloc.start()
    try:
        found = ev.estimate_in_batches(tables(), target, "dr", predictions=predictions)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found.influence) == 40_000
    assert peak < 5 * one  # of 20


def test_errors_say_in_which_table_the_row_is() -> None:
    table = table_of(direct.random_rows(0, 10, 3))
    table.propensity[7] = 1.5
    batches = [table.take(slice(0, 5)), table.take(slice(5, 10))]
    with pytest.raises(
        ValueError, match="in the table of rows 5 to 9, counted in it from 0: row 2: the played"
    ):
        ev.estimate_in_batches(batches, target)


def test_impossible_requests_are_refused() -> None:
    table = table_of(direct.random_rows(0, 10, 3))
    with pytest.raises(ValueError, match='"dr" needs predictions'):
        ev.estimate_in_batches([table], target, "dr")
    with pytest.raises(ValueError, match='"ips" takes no predictions'):
        ev.estimate_in_batches([table], target, predictions=predictions)
    with pytest.raises(ValueError, match="the tables have no rows; give a log"):
        ev.estimate_in_batches([table.take(slice(0, 0))], target)
    with pytest.raises(ValueError, match="estimator is 'dm'"):
        ev.estimate_in_batches([table], target, "dm")

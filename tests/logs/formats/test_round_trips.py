"""Tables that are written in a format and read again are the same, as far as the format carries them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.evaluation import evaluate
from gyrfalcon.logs import obp_feedback, read_log, table_from_frame, table_from_obp, write_log
from tests.logs.formats.tables import assert_same, assert_same_numbers, decision_tables

INTS = st.integers(-50, 50)


def through(table: DecisionTable, name: str, **options: Any) -> DecisionTable:
    """The table after it was written to a file of this name, and read again."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        write_log(table, path)
        return read_log(path, **options)


@given(decision_tables(min_rows=1))
@pytest.mark.parametrize("name", ["log.csv", "log.jsonl", "log.parquet", "log.csv.gz"])
def test_files_with_columns_carry_everything(name: str, table: DecisionTable) -> None:
    assert_same(table, through(table, name))


@given(decision_tables(min_rows=1, labels=INTS))
@pytest.mark.parametrize("name", ["log.csv", "log.jsonl", "log.parquet", "log.dsjson"])
def test_whole_numbers_stay_labels(name: str, table: DecisionTable) -> None:
    again = through(table, name)
    assert all(type(label) is int for label in again.actions)


@given(decision_tables(min_rows=1))
@pytest.mark.parametrize("method", ["to_pandas", "to_polars", "to_arrow"])
def test_frames_carry_everything(method: str, table: DecisionTable) -> None:
    assert_same(table, table_from_frame(getattr(table, method)()))


@given(decision_tables(min_rows=1, columns=("event_id", "time", "model", "shadow")))
def test_dsjson_carries_contexts_distributions_ids_times_and_models(table: DecisionTable) -> None:
    again = through(table, "log.dsjson")
    if table.distribution is None and again.distribution is not None:
        # The probability of the chosen action is all there is where no other was eligible.
        known = ~np.isnan(again.distribution).all(axis=1)
        np.testing.assert_array_equal(known, table.eligible.sum(axis=1) == 1)
        again = _without(again, "distribution")
    if table.shadow is not None and not table.shadow.any():
        assert again.shadow is None
        again, table = _without(again, "shadow"), _without(table, "shadow")
    assert_same(table, again, ("event_id", "time", "model", "shadow"))


@given(decision_tables(min_rows=1, columns=("defaulted",)))
def test_dsjson_tells_observed_rewards_from_defaults(table: DecisionTable) -> None:
    again = through(table, "log.dsjson")
    rewarded = ~np.isnan(table.reward)
    if table.defaulted is not None and (rewarded & ~table.defaulted).any():
        assert again.defaulted is not None
        np.testing.assert_array_equal(again.defaulted, table.defaulted & rewarded)


@given(decision_tables(min_rows=1, columns=()))
def test_cb_text_carries_contexts_and_rewarded_decisions(table: DecisionTable) -> None:
    rewarded = ~np.isnan(table.reward)
    again = through(table, "log.vw", **({} if _has_blocks(table) else {"n_actions": table.n_actions}))
    np.testing.assert_array_equal(again.reward, table.reward)
    np.testing.assert_array_equal(again.propensity, np.where(rewarded, table.propensity, np.nan))
    assert_same_numbers(again.contexts.shared, again.features, table.contexts.shared, table.features)
    labels = [
        str(label) for label in (table.actions if _has_blocks(table) else range(1, table.n_actions + 1))
    ]
    expected = [labels[spot] if known else None for spot, known in zip(table.action, rewarded, strict=True)]
    assert [None if spot < 0 else str(again.actions[spot]) for spot in again.action] == expected


@given(decision_tables(min_rows=1, columns=()))
def test_feedback_carries_contexts_distributions_and_propensities(table: DecisionTable) -> None:
    table = _without(table, "distribution") if table.contexts.eligible is not None else table
    rows = table.take(~np.isnan(table.reward)).take(slice(0, 1))  # one row has no features that differ
    if len(rows):
        names = {"features": rows.features, "action_features": rows.action_features}
        again = table_from_obp(obp_feedback(rows), actions=rows.actions, **names)
        for name in ("reward", "propensity", "action", "distribution"):
            np.testing.assert_array_equal(getattr(again, name), getattr(rows, name))
        np.testing.assert_array_equal(again.contexts.shared, rows.contexts.shared)


def _has_blocks(table: DecisionTable) -> bool:
    return table.contexts.actions is not None or not table.eligible.all()


def _without(table: DecisionTable, column: str) -> DecisionTable:
    changes: dict[str, Any] = {column: None}
    return replace(table, **changes)


@pytest.mark.parametrize("name", ["folder", "log.csv", "log.jsonl", "log.parquet"])
def test_estimated_propensities_stay_estimated(name: str, tmp_path: Path) -> None:
    table = DecisionTable.of(
        actions=["red", "blue"], action=["red", "blue"] * 20, reward=[0.0, 1.0] * 20, propensity=[0.5] * 40
    )
    write_log(table, tmp_path / f"logged-{name}")
    write_log(replace(table, propensity_source="estimated"), tmp_path / name)
    assert read_log(tmp_path / f"logged-{name}").propensity_source == "logged"
    read = read_log(tmp_path / name)
    assert read.propensity_source == "estimated"
    assert DecisionTable.concat([table, read]).propensity_source == "estimated"
    for own, n_reasons in ((table, 0), (read, 1)):
        reasons = evaluate(own, {"blue": "always blue"}).policies[-1].verdict.reasons
        assert sum("were estimated" in one.text for one in reasons) == n_reasons

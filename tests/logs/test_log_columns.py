"""Tables that are written and read by columns are equal to the last bit, whatever is in them."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.logs import LogReader, LogWriter, read_log
from gyrfalcon.logs.lines.folder import MIN_BYTES
from tests.logs.tables import COLUMNS, differing, tables


def written(folder: str | Path, *parts: DecisionTable, max_bytes: int = 2**25) -> str:
    with LogWriter(folder, max_bytes=max_bytes) as writer:
        for part in parts:
            writer.append(part)
    return str(folder)


def in_the_order_written(folder: str, batch_rows: int = 2**16) -> DecisionTable:
    return DecisionTable.concat(list(LogReader(folder).tables(batch_rows=batch_rows)))


def numbered(n: int, n_actions: int = 3, **columns: Any) -> DecisionTable:
    """Decisions whose rewards are their numbers."""
    rng = np.random.default_rng(n)
    return DecisionTable(
        actions=tuple(range(n_actions)),
        contexts=Contexts(rng.normal(size=(n, 2))),
        action=rng.integers(n_actions, size=n),
        reward=np.arange(float(n)),
        propensity=rng.random(n),
        features=("a", "b"),
        **columns,
    )


@given(tables(), st.integers(0, 7), st.integers(1, 9))
def test_tables_come_back_as_they_were(table: DecisionTable, cut: int, batch_rows: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        written(folder, table.take(slice(0, cut)), table.take(slice(cut, None)))
        again = in_the_order_written(folder, batch_rows)
        assert len(LogReader(folder)) == len(table)
    expected = dataclasses.replace(
        table, distribution=None if table.distribution is None else _known(table, again)
    )
    assert differing(again, expected) == []


def _known(table: DecisionTable, again: DecisionTable) -> Any:
    """The distribution; a row without eligible actions has none."""
    assert table.distribution is not None
    assert again.distribution is not None
    assert np.isnan(again.distribution[~table.eligible.any(axis=1)]).all()
    return table.distribution


@given(tables(), st.sets(st.sampled_from(["action", "reward", "propensity", "eligible", *COLUMNS])))
def test_only_the_columns_that_are_asked_for_are_read(table: DecisionTable, chosen: set[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        written(folder, table)
        whole = in_the_order_written(folder)
        (some,) = LogReader(folder).tables(chosen)
    empty: dict[str, Any] = {name: None for name in COLUMNS if name not in chosen}
    n = len(table)
    empty |= {name: np.full(n, np.nan) for name in ("reward", "propensity") if name not in chosen}
    empty |= {} if "action" in chosen else {"action": np.full(n, -1)}
    masks = whole.contexts.eligible if chosen & {"eligible", "distribution"} else None
    expected = dataclasses.replace(
        whole, contexts=Contexts(np.zeros((n, 0)), None, masks), features=(), action_features=(), **empty
    )
    assert differing(some, expected) == []


@given(st.data())
def test_files_of_different_problems_are_one_log(data: st.DataObject) -> None:
    """Actions and features that a file lacks are not eligible and nan there."""
    first, second = (data.draw(tables()) for _ in range(2))
    second = dataclasses.replace(second, cost=first.cost)
    with tempfile.TemporaryDirectory() as folder:
        written(folder, first, second)
        again = in_the_order_written(folder)
    assert len(again) == len(first) + len(second)
    for table, part in (
        (first, again.take(slice(0, len(first)))),
        (second, again.take(slice(len(first), None))),
    ):
        labels = [again.actions[place] if place >= 0 else "?" for place in part.action.tolist()]
        own = [table.actions[place] if place >= 0 else "?" for place in table.action.tolist()]
        assert list(map(repr, labels)) == list(map(repr, own))
        places = [list(map(repr, again.actions)).index(repr(label)) for label in table.actions]
        assert np.array_equal(part.eligible[:, places], table.eligible)
        assert part.eligible.sum() == table.eligible.sum()
        columns = [again.features.index(name) for name in table.features]
        shared = part.contexts.shared
        assert np.array_equal(shared[:, columns], table.contexts.shared, equal_nan=True)
        assert np.isnan(np.delete(shared, columns, axis=1)).all()


def test_many_files_are_read_in_the_order_in_which_they_were_written(tmp_path: Path) -> None:
    table = numbered(5_000)
    parts = [table.take(slice(first, first + 50)) for first in range(0, 5_000, 50)]
    written(tmp_path, *parts, max_bytes=MIN_BYTES)
    assert len(list(tmp_path.glob("*.parquet"))) == 1  # rows wait until there are enough for a row group
    wide = numbered(40_000, n_actions=400)
    folder = tmp_path / "wide"
    written(folder, wide, max_bytes=MIN_BYTES)
    assert len(list(folder.glob("*.parquet"))) == 2
    for path, expected in ((tmp_path, table), (folder, wide)):
        rows = [one.rows for one in LogReader(path).tables(["reward"], batch_rows=7_000)]
        assert np.array_equal(np.concatenate(rows), np.arange(len(expected)))
        assert max(map(len, rows)) <= 7_000
        again = read_log(path)
        assert differing(again, expected) == []
        assert again.source_row is None


def test_a_table_without_rows_is_a_log_without_rows(tmp_path: Path) -> None:
    empty = numbered(0)
    written(tmp_path, empty)
    (table,) = LogReader(tmp_path).tables()
    assert differing(table, empty) == []
    assert len(read_log(tmp_path)) == 0
    assert repr(LogReader(tmp_path)) == "LogReader(0 decisions, 3 actions, 2 features)"
    (some,) = LogReader(tmp_path).tables(["reward", "context.b"])
    assert (some.features, some.contexts.shared.shape) == (("b",), (0, 1))


def test_columns_that_come_and_go_do_not_make_many_files(tmp_path: Path) -> None:
    """Chunks of a simulation may have eligible actions or not, and rows with missing ones read as null."""
    plain = numbered(3)
    some = dataclasses.replace(
        plain,
        contexts=dataclasses.replace(plain.contexts, eligible=np.eye(3, dtype=np.bool_)),
        time=np.arange(3.0),
    )
    written(tmp_path, *([plain, some] * 10))
    assert len(list(tmp_path.glob("*.parquet"))) == 2
    again = in_the_order_written(str(tmp_path))
    assert again.time is not None
    assert np.isnan(again.time[:3]).all()
    assert np.array_equal(again.eligible[3:6], np.eye(3))
    assert again.eligible[:3].all()


def test_one_parquet_file_is_a_log_too(tmp_path: Path) -> None:
    table = numbered(10, time=np.arange(10.0))
    written(tmp_path, table)
    (path,) = tmp_path.glob("*.parquet")
    assert differing(read_log(path), table) == []


def test_rows_are_in_the_order_of_their_times(tmp_path: Path) -> None:
    table = numbered(6, time=np.array([3.0, 1.0, 2.0, 1.0, 0.0, 3.0]))
    written(tmp_path, table)
    assert read_log(tmp_path).reward.tolist() == [4.0, 1.0, 3.0, 2.0, 0.0, 5.0]


def test_other_programs_see_a_column_for_each_feature_and_labels(tmp_path: Path) -> None:
    import pyarrow.parquet

    table = DecisionTable.of(
        actions=["red", "blue"],
        action=["blue", "red"],
        reward=[1.0, np.nan],
        propensity=[0.75, 0.25],
        shared=[[1.5], [np.nan]],
        features=["age"],
        distribution=np.array([[0.25, 0.75], [0.25, 0.75]]),
        reward_range=(0.0, 1.0),
    )
    written(tmp_path, table)
    (path,) = tmp_path.glob("*.parquet")
    file = pyarrow.parquet.read_table(path)
    assert file.to_pylist() == [
        {
            "context.age": 1.5,
            "action": "blue",
            "propensity": 0.75,
            "distribution": [0.25, 0.75],
            "reward": 1.0,
        },
        {
            "context.age": None,
            "action": "red",
            "propensity": 0.25,
            "distribution": [0.25, 0.75],
            "reward": None,
        },
    ]
    about = file.schema.metadata
    assert about[b"gyrfalcon.log.format"] == b"2"
    assert b'"actions": ["red", "blue"]' in about[b"gyrfalcon.log.problem"]
    assert b'"reward_range": [0.0, 1.0]' in about[b"gyrfalcon.log.problem"]
    assert b"numpy" in about[b"gyrfalcon.log.fingerprint"]


def test_mistakes_are_refused_with_a_sentence(tmp_path: Path) -> None:
    written(tmp_path, numbered(3))
    reader = LogReader(tmp_path)
    with pytest.raises(ValueError, match="column 'rewards' is none of a log's; did you mean 'reward'"):
        reader.tables(["rewards"])
    with pytest.raises(ValueError, match=r"columns is 'reward'; give a list of names, as \['reward'\]"):
        reader.tables("reward")
    with pytest.raises(ValueError, match="batch_rows is 0"):
        reader.tables(batch_rows=0)
    with pytest.raises(ValueError, match="max_bytes is 5; give a number of at least 1024"):
        LogWriter(tmp_path, max_bytes=5)
    with pytest.raises(ValueError, match=r"the actions \('x', 1\) and .* are both .* in a file; give them"):
        written(tmp_path, dataclasses.replace(numbered(1, 2), actions=(("x", 1), "('x', 1)")))
    assert len(LogReader(tmp_path)) == 3
    (path,) = tmp_path.glob("*.parquet")
    with pytest.raises(ValueError, match="is a file; give a folder"):
        LogWriter(path)
    with pytest.raises(ValueError, match="nothing does not exist"):
        read_log(tmp_path / "nothing")
    written(tmp_path, dataclasses.replace(numbered(1), cost=True))
    with pytest.raises(
        ValueError, match="has files with rewards and files with costs; read the files one by"
    ):
        read_log(tmp_path)

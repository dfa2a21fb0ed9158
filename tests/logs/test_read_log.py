"""Logs of live bandits as tables: the same from lines, from Parquet files and from both, as rows say."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from gyrfalcon import Bandit
from gyrfalcon.bandit import LogFolder, audit_decision_log, compact_decision_log, read_decision_log
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.frames import text_column
from gyrfalcon.logs import LogReader, read_log
from gyrfalcon.logs.lines.folder import text_of
from tests.bandit.helpers import Clock
from tests.logs.helpers import close, line_files, play, played
from tests.logs.tables import differing
from tests.logs.test_repeated import crashed, repeated
from tests.logs.test_rows import logs

VERSION_1 = Path(__file__).parent / "files" / "version-1"


def table_of(rows: list[dict[str, Any]], like: DecisionTable) -> DecisionTable:
    """The table of rows, made one row at a time, with the actions and features of another table."""
    places = {repr(label): place for place, label in enumerate(like.actions)}
    n, n_actions, own = len(rows), len(like.actions), like.action_features
    eligible = np.zeros((n, n_actions), dtype=np.bool_)
    shares, cube = np.full((n, n_actions), np.nan), np.zeros((n, n_actions, len(own)))
    for number, row in enumerate(rows):
        chosen = [places[repr(label)] for label in row["eligible"]]
        eligible[number, chosen] = True
        cube[number, chosen] = np.nan
        if row["distribution"] is not None:
            shares[number] = 0.0
            shares[number, chosen] = row["distribution"]
        for place, cell in zip(chosen, row["action_features"] or [], strict=bool(row["action_features"])):
            cube[number, place] = [cell.get(name, np.nan) for name in own]
    shared = np.array([[row["context"].get(name, np.nan) for name in like.features] for row in rows])
    columns = {name: [row[key] for row in rows] for name, key in NAMES.items()}
    optional: dict[str, Any] = {
        **{name: np.array(columns[name], dtype=np.float64) for name in ("time", "reward_time")},
        **{name: np.array(columns[name], dtype=np.int64) for name in ("epoch", "round")},
        **{name: text_column(columns[name]) for name in ("event_id", "model", "experiment")},
        **{name: np.array(columns[name], dtype=np.bool_) for name in FLAGS},
    }
    return DecisionTable(
        actions=like.actions,
        contexts=Contexts(
            shared.reshape(n, len(like.features)).astype(np.float64),
            cube if own else None,
            None if eligible.all() else eligible,
        ),
        action=np.array([places[repr(row["action"])] for row in rows], dtype=np.int64),
        reward=np.array(columns["reward"], dtype=np.float64),
        propensity=np.array(columns["propensity"], dtype=np.float64),
        passive=np.array([row["phase"] == "passive" for row in rows], dtype=np.bool_),
        distribution=None if np.isnan(shares).all() else shares,
        features=like.features,
        action_features=own,
        reward_range=like.reward_range,
        cost=like.cost,
        **optional,
    )


FLOATS = ("reward", "propensity", "time", "reward_time")
FLAGS = ("defaulted", "late", "overridden", "shadow")
NAMES = {name: name for name in (*FLOATS, *FLAGS, "epoch", "round", "event_id", "model", "experiment")}
NAMES["defaulted"] = "expired"


def agrees_with_rows(folder: Path) -> DecisionTable:
    """The table of a log, which is the one that its rows make."""
    table = read_log(folder)
    assert differing(table, table_of(list(read_decision_log(folder).rows), table)) == []
    assert len(LogReader(folder)) == len(table)
    return table


@given(logs())
def test_any_lines_are_the_same_table_before_and_after_compaction(lines: list[dict[str, Any]]) -> None:
    header, *events = lines
    cut = len(events) // 2
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for number, part in enumerate(([header, *events[:cut]], [header, *events[cut:]])):
            (folder / f"{number}.jsonl").write_bytes(b"".join(map(text_of, part)))
        before = agrees_with_rows(folder)
        assert list(map(repr, before.actions)) == list(map(repr, header["actions"]))
        (folder / "1.jsonl").rename(folder / "hidden")
        compact_decision_log(folder)
        (folder / "hidden").rename(folder / "1.jsonl")
        mixed = agrees_with_rows(folder)
        compact_decision_log(folder)
        assert not line_files(folder)
        after = agrees_with_rows(folder)
    assert differing(mixed, before) == []
    assert differing(after, before) == []


def test_a_live_bandits_log_is_read_while_it_is_written_and_compacted(tmp_path: Path) -> None:
    """Decisions in Parquet files get the outcomes that stand in later files and in open ones."""
    log = LogFolder(tmp_path, max_bytes=8_000, experiment="blue banner")
    bandit = played(log, 150, reward_timeout=60, default_reward=0.25)
    before = agrees_with_rows(tmp_path)
    compact_decision_log(tmp_path)
    assert line_files(tmp_path)
    assert differing(agrees_with_rows(tmp_path), before) == []
    play(bandit, 50)
    table = agrees_with_rows(tmp_path)
    assert len(table) == 200
    assert table.experiment is not None
    assert set(table.experiment) == {"blue banner"}
    assert (table.reward_range, table.cost, table.features) == ((0.0, 1.0), False, ("x0", "x1"))
    close(bandit)
    compact_decision_log(tmp_path)
    assert differing(agrees_with_rows(tmp_path), table) == []
    assert audit_decision_log(tmp_path).n_equal == 200


def test_defaults_and_overridden_decisions_are_flagged(tmp_path: Path) -> None:
    clock = Clock()
    bandit = Bandit(["a", "b"], seed=1, log=tmp_path, clock=clock, reward_timeout=60, default_reward=0.5)
    first, second, third = (bandit.decide() for _ in range(3))
    bandit.reward(second.event_id, 0.75, final=True)
    bandit.withdraw(third.event_id, shown="b" if third.action == "a" else "a")
    clock.now += 100
    bandit.decide()
    with pytest.raises(ValueError, match="expired"):
        bandit.reward(first.event_id, 1.0)
    for _ in range(2):
        table = agrees_with_rows(tmp_path)
        assert table.defaulted is not None
        assert table.late is not None
        assert table.overridden is not None
        assert table.defaulted.tolist() == [True, False, False, False]
        assert table.late.tolist() == [True, False, False, False]
        assert table.overridden.tolist() == [False, False, True, False]
        assert table.reward[:2].tolist() == [0.5, 0.75]
        assert np.isnan(table.reward[2:]).all()
        close(bandit)
        compact_decision_log(tmp_path)


@pytest.mark.parametrize("in_another_file", [False, True])
def test_decisions_that_were_written_twice_are_one_row(in_another_file: bool, tmp_path: Path) -> None:
    close(played(LogFolder(tmp_path, max_bytes=4096), 60))
    once = read_log(tmp_path)
    repeated(tmp_path, in_another_file=in_another_file)
    for _ in range(2):
        assert differing(agrees_with_rows(tmp_path), once) == []
        compact_decision_log(tmp_path)


def test_an_outcome_after_a_crash_belongs_to_the_decision_after_it(tmp_path: Path) -> None:
    crashed(tmp_path, Clock())
    compact_decision_log(tmp_path / "log")
    table = agrees_with_rows(tmp_path / "log")
    assert table.event_id is not None
    assert table.reward[table.event_id == "session-1"].tolist()[1:] == [1.0]


def test_logs_of_format_1_are_read_audited_and_compacted(tmp_path: Path) -> None:
    """Files that the version before wrote: two Parquet files and one of lines."""
    folder = Path(shutil.copytree(VERSION_1, tmp_path / "log"))
    known = json.loads((folder / "rows.json").read_text())["rows"]
    for _ in range(2):
        rows = read_decision_log(folder).rows
        assert [{name: row[name] for name in known[0]} for row in rows] == known
        assert {(row["overridden"], row["shadow"], row["experiment"]) for row in rows} == {
            (False, False, None)
        }
        table = agrees_with_rows(folder)
        assert table.actions == (1, "1", "('x', 2)")
        assert audit_decision_log(folder).n_equal == 40
        compact_decision_log(folder)
    assert not line_files(folder)
    assert table.defaulted is not None
    assert table.defaulted.sum() == sum(row["expired"] for row in known)


def test_a_parquet_file_of_a_later_format_is_refused(tmp_path: Path) -> None:
    import pyarrow.parquet

    close(played(tmp_path, 20))
    compact_decision_log(tmp_path)
    (path,) = tmp_path.glob("*.parquet")
    table = pyarrow.parquet.read_table(path)
    pyarrow.parquet.write_table(
        table.replace_schema_metadata({**table.schema.metadata, b"gyrfalcon.log.format": b"3"}), path
    )
    for function in (read_log, LogReader, read_decision_log):
        with pytest.raises(
            ValueError, match=r"has format version 3, and this gyrfalcon reads 1 to 2; install"
        ):
            function(tmp_path)

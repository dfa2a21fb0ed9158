"""Compaction: whatever moment a process is killed at, every decision and outcome is read once."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gyrfalcon import Bandit
from gyrfalcon.bandit import LogFolder, audit_decision_log, compact_decision_log, read_decision_log
from tests.bandit.helpers import Clock
from tests.logs.helpers import close, line_files, play, played, rows_by_id
from tests.processes import started, wait_until


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of many files that nobody writes to, the last line of which is cut off."""
    folder = tmp_path_factory.mktemp("closed")
    close(played(LogFolder(folder, max_bytes=8_000), 150))
    last = line_files(folder)[-1]
    last.write_bytes(last.read_bytes() + b'{"kind": "final", "event_')
    assert len(line_files(folder)) > 8
    return folder


def copied(folder: Path, target: Path) -> Path:
    return Path(shutil.copytree(folder, target / "log"))


def test_rows_are_the_same_before_and_after(closed: Path, tmp_path: Path) -> None:
    folder = copied(closed, tmp_path)
    before = read_decision_log(folder)
    n_files = len(line_files(folder))
    done = compact_decision_log(folder)
    assert (done.n_files, done.n_rows, done.n_open) == (n_files, 150, 0)
    assert not line_files(folder)
    after = read_decision_log(folder)
    assert after.rows == before.rows
    assert (before.n_cut_off, after.n_unknown) == (1, before.n_unknown)
    assert {row["outcome"] for row in after.rows} == {"final", "withdrawn", "open"}
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in folder.glob("*.parquet"))
    assert audit_decision_log(folder).n_equal == 150
    assert compact_decision_log(folder).n_files == 0


def test_tables_of_both_forms_are_equal(closed: Path, tmp_path: Path) -> None:
    folder = copied(closed, tmp_path)
    before = read_decision_log(folder).to_arrow()
    compact_decision_log(folder)
    assert read_decision_log(folder).to_arrow().equals(before)


def test_a_file_that_is_written_to_stays_as_it_is(tmp_path: Path) -> None:
    bandit = played(LogFolder(tmp_path, max_bytes=20_000), 100)
    before = rows_by_id(tmp_path)
    n_files = len(line_files(tmp_path))
    done = compact_decision_log(tmp_path)
    assert (done.n_files, done.n_open) == (n_files - 1, 1)
    assert rows_by_id(tmp_path) == before
    play(bandit, 40)
    assert len(rows_by_id(tmp_path)) == 140
    assert audit_decision_log(tmp_path).n_equal == 140


def test_outcomes_that_come_when_their_decisions_are_in_parquet_files_count(tmp_path: Path) -> None:
    bandit = Bandit(["a", "b"], seed=1, log=tmp_path, clock=Clock(), reward_timeout=60, default_reward=0.0)
    first, second, third = (bandit.decide().event_id for _ in range(3))
    state = tmp_path / "bandit"
    bandit.save(state)
    close(bandit)
    compact_decision_log(tmp_path)
    clock = Clock(1010.0)
    later = Bandit.load(state, log=tmp_path, clock=clock)
    later.reward(second, 0.75, final=True)
    later.withdraw(third, shown="b" if rows_by_id(tmp_path)[third]["action"] == "a" else "a")
    clock.now += 100
    later.decide()
    with pytest.raises(ValueError, match="expired without a reward"):
        later.reward(first, 1.0)
    for _ in range(2):
        rows = rows_by_id(tmp_path)
        assert rows[second] | {"outcome": "final", "reward": 0.75, "reward_time": 1010.0} == rows[second]
        assert rows[first] | {"outcome": "final", "reward": 0.0, "expired": True, "late": True} == rows[first]
        assert (rows[third]["outcome"], rows[third]["reward"]) == ("withdrawn", None)
        assert rows[third]["shown"] not in {None, rows[third]["action"]}
        close(later)
        compact_decision_log(tmp_path)


def test_a_compaction_goes_on_from_wherever_it_was_killed(closed: Path, tmp_path: Path) -> None:
    """Each of the states that a kill can leave, made by hand."""
    folder, done = copied(closed, tmp_path), copied(closed, tmp_path / "done")
    compact_decision_log(done)
    before = rows_by_id(folder)
    first, second, third, *_ = line_files(folder)
    for lines, endings in ((first, [".rest.jsonl"]), (second, [".rest.jsonl", ".parquet"])):
        for ending in endings:
            shutil.copy(done / f"{lines.stem}{ending}", folder)
    (folder / f"{third.stem}.rest.jsonl").write_text('{"kind": "final", "event_id"')  # never in place, but
    assert rows_by_id(folder) == before
    compact_decision_log(folder)
    assert rows_by_id(folder) == before
    assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in done.iterdir())


COMPACT = """
import sys
from gyrfalcon.bandit import compact_decision_log
from gyrfalcon.logs.arrow_extra import import_pyarrow
import_pyarrow()
print("ready", flush=True)
compact_decision_log(sys.argv[1])
"""


def test_a_compaction_that_is_killed_at_any_moment_loses_and_doubles_nothing(
    closed: Path, tmp_path: Path
) -> None:
    folder, moments = copied(closed, tmp_path), random.Random(7)
    before = rows_by_id(folder)
    for _ in range(6):
        with started([sys.executable, "-c", COMPACT, str(folder)], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            time.sleep(moments.uniform(0.0, 0.15))
            process.kill()
            process.wait()
        assert rows_by_id(folder) == before
    compact_decision_log(folder)
    assert not line_files(folder)
    assert rows_by_id(folder) == before


def test_two_compactions_and_a_reader_at_once_agree(closed: Path, tmp_path: Path) -> None:
    folder = copied(closed, tmp_path)
    before = rows_by_id(folder)
    command = [sys.executable, "-c", COMPACT, str(folder)]
    with started(command, stdout=subprocess.PIPE) as one, started(command, stdout=subprocess.PIPE) as other:
        while None in {one.poll(), other.poll()}:
            assert rows_by_id(folder) == before
        assert (one.returncode, other.returncode) == (0, 0)
    assert not line_files(folder)
    assert rows_by_id(folder) == before


PLAY = """
import json, sys
import numpy as np
from gyrfalcon import Bandit
from gyrfalcon.bandit import LogFolder
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.learners.optimistic.linucb import LinUCB
log = LogFolder(sys.argv[1], format="parquet", max_bytes=6_000)
bandit = Bandit(["a", "b", "c"], learner=LinUCB(schedule=FixedBatch(25)), features=2, log=log)
rng = np.random.default_rng()
while True:
    decision = bandit.decide(rng.normal(size=2))
    print(json.dumps([decision.event_id, decision.action, decision.propensity, None]), flush=True)
    if rng.random() < 0.8:
        bandit.reward(decision.event_id, 0.5)
        print(json.dumps([decision.event_id, decision.action, decision.propensity, 0.5]), flush=True)
"""


def _has_said(output: Path, n_lines: int) -> bool:
    return output.read_bytes().count(b"\n") > n_lines


def _has_compacted(log: Path, n_files: int) -> bool:
    return len(list(log.glob("*.parquet"))) > n_files


def test_a_bandit_that_is_killed_loses_no_decision_that_it_has_given_out(tmp_path: Path) -> None:
    moments, known = random.Random(3), dict[str, Any]()
    log = tmp_path / "log"
    for turn in range(3):
        output = tmp_path / str(turn)
        with (
            output.open("w") as stdout,
            started([sys.executable, "-c", PLAY, str(log)], stdout=stdout) as process,
        ):
            n_lines = moments.randrange(100, 300)
            wait_until(partial(_has_said, output, n_lines))
            wait_until(partial(_has_compacted, log, turn))
            process.kill()
            process.wait()
        *said, _ = output.read_text().split("\n")
        for event_id, *rest in map(json.loads, said):
            known[event_id] = rest
    for compacted in (False, True):
        rows = rows_by_id(log)
        for event_id, (action, propensity, reward) in known.items():
            row = rows[event_id]
            assert (row["action"], row["propensity"]) == (action, propensity)
            assert reward is None or (row["reward"], row["outcome"]) == (reward, "final")
        assert len(rows) <= len(known) + 3  # a decision may have been logged and not given out
        report = audit_decision_log(log)
        assert report.passed
        assert report.n_equal == len(rows)
        if not compacted:
            compact_decision_log(log)
    assert not line_files(log)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_fork_writes_to_a_file_of_its_own_with_a_header(tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        "from gyrfalcon import Bandit\n"
        "bandit = Bandit(['a', 'b'], seed=1, log=sys.argv[1])\n"
        "bandit.decide()\n"
        "child = os.fork()\n"
        "bandit.decide()\n"
        "bandit.cycle = bandit  # which is taken apart at the very end\n"
        "if child: os.waitpid(child, 0)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    assert subprocess.run(command, check=True, capture_output=True).stderr == b""
    assert len(line_files(tmp_path)) == 2
    assert audit_decision_log(tmp_path).n_equal == 3
    assert compact_decision_log(tmp_path).n_files == 2
    assert audit_decision_log(tmp_path).n_equal == 3


def test_a_folder_without_a_log_and_damaged_files_are_refused(closed: Path, tmp_path: Path) -> None:
    for function in (read_decision_log, compact_decision_log, audit_decision_log):
        with pytest.raises(ValueError, match=r"has no decision log; give the folder of Bandit\(log=\.\.\.\)"):
            function(tmp_path)
    folder = copied(closed, tmp_path)
    first = line_files(folder)[0]
    whole = first.read_bytes()
    for damage, sentence in (
        (whole.replace(b"\n", b'\n{"kind": \n', 1), r"line 2, is damaged"),
        (whole.replace(b"\n", b"\n[]\n", 1), r"line 2, is damaged"),
        (whole.replace(b'"eligible"', b'"elegible"', 1), r"the line on event .* is damaged"),
        (whole.replace(b'"time"', b'"tome"', 1), r"the line on event .* is damaged"),
        (
            whole.replace(b'"format": 2', b'"format": 9', 1),
            "has format version 9, and this",
        ),
    ):
        first.write_bytes(damage)
        for function in (read_decision_log, compact_decision_log, audit_decision_log):
            with pytest.raises(ValueError, match=sentence):
                function(folder)
        assert first.read_bytes() == damage
    first.write_bytes(whole)
    compact_decision_log(folder)
    parquet = first.with_suffix(".parquet")
    parquet.write_bytes(parquet.read_bytes()[:-20])
    with pytest.raises(ValueError, match=r"can't be read as a Parquet file"):
        read_decision_log(folder)


def test_settings_of_a_folder_are_checked(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"format is 'csv'; choose 'jsonl' or 'parquet'\."):
        LogFolder(tmp_path, format="csv")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="max_bytes is 10; give a number of at least 1024"):
        LogFolder(tmp_path, max_bytes=10)

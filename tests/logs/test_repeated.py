"""Lines that were written twice are one decision, and an outcome belongs to the latest decision before it."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from gyrfalcon import Bandit
from gyrfalcon.bandit import LogFolder, audit_decision_log, compact_decision_log, read_decision_log
from gyrfalcon.logs.lines.outcomes import RowBuilder
from tests.bandit.helpers import Clock
from tests.logs.helpers import close, line_files, played


def repeated(folder: Path, *, in_another_file: bool) -> None:
    """Write each line of the log twice, as a bandit does that is interrupted after each."""
    for path in line_files(folder):
        header, *lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        if in_another_file:
            (folder / f"9{path.name}").write_text(header + "".join(lines), encoding="utf-8")
        else:
            path.write_text(header + "".join(2 * line for line in lines), encoding="utf-8")


@pytest.mark.parametrize("compacted", [False, True])
@pytest.mark.parametrize("in_another_file", [False, True])
def test_lines_that_were_written_twice_are_read_once(
    in_another_file: bool, compacted: bool, tmp_path: Path
) -> None:
    """Before, an exception of a signal between the writing of a line and its note made the audit fail."""
    bandit = played(LogFolder(tmp_path, max_bytes=4096), 60)
    close(bandit)
    once = read_decision_log(tmp_path)
    repeated(tmp_path, in_another_file=in_another_file)
    if compacted:
        compact_decision_log(tmp_path)
    twice = read_decision_log(tmp_path)
    assert twice.rows == once.rows
    assert (len(twice), twice.duplicates, twice.n_unknown) == (60, (), 0)
    assert audit_decision_log(tmp_path).passed


def test_a_sink_that_is_interrupted_after_a_line_leaves_a_log_that_passes(tmp_path: Path) -> None:
    bandit = Bandit(["a", "b"], features=["x"], seed=1, log=tmp_path)
    engine: Any = bandit._live.engine
    sink, interruptions = engine.sink, iter([False, True, False, False, True, True])

    def interrupted(number: int, record: object) -> None:
        sink(number, record)
        if next(interruptions, False):
            raise KeyboardInterrupt

    engine.sink = interrupted
    for row in range(10):
        try:
            bandit.decide([float(row)], event_id=str(row))
        except KeyboardInterrupt:
            continue
    written = [json.loads(text) for path in line_files(tmp_path) for text in path.read_text().splitlines()]
    assert sum(line["kind"] == "decided" for line in written) > 10
    log = read_decision_log(tmp_path)
    assert (len(log), log.duplicates) == (bandit.status().n_decided, ())
    assert audit_decision_log(tmp_path).passed


def crashed(folder: Path, clock: Any) -> tuple[Any, Any]:
    """Decisions under one id before a crash and after it, of which the second one has a reward."""
    log = folder / "log"
    bandit = Bandit(range(50), seed=1, log=log, features=["x"], clock=clock)
    bandit.save(folder / "bandit")
    for _ in range(60):
        decision = bandit.decide([0.1])
        bandit.reward(decision.event_id, float(decision.action == 7))
    first = bandit.decide([0.1], event_id="session-1")
    close(bandit)
    del bandit
    again = Bandit.load(folder / "bandit", clock=clock, log=log)
    second = again.decide([0.9], event_id="session-1")
    again.reward("session-1", 1.0)
    close(again)
    return first, second


@pytest.mark.parametrize("compacted", [False, True])
@pytest.mark.parametrize("clock", [time.time, Clock()], ids=["time goes on", "all at once"])
def test_an_outcome_after_a_crash_belongs_to_the_decision_after_it(
    clock: Any, compacted: bool, tmp_path: Path
) -> None:
    """Before, it was joined to the decision that the crash had made void."""
    first, second = crashed(tmp_path, clock)
    if compacted:
        compact_decision_log(tmp_path / "log")
    log = read_decision_log(tmp_path / "log")
    rows = [row for row in log.rows if row["event_id"] == "session-1"]
    assert [row["propensity"] for row in rows] == [first.propensity, second.propensity]
    assert [row["outcome"] for row in rows] == ["open", "final"]
    assert [row["reward"] for row in rows] == [None, 1.0]
    assert log.duplicates == ("session-1",)
    assert audit_decision_log(tmp_path / "log").duplicates == ("session-1",)


def line(kind: str, time: float, sequence: int, **values: Any) -> dict[str, Any]:
    return {"kind": kind, "event_id": "e", "time": time, "sequence": sequence, **values}


def decided(time: float, sequence: int) -> dict[str, Any]:
    parts: dict[str, Any] = {"context": {}, "action": "a", "propensity": 0.5, "phase": "policy"}
    parts |= {"epoch": 1, "round": sequence, "epoch_round": sequence, "silent": None, "model": None}
    return line("decided", time, sequence, **parts, eligible=None, distribution=None, action_features=None)


HEADER = {"kind": "problem", "format": 1, "actions": ["a", "b"], "action_features": [], "seed": 1}


@pytest.mark.parametrize(
    ("outcomes", "rewards"),
    [
        ([(1.5, 0.1)], [0.1, None, None]),
        ([(2.0, 0.2)], [None, 0.2, None]),
        ([(9.0, 0.3)], [None, None, 0.3]),
        ([(0.5, 0.4)], [None, None, 0.4]),  # by a clock that was set back: the latest
        ([(9.0, 0.3), (1.5, 0.1), (2.5, 0.2)], [0.1, 0.2, 0.3]),
    ],
)
def test_outcomes_go_to_the_latest_decision_before_them(
    outcomes: list[tuple[float, float]], rewards: list[float | None]
) -> None:
    builder = RowBuilder()
    builder.add_file([HEADER, decided(1.0, 5), decided(2.0, 6), decided(3.0, 2)], Path("first"))
    lines = [line("final", at, 7 + n, reward=reward) for n, (at, reward) in enumerate(outcomes)]
    builder.add_file([HEADER, *lines], Path("second"))
    assert builder.join() == []
    assert [row["reward"] for row in builder.rows] == rewards


def test_a_copy_of_a_folder_has_the_same_rows(tmp_path: Path) -> None:
    crashed(tmp_path, time.time)
    shutil.copytree(tmp_path / "log", tmp_path / "copy")
    assert read_decision_log(tmp_path / "copy").rows == read_decision_log(tmp_path / "log").rows

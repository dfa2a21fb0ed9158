"""Bandits that log what they do, and what is left of their logs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from gyrfalcon import Bandit
from gyrfalcon.bandit import LogFolder, read_decision_log
from gyrfalcon.learners.protocol import Learner
from tests.bandit.helpers import Clock


def played(
    folder: Path | LogFolder,
    n: int = 120,
    *,
    actions: Iterable[str] = ("a", "b", "c"),
    learner: Learner | None = None,
    seed: int = 1,
    **settings: Any,
) -> Bandit:
    """A bandit that has made n decisions in two ways: with eligible actions, outcomes of every kind."""
    bandit = Bandit(
        list(actions), learner=learner, features=2, seed=seed, log=folder, clock=Clock(), **settings
    )
    play(bandit, n, seed)
    return bandit


def play(bandit: Bandit, n: int, seed: int = 0) -> None:
    """Go on for n decisions, of which a third are rewarded later, some dropped and one withdrawn."""
    rng = np.random.default_rng(seed)
    open_ids: list[str] = []
    while n > 0:
        if n % 5 == 0:
            open_ids.append(bandit.decide(rng.normal(size=2)).event_id)
            n -= 1
        else:
            mask = rng.random((n % 5, len(bandit.problem.actions))) < 0.7
            mask[:, 0] = True
            open_ids += bandit.decide_many(rng.normal(size=(n % 5, 2)), eligible=mask).event_id
            n -= n % 5
        while len(open_ids) > 7:
            bandit.reward(open_ids.pop(int(rng.integers(4))), float(rng.random()), final=True)
    bandit.withdraw(open_ids[0])


def close(bandit: Bandit) -> None:
    """Let go of the file that a bandit writes, as if its process had ended."""
    sink: Any = bandit._live.engine.sink
    sink._sink._close()


def line_files(folder: Path) -> list[Path]:
    """The files of lines, without those beside Parquet files."""
    return sorted(path for path in folder.glob("*.jsonl") if ".rest" not in path.name)


def edit(
    folder: Path, change: Callable[[dict[str, Any]], Any], kind: str = "decided", number: int = 7
) -> str:
    """Change one line of a kind as somebody would who tampers with a log, and give its event id."""
    seen = 0
    for path in line_files(folder):
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        for place, text in enumerate(lines):
            line = json.loads(text)
            seen += line["kind"] == kind
            if line["kind"] == kind and seen == number:
                change(line)
                lines[place] = json.dumps(line) + "\n"
                path.write_text("".join(lines), encoding="utf-8")
                return str(line["event_id"])
    raise AssertionError(f"there are only {seen} lines of {kind}")


def rows_by_id(folder: Path) -> dict[str, dict[str, Any]]:
    """The rows of a log, none of them twice."""
    log = read_decision_log(folder)
    assert not log.duplicates
    return {row["event_id"]: row for row in log.rows}

"""Decision log of a live bandit: a JSON line for each decision and each final outcome, only appended."""

from __future__ import annotations

import json
import math
import os
import secrets
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gyrfalcon.bandit.journal import (
    Decided,
    EpochOpened,
    Finalised,
    ProblemChanged,
    Record,
    Rewarded,
    Withdrawn,
)
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import PASSIVE
from gyrfalcon.frames import Column, Lists, Tabular, label_column, text_column

FORMAT = 1
Line = dict[str, Any]
LineSink = Callable[[Line], object]


class DecisionLog:
    """Sink for the records of a bandit, which writes lines to a new file in a folder, or calls a function.

    Every line is written whole by one call of the operating system, so that a killed process leaves at most
    its last line cut off, which readers leave out. No two processes share a file.

    Parameters
    ----------
    target
        The folder, which is made if it is not there, or a function that is called with each line as a dict.
    problem
        The problem at the start.
    """

    def __init__(self, target: str | os.PathLike[str] | LineSink, problem: Problem) -> None:
        self._problem = problem
        self._target = target
        self._file, self._process = -1, 0
        self._write(_header(problem))

    def __call__(self, sequence: int, record: Record) -> None:
        """Write the line of a record, if it has one."""
        if isinstance(record, ProblemChanged):
            self._problem = record.problem
        line = line_of(record, self._problem)
        if line is not None:
            self._write({"sequence": sequence, **line})

    def _write(self, line: Line) -> None:
        if callable(self._target):
            self._target(line)
            return
        if self._process != os.getpid():  # at the start, and in a child after a fork
            self._file, self._process = _new_file(Path(self._target)), os.getpid()
        text = json.dumps(line, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        size = os.fstat(self._file).st_size
        if os.write(self._file, text) < len(text):
            os.ftruncate(self._file, size)
            raise OSError("the disk is full")


def _new_file(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{time.time_ns():020d}-{secrets.token_hex(4)}.jsonl"
    return os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_EXCL, 0o600)


def _header(problem: Problem) -> Line:
    return {
        "kind": "problem",
        "format": FORMAT,
        "actions": [_label(label) for label in problem.actions],
        "features": list(problem.features.names),
        "action_features": list(problem.action_features.names),
        "reward_range": None if problem.reward_range is None else list(problem.reward_range),
        "cost": problem.cost,
    }


def line_of(record: Record, problem: Problem) -> Line | None:
    """The line of a record: decisions, final outcomes, withdrawals, opened epochs and changed problems."""
    match record:
        case Decided():
            return _decided(record, problem)
        case Rewarded(event_id, at, reward, True):
            return {"kind": "final", "event_id": event_id, "reward_time": at, "reward": reward}
        case Finalised(event_id, at, reward, expired, _):
            known = None if math.isnan(reward) else reward
            return {
                "kind": "final",
                "event_id": event_id,
                "reward_time": at,
                "reward": known,
                "expired": expired,
            }
        case Withdrawn(event_id, at, shown):
            label = None if shown is None else _label(problem.actions[shown])
            return {"kind": "withdrawn", "event_id": event_id, "time": at, "shown": label}
        case EpochOpened():
            return {"kind": "epoch", **record._asdict()}
        case ProblemChanged():
            return {**_header(problem), "time": record.time}
    return None


def _decided(record: Decided, problem: Problem) -> Line:
    contexts, row = record.contexts, record.row
    cube, eligible = contexts.actions, contexts.eligible
    labels = problem.actions
    return {
        "kind": "decided",
        "event_id": record.event_id,
        "time": record.time,
        "context": dict(zip(problem.features.names, contexts.shared[row].tolist(), strict=True)),
        "action_features": None if cube is None else cube[row].tolist(),
        "eligible": None
        if eligible is None
        else [_label(labels[k]) for k in np.flatnonzero(eligible[row]).tolist()],
        "action": _label(labels[record.action]),
        "propensity": record.propensity,
        "distribution": None if record.distribution is None else list(record.distribution),
        "phase": "passive" if record.component % 2 == PASSIVE else "policy",
        "epoch": record.epoch,
        "round": record.round,
        "model": record.model,
    }


def _label(label: Hashable) -> object:
    return label if isinstance(label, str | int | float | bool | None) else str(label)


@dataclass(frozen=True)
class LoggedDecisions(Tabular):
    """Decisions of a log with their final rewards, one row each, in the order of their times.

    Parameters
    ----------
    lines
        The decisions' lines, each with `reward`, `reward_time` and `outcome`: "final", "dropped", "withdrawn"
        or "open".
    """

    lines: tuple[Line, ...]

    def __len__(self) -> int:
        return len(self.lines)

    def __repr__(self) -> str:
        n_final = sum(line["outcome"] == "final" for line in self.lines)
        return f"LoggedDecisions({len(self)} decisions, {n_final} final)"

    def columns(self) -> Mapping[str, Column]:
        """Columns by name: what tables are made of."""
        names = list(dict.fromkeys(name for line in self.lines for name in line["context"]))

        def numbers(name: str) -> Any:
            values = [line[name] for line in self.lines]
            return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

        features = {
            f"context.{name}": np.array([line["context"].get(name, np.nan) for line in self.lines])
            for name in names
        }
        shares = [line["distribution"] or [] for line in self.lines]
        flat = np.array([share for row in shares for share in row], dtype=np.float64)
        return {
            "event_id": text_column([line["event_id"] for line in self.lines]),
            "time": numbers("time"),
            **features,
            "action": label_column([line["action"] for line in self.lines]),
            "propensity": numbers("propensity"),
            "distribution": Lists(flat, np.array([len(row) for row in shares], dtype=np.int64)),
            "reward": numbers("reward"),
            "reward_time": numbers("reward_time"),
            "outcome": text_column([line["outcome"] for line in self.lines]),
            "phase": text_column([line["phase"] for line in self.lines]),
            "epoch": np.array([line["epoch"] for line in self.lines], dtype=np.int64),
            "round": np.array([line["round"] for line in self.lines], dtype=np.int64),
            "model": text_column([line["model"] or "" for line in self.lines]),
        }


def read_decision_log(folder: str | os.PathLike[str]) -> LoggedDecisions:
    """Decisions of all files in a folder that bandits have logged to, joined with their outcomes.

    Parameters
    ----------
    folder
        The folder that was given as `Bandit(log=...)`.

    Raises
    ------
    ValueError
        If there is no log, or a line in the middle of a file is damaged.
    """
    files = sorted(Path(folder).glob("*.jsonl"))
    if not files:
        raise ValueError(f"{os.fspath(folder)} has no *.jsonl files; give the folder of Bandit(log=...).")
    decided: dict[str, Line] = {}
    for line in (line for file in files for line in _lines(file)):
        match line["kind"]:
            case "decided":
                decided[line["event_id"]] = {**line, "reward": None, "reward_time": None, "outcome": "open"}
            case "final" if line["event_id"] in decided:
                outcome = "dropped" if line["reward"] is None else "final"
                decided[line["event_id"]] |= {
                    "reward": line["reward"],
                    "reward_time": line["reward_time"],
                    "outcome": outcome,
                }
            case "withdrawn" if line["event_id"] in decided:
                decided[line["event_id"]]["outcome"] = "withdrawn"
    return LoggedDecisions(tuple(sorted(decided.values(), key=lambda line: line["time"])))


def _lines(file: Path) -> Iterator[Line]:
    *whole, _ = file.read_bytes().split(b"\n")  # what follows the last line break was cut off
    for number, text in enumerate(whole, start=1):
        try:
            yield json.loads(text)
        except ValueError as error:
            raise ValueError(f"{file}, line {number}, is damaged ({error}); remove it to go on.") from None

"""Decision log of a live bandit: a line for each decision and each outcome, and a file for each policy."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from gyrfalcon.bandit.decision_rules import DecisionRules
from gyrfalcon.bandit.journal import (
    Decided,
    EpochOpened,
    Finalised,
    LateReward,
    LearnerChanged,
    ProblemChanged,
    Record,
    Rewarded,
    Withdrawn,
)
from gyrfalcon.core.arrays import Bools
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import phase_of
from gyrfalcon.engine.fingerprint import fingerprint
from gyrfalcon.logs.lines.folder import LogFolder
from gyrfalcon.logs.lines.rows import FORMAT, Line, logged_label
from gyrfalcon.logs.writer import LineWriter

LineSink: TypeAlias = Callable[[Line], object]
LogTarget: TypeAlias = str | os.PathLike[str] | LogFolder | LineSink
"""What `Bandit(log=...)` takes."""


class DecisionLog:
    """Sink for the records of a bandit, which writes lines to files in a folder, or calls a function.

    Parameters
    ----------
    target
        The folder, with settings or without, or a function that is called with each line as a dict.
    problem
        The problem at the start.
    seed
        The seed that draws of actions depend on.
    """

    def __init__(self, target: LogTarget, problem: Problem, seed: int) -> None:
        self._problem = problem
        self._seed: int | None = None
        self._experiment: str | None = None
        self._unstorable: int | None = None
        self.rules = DecisionRules()
        self._sink: LineSink | LineWriter
        if isinstance(target, str | os.PathLike):
            target = LogFolder(target)
        if isinstance(target, LogFolder):
            self._seed = seed if target.keep_seed else None
            self._experiment = target.experiment
            self.rules = DecisionRules(target.path, target.classes)
            self._sink = LineWriter(target, self._header())
        else:
            self._sink = target
            target(self._header())

    def __call__(self, sequence: int, record: Record) -> None:
        """Write the line of a record, if it has one, after the policy that a decision was made by."""
        if isinstance(record, ProblemChanged):
            self._problem = record.problem
        if isinstance(record, Decided):
            self._keep_rule(record)
        line = line_of(record, self._problem)
        if line is not None:
            self._write({**line, "sequence": sequence})
        elif isinstance(record, ProblemChanged):
            self._write({**self._header(), "time": record.time, "sequence": sequence})

    def _write(self, line: Line) -> None:
        if isinstance(self._sink, LineWriter):
            self._sink.write(line, self._header)
        else:
            self._sink(line)

    def _keep_rule(self, record: Decided) -> None:
        if record.model is not None:
            self.rules.store(record.model)
        elif record.epoch != self._unstorable:
            self._write({"kind": "unstorable", "epoch": record.epoch, "reason": self.rules.reason})
            self._unstorable = record.epoch

    def _header(self) -> Line:
        problem = self._problem
        return {
            "kind": "problem",
            "format": FORMAT,
            "seed": self._seed,
            "actions": [logged_label(label) for label in problem.actions],
            "features": list(problem.features.names),
            "action_features": list(problem.action_features.names),
            "reward_range": None if problem.reward_range is None else list(problem.reward_range),
            "out_of_range": problem.out_of_range,
            "cost": problem.cost,
            "experiment": self._experiment,
            "fingerprint": fingerprint().to_dict(),
        }


def line_of(record: Record, problem: Problem) -> Line | None:
    """The line of a record: decisions, outcomes, late rewards and opened epochs."""
    match record:
        case Decided():
            return _decided(record, problem)
        case Rewarded(event_id, at, reward, True):
            return _final(event_id, at, problem.rewards.within(reward), expired=False)
        case Finalised(event_id, at, reward, expired, _):
            return _final(
                event_id, at, None if math.isnan(reward) else problem.rewards.within(reward), expired=expired
            )
        case Withdrawn(event_id, at, shown):
            label = None if shown is None else logged_label(problem.actions[shown])
            return {"kind": "withdrawn", "event_id": event_id, "time": at, "shown": label}
        case LateReward(event_id, at):
            return {"kind": "late", "event_id": event_id, "time": at}
        case EpochOpened():
            return {"kind": "epoch", **record._asdict()}
        case LearnerChanged(at, _, epoch, n_rows, n_log_rows, round_):
            return line_of(EpochOpened(at, epoch, n_rows, n_log_rows, round_), problem)
    return None


def _final(event_id: str, at: float, reward: float | None, *, expired: bool) -> Line:
    return {"kind": "final", "event_id": event_id, "time": at, "reward": reward, "expired": expired}


def _decided(record: Decided, problem: Problem) -> Line:
    contexts, row = record.contexts, record.row
    cube, eligible = contexts.actions, contexts.eligible
    return {
        "kind": "decided",
        "event_id": record.event_id,
        "time": record.time,
        "context": dict(zip(problem.features.names, contexts.shared[row].tolist(), strict=True)),
        "action_features": None if cube is None else cube[row].tolist(),
        "eligible": None if eligible is None else _labels(eligible[row], problem),
        "action": logged_label(problem.actions[record.action]),
        "propensity": record.propensity,
        "distribution": None if record.distribution is None else list(record.distribution),
        "phase": phase_of(record.component),
        "epoch": record.epoch,
        "round": record.round,
        "epoch_round": record.epoch_round,
        "silent": None if record.silent is None else _labels(record.silent, problem),
        "model": record.model,
    }


def _labels(mask: Bools, problem: Problem) -> list[Any]:
    return [logged_label(problem.actions[action]) for action in np.flatnonzero(mask).tolist()]

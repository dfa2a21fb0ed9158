"""Rows of a decision log: one decision each, with its context, its distribution and its outcome.

The columns are those that evaluation reads, in a format with a version: docs/decisions/0020.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.messages import enumeration, short_repr
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.frames import Column, Lists, Tabular, label_column, text_column

FORMAT = 2
"""Version of lines, rows and Parquet files, which each file names."""
READ_FORMATS = range(1, FORMAT + 1)
"""Versions that are read."""

Line: TypeAlias = dict[str, Any]
"""A line of a file: `kind` says what it is."""
Row: TypeAlias = dict[str, Any]
"""A decision with what is known of its outcome."""


_AS_LOGGED = (
    *("event_id", "time", "context", "action", "propensity", "phase"),
    *("epoch", "round", "epoch_round", "silent", "model", "sequence"),
)


def logged_label(label: Hashable) -> Any:
    """A label as JSON has it: text, a number, a boolean or None, and anything else as text.

    >>> logged_label("red"), logged_label(3), logged_label(("a", 1))
    ('red', 3, "('a', 1)")
    """
    if isinstance(label, float) and not math.isfinite(label):
        return str(label)
    return label if isinstance(label, str | int | float | bool | None) else str(label)


def row_of(line: Line, problem: Line) -> Row:
    """The row of a decision's line, which tells of eligible actions only, in the order of the problem."""
    labels, names, seed = problem["actions"], problem["action_features"], problem["seed"]
    eligible = labels if line["eligible"] is None else line["eligible"]
    # Actions of a log are few; a set would need labels of one kind.
    places = [labels.index(label) for label in eligible]
    shares, cube = line["distribution"], line["action_features"]
    features = None if cube is None else [dict(zip(names, cube[place], strict=True)) for place in places]
    return {
        **{name: line[name] for name in _AS_LOGGED},
        "eligible": list(eligible),
        "distribution": None if shares is None else [shares[place] for place in places],
        "action_features": features,
        "seed": None if seed is None else str(seed),
        "reward": None,
        "reward_time": None,
        "outcome": "open",
        "expired": False,
        "late": False,
        "shown": None,
        "overridden": False,
        "shadow": False,
        "experiment": problem.get("experiment"),
    }


@dataclass(frozen=True)
class LoggedDecisions(Tabular):
    """Decisions of a log with their outcomes, one row each, in the order of their times.

    `to_pandas`, `to_polars` and `to_arrow` give them as a table.

    Parameters
    ----------
    rows
        The decisions as dicts. `outcome` is "final", "dropped", "withdrawn" or "open"; lists of features and
        probabilities are in the order of the row's `eligible`.
    duplicates
        Ids of events that were decided more than once, as after a crash under an id of the caller's. Each
        decision is a row, and an outcome belongs to the latest one before it.
    n_cut_off
        Number of last lines that a killed process has left cut off.
    n_unknown
        Number of outcomes whose decision is not in the log, as where it began later.
    """

    rows: tuple[Row, ...]
    duplicates: tuple[str, ...] = ()
    n_cut_off: int = 0
    n_unknown: int = 0

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        n_final = sum(row["outcome"] == "final" for row in self.rows)
        return f"LoggedDecisions({len(self)} decisions, {n_final} final)"

    def to_log(self, problem: Problem) -> Log:
        """The decisions with a final reward as a log to learn from, such as for `Bandit.update`.

        Parameters
        ----------
        problem
            A problem with the features and units of the logged decisions. Decisions for actions that it does
            not have are left out.

        Raises
        ------
        ValueError
            If features differ, or a reward is outside the range.
        """
        labels = {logged_label(label): label for label in problem.actions}
        rows = [row for row in self.rows if row["outcome"] == "final" and row["action"] in labels]
        _check_features(rows, problem)
        return problem.log(
            _logged_contexts(rows, list(labels), problem),
            [labels[row["action"]] for row in rows],
            [row["reward"] for row in rows],
            np.array([row["propensity"] for row in rows], dtype=np.float64),
            passive=np.array([row["phase"] == "passive" for row in rows], dtype=np.bool_),
        )

    def columns(self) -> Mapping[str, Column]:
        """Columns by name: what tables are made of, and Parquet files."""
        rows = self.rows
        return {
            "event_id": text_column([row["event_id"] for row in rows]),
            "time": _numbers(rows, "time"),
            **_contexts(rows),
            **_action_features(rows),
            "eligible": _labels(row["eligible"] for row in rows),
            "action": label_column([row["action"] for row in rows]),
            "propensity": _numbers(rows, "propensity"),
            "distribution": _shares(rows),
            "reward": _numbers(rows, "reward"),
            "reward_time": _numbers(rows, "reward_time"),
            "outcome": text_column([row["outcome"] for row in rows]),
            "expired": np.array([row["expired"] for row in rows], dtype=np.bool_),
            "late": np.array([row["late"] for row in rows], dtype=np.bool_),
            "shown": _optional_labels([row["shown"] for row in rows]),
            "overridden": np.array([row["overridden"] for row in rows], dtype=np.bool_),
            "shadow": np.array([row["shadow"] for row in rows], dtype=np.bool_),
            "phase": text_column([row["phase"] for row in rows]),
            "epoch": _whole(rows, "epoch"),
            "round": _whole(rows, "round"),
            "epoch_round": _whole(rows, "epoch_round"),
            "silent": _labels(row["silent"] or [] for row in rows),
            "model": text_column([row["model"] for row in rows]),
            "experiment": text_column([row["experiment"] for row in rows]),
            "seed": text_column([row["seed"] for row in rows]),
            "sequence": _whole(rows, "sequence"),
        }


def _check_features(rows: Iterable[Row], problem: Problem) -> None:
    names = set(problem.features.names)
    for row in rows:
        if set(row["context"]) != names:
            given = enumeration(sorted(row["context"]))
            raise ValueError(
                f"event {short_repr(row['event_id'])} has the features {given}, "
                f"and the problem {enumeration(sorted(names))}; give the problem of these decisions."
            )


def _logged_contexts(rows: list[Row], labels: list[Any], problem: Problem) -> Contexts:
    """Contexts as they were decided on, with the problem's numbers of actions."""
    names, own, n_actions = problem.features.names, problem.action_features.names, len(labels)
    shared = np.array([[row["context"][name] for name in names] for row in rows], dtype=np.float64)
    places = [
        [(place, labels.index(label)) for place, label in enumerate(row["eligible"]) if label in labels]
        for row in rows
    ]
    eligible = np.zeros((len(rows), n_actions), dtype=np.bool_)
    cube = np.zeros((len(rows), n_actions, len(own))) if own else None
    for number, (row, pairs) in enumerate(zip(rows, places, strict=True)):
        for place, action in pairs:
            eligible[number, action] = True
            if cube is not None:
                cube[number, action] = [row["action_features"][place][name] for name in own]
    shape = len(rows), len(names)
    return Contexts(shared.reshape(shape), cube, None if eligible.all() else eligible)


def _numbers(rows: Iterable[Row], name: str) -> Column:
    return np.array([np.nan if row[name] is None else row[name] for row in rows], dtype=np.float64)


def _whole(rows: Iterable[Row], name: str) -> Column:
    return np.array([-1 if row[name] is None else row[name] for row in rows], dtype=np.int64)


def _contexts(rows: tuple[Row, ...]) -> dict[str, Column]:
    names = dict.fromkeys(name for row in rows for name in row["context"])
    return {
        f"context.{name}": np.array([row["context"].get(name, np.nan) for row in rows], dtype=np.float64)
        for name in names
    }


def _action_features(rows: tuple[Row, ...]) -> dict[str, Column]:
    """The features of eligible actions as lists of structs, if actions have any."""
    cells = [row["action_features"] or [] for row in rows]
    flat = [cell for row in cells for cell in row]
    names = dict.fromkeys(name for cell in flat for name in cell)
    if not names:
        return {}
    fields = {name: np.array([cell.get(name, np.nan) for cell in flat], dtype=np.float64) for name in names}
    return {"action_features": Lists(fields, np.array([len(row) for row in cells], dtype=np.int64))}


def _labels(lists: Iterable[list[Any]]) -> Lists:
    rows = list(lists)
    flat = [label for row in rows for label in row]
    return Lists(label_column(flat), np.array([len(row) for row in rows], dtype=np.int64))


def _optional_labels(labels: list[Any]) -> Column:
    return text_column([None if label is None else str(label) for label in labels])


def _shares(rows: Iterable[Row]) -> Lists:
    shares = [row["distribution"] or [] for row in rows]
    flat = np.array([share for row in shares for share in row], dtype=np.float64)
    return Lists(flat, np.array([len(row) for row in shares], dtype=np.int64))

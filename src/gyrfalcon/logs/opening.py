"""Opening of logs, whatever their format: each becomes a table of decisions."""

from __future__ import annotations

import os

import numpy as np

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import UNKNOWN_ACTION, DecisionTable
from gyrfalcon.frames import text_column
from gyrfalcon.logs.reading import read_decision_log
from gyrfalcon.logs.rows import LoggedDecisions


def read_log(path: str | os.PathLike[str]) -> DecisionTable:
    """Read the decisions of a log as a table.

    Parameters
    ----------
    path
        The folder that was given as `Bandit(log=...)`.

    Returns
    -------
    DecisionTable
        The decisions in the order of their times.

    Raises
    ------
    ValueError, ImportError
        If there is no log, or it can't be read.
    """
    return table_of(read_decision_log(path), source=os.fspath(path))


def table_of(log: LoggedDecisions, source: str = "") -> DecisionTable:
    """The columns of logged decisions, with every label that was ever eligible as an action."""
    rows = log.rows
    labels = tuple(dict.fromkeys(label for row in rows for label in [*row["eligible"], row["action"]]))
    places = {label: place for place, label in enumerate(labels)}
    names = tuple(dict.fromkeys(name for row in rows for name in row["context"]))
    own = tuple(dict.fromkeys(name for row in rows for cell in row["action_features"] or [] for name in cell))
    n, n_actions = len(rows), len(labels)
    shared = np.array([[row["context"].get(name, np.nan) for name in names] for row in rows]).reshape(n, -1)
    eligible = np.zeros((n, n_actions), dtype=np.bool_)
    distribution = np.full((n, n_actions), np.nan)
    cube = np.zeros((n, n_actions, len(own))) if own else None
    for number, row in enumerate(rows):
        chosen = [places[label] for label in row["eligible"]]
        eligible[number, chosen] = True
        if row["distribution"] is not None:
            distribution[number] = 0.0
            distribution[number, chosen] = row["distribution"]
        if cube is not None:
            cells = [[cell.get(name, np.nan) for name in own] for cell in row["action_features"] or []]
            cube[number, chosen] = cells
    return DecisionTable(
        actions=labels,
        contexts=Contexts(shared.astype(np.float64), cube, None if eligible.all() else eligible),
        action=np.array([places.get(row["action"], UNKNOWN_ACTION) for row in rows], dtype=np.int64),
        reward=_numbers([row["reward"] for row in rows]),
        propensity=_numbers([row["propensity"] for row in rows]),
        distribution=None if np.isnan(distribution).all() else distribution,
        features=names,
        action_features=own,
        event_id=text_column([row["event_id"] for row in rows]),
        time=_numbers([row["time"] for row in rows]),
        reward_time=_numbers([row["reward_time"] for row in rows]),
        epoch=np.array([row["epoch"] for row in rows], dtype=np.int64),
        round=np.array([row["round"] for row in rows], dtype=np.int64),
        passive=np.array([row["phase"] == "passive" for row in rows], dtype=np.bool_),
        model=text_column([row["model"] for row in rows]),
        defaulted=np.array([row["expired"] for row in rows], dtype=np.bool_),
        late=np.array([row["late"] for row in rows], dtype=np.bool_),
        overridden=np.array([row["shown"] is not None for row in rows], dtype=np.bool_),
        source=source,
    )


def _numbers(values: list[float | None]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

"""Columns of a log by name: actions by label, features by schema, and rewards in the problem's units."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gyrfalcon.core.arrays import Bools
from gyrfalcon.frames import Column, Lists, label_column, phase_column

if TYPE_CHECKING:
    from gyrfalcon.core.inputs.problem import Problem
    from gyrfalcon.core.records import Log


def log_columns(log: Log) -> dict[str, Column]:
    """The columns of a log, in the order and by the names of a decision log.

    Features of contexts are columns of their own, "context.age"; features of actions are lists of structs,
    one for each label in "eligible".
    """
    problem = log.problem
    if problem is None:
        raise ValueError(
            "the log has no problem, and its actions no labels; give it the one it belongs to, with "
            "dataclasses.replace(log, problem=...)."
        )
    labels = label_column(problem.actions)
    shared = zip(problem.features.names, log.contexts.shared.T, strict=True)
    mask = log.contexts.eligible
    eligible = np.ones((len(log), problem.n_actions), dtype=np.bool_) if mask is None else mask
    return {
        **{f"context.{name}": values for name, values in shared},
        **_action_features(log, problem, eligible),
        "eligible": Lists(labels[np.nonzero(eligible)[1]], eligible.sum(axis=1)),
        "action": labels[log.action],
        "propensity": log.propensity,
        "reward": problem.rewards.from_unit(log.reward),
        "phase": phase_column(log.passive),
        "epoch": log.epoch,
        "round": log.round,
    }


def _action_features(log: Log, problem: Problem, eligible: Bools) -> dict[str, Column]:
    """The features of eligible actions; those of others are placeholders."""
    features = log.contexts.actions
    if features is None:
        return {}
    given = features[eligible]
    structs = dict(zip(problem.action_features.names, given.T, strict=True))
    return {"action_features": Lists(structs, eligible.sum(axis=1))}

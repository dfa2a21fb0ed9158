"""Rewards predicted for evaluated rows, each from earlier rows alone, also where those are few."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.records import POLICY, Log
from gyrfalcon.evaluation.predictions.by_time import predictions_by_time
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.protocol import ModelClass

DEFAULT_MODEL_CLASS = Linear(ridge=1.0)
"""Ridge regression on standardised features, with an intercept for each action."""
_MOST_BLOCKS = 10
_LEAST_ROWS_OF_BLOCK = 10


def past_predictions(
    table: DecisionTable,
    model_class: ModelClass | None = None,
    *,
    n_blocks: int | None = None,
    first: float = 0.0,
) -> Floats:
    """Predicted rewards of all actions, (n, K), none of which depends on its own or a later row's reward.

    Blocks of rows are predicted by a model of all earlier blocks. Rows of the first block get the mean reward
    of the rows before them, whatever the action.

    Parameters
    ----------
    table
        Rows in the order of time, with finite rewards and known actions.
    model_class
        Class of reward models; None is ridge regression on standardised features.
    n_blocks
        Number of blocks; None is 10, or fewer where they would have less than 10 rows.
    first
        Prediction for the first row, before which there are none: a number that was chosen without looking at
        the rewards. It is best left out of estimates.
    """
    n = len(table)
    if n_blocks is None:
        n_blocks = min(_MOST_BLOCKS, n // _LEAST_ROWS_OF_BLOCK)
    means = np.empty(n)
    means[:1] = first
    means[1:] = np.cumsum(table.reward)[:-1] / np.arange(1, n)
    if n_blocks < 2:
        return np.repeat(means[:, np.newaxis], table.n_actions, axis=1)
    log = _log_in_order(table, n // n_blocks)
    predictions = predictions_by_time(
        log, model_class or DEFAULT_MODEL_CLASS, n_blocks=n_blocks, n_actions=table.n_actions
    )
    n_first = int(np.linspace(0, n, n_blocks + 1).astype(int)[1])
    predictions[:n_first] = means[:n_first, np.newaxis]
    return predictions


def _log_in_order(table: DecisionTable, n_first: int) -> Log:
    """The rows as a log of consecutive rounds, with missing features at their early means."""
    contexts, n = table.contexts, len(table)
    cube = None if contexts.actions is None else _filled(contexts.actions, n_first)
    zeros = np.zeros(n, dtype=np.int64)
    return Log(
        Contexts(_filled(contexts.shared, n_first), cube, contexts.eligible),
        table.action,
        table.reward,
        table.propensity,
        zeros,
        np.arange(n),
        np.full(n, POLICY, dtype=np.int64),
    )


def _filled(values: Floats, n_first: int) -> Floats:
    """Features without nan: a missing one gets the mean of its column in the first rows, or 0."""
    missing = ~np.isfinite(values)
    if not missing.any():
        return values
    early = np.where(missing, 0.0, values)[: max(n_first, 1)].reshape(-1, values.shape[-1])
    counts = (~missing)[: max(n_first, 1)].reshape(-1, values.shape[-1]).sum(axis=0)
    return np.where(missing, early.sum(axis=0) / np.maximum(counts, 1), values)

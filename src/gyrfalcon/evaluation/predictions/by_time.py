"""Rewards predicted for doubly robust estimates, from earlier rows of the log alone."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.core.records import Log
from gyrfalcon.core.validation import check_whole, is_number
from gyrfalcon.estimates.validation import check_rewards
from gyrfalcon.oracles.protocol import ModelClass


def predictions_by_time(
    log: Log,
    model_class: ModelClass,
    *,
    n_blocks: int = 10,
    n_actions: int | None = None,
    first: float = 0.0,
) -> Floats:
    """Predicted rewards of all actions, (n, K): each block of rows by a model of all earlier blocks.

    A learner's propensities depend on earlier rewards, so that a model which has seen later rows may bias
    doubly robust estimates; folds drawn at random would let it see them.

    Parameters
    ----------
    log
        Rows in the order of their rounds; their propensities may be unknown.
    model_class
        Class of reward models, such as `Linear(ridge=1.0)`.
    n_blocks
        Number of blocks of about equal size, at least 2 and at most the number of rows.
    n_actions
        Number of actions K; None means that of the log's problem.
    first
        What is predicted for the first block, before which there are no rows. At 0 doubly robust estimates
        weight its rewards as `inverse_propensity` does. Choose it without looking at these rewards.

    Returns
    -------
    Floats
        Predictions in the units of `log.reward`, (n, K). The direct method is best computed without the
        first block.
    """
    n_actions = _n_actions(log, n_actions)
    check_whole("n_blocks", n_blocks, 2, len(log) + 1)
    if not (is_number(first) and math.isfinite(first)):
        raise ValueError(f"first is {short_repr(first)}; give a finite number, such as 0.0.")
    check_rewards(log.reward)
    ends = np.linspace(0, len(log), n_blocks + 1).astype(int)
    blocks = [log.take(slice(start, stop)) for start, stop in pairwise(ends)]
    oracle = model_class.oracle(blocks[0].contexts, n_actions)
    seen, predictions = oracle.empty(), [np.full((len(blocks[0]), n_actions), float(first))]
    for earlier, block in pairwise(blocks):
        seen = seen + oracle.summarise(earlier)
        model, _ = oracle.fit(seen, oracle.empty())
        predictions.append(model.scores(block.contexts))
    return np.concatenate(predictions)


def _n_actions(log: Log, given: int | None) -> int:
    """The number of actions, once the log is known to be in order and to have no others."""
    if given is None:
        if log.problem is None:
            raise ValueError("the log has no problem that says how many actions there are; give n_actions.")
        given = log.problem.n_actions
    check_whole("n_actions", given, int(log.action.max(initial=0)) + 1)
    backwards = np.flatnonzero(np.diff(log.round) < 0)
    if len(backwards):
        row = int(backwards[0]) + 1
        raise ValueError(
            f"row {row}: round {log.round[row]} comes after round {log.round[row - 1]}; sort the log by "
            "round, with log.take(np.argsort(log.round, kind='stable')), as earlier rows predict later ones."
        )
    return given

"""Validation of action probabilities, for policies that a user wrote."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.messages import short_repr

MOST_OFF = 1e-9
"""Largest difference between 1 and a sum of probabilities."""


def check_probabilities(
    probabilities: object,
    contexts: Contexts,
    actions: Sequence[object],
    *,
    learner: str,
    rounds: Sequence[int] | Ints,
) -> None:
    """Refuse action probabilities by which no action can be drawn.

    Parameters
    ----------
    probabilities
        What the policy gave: (n, K) finite floats of at least 0, whose rows sum to 1 up to 1e-9, with exactly
        0 for ineligible actions.
    contexts
        The n contexts that they are for.
    actions
        Names of the K actions.
    learner
        Name of the learner that the policy comes from.
    rounds
        Rounds of the n contexts.

    Raises
    ------
    ValueError
        With the learner, the round and the value.

    Examples
    --------
    >>> one = Contexts(np.zeros((1, 0)))
    >>> check_probabilities(np.array([[0.4, 0.6]]), one, ["a", "b"], learner="Own", rounds=[7])
    >>> check_probabilities(np.array([[0.4, 0.5]]), one, ["a", "b"], learner="Own", rounds=[7])
    Traceback (most recent call last):
        ...
    ValueError: the policy of Own gives probabilities that sum to 0.9 in round 7; give rows that sum to 1.
    """
    shape = len(contexts), len(actions)
    if not isinstance(probabilities, np.ndarray) or probabilities.dtype.kind != "f":
        given = f"an array of {probabilities.dtype}" if isinstance(probabilities, np.ndarray) else None
        raise ValueError(
            f"{_who(learner)} {given or short_repr(probabilities)} in round {rounds[0]}; "
            "give a NumPy array of floats."
        )
    if probabilities.shape != shape:
        raise ValueError(
            f"{_who(learner)} an array of shape {probabilities.shape} in round {rounds[0]}; "
            f"give {shape}, a row for each context and a column for each action."
        )
    if not probabilities.min(initial=0.0) >= 0.0:  # which nan is not
        row, action = np.argwhere(~(probabilities >= 0.0))[0].tolist()
        _refuse(probabilities, row, action, actions, learner, rounds, "give numbers from 0 to 1.")
    sums = probabilities.sum(axis=1)
    off = np.abs(sums - 1.0)
    if off.max(initial=0.0) > MOST_OFF:
        row = int(off.argmax())
        raise ValueError(
            f"{_who(learner)} probabilities that sum to {float(sums[row]):.12g} in round {rounds[row]}; "
            "give rows that sum to 1."
        )
    if contexts.eligible is not None and probabilities[~contexts.eligible].any():
        row, action = np.argwhere((probabilities > 0.0) & ~contexts.eligible)[0].tolist()
        remedy = "the action is not eligible there: give it exactly 0."
        _refuse(probabilities, row, action, actions, learner, rounds, remedy)


def _who(learner: str) -> str:
    return f"the policy of {learner} gives"


def _refuse(
    probabilities: Floats,
    row: int,
    action: int,
    actions: Sequence[object],
    learner: str,
    rounds: Sequence[int] | Ints,
    remedy: str,
) -> None:
    raise ValueError(
        f"{_who(learner)} action {short_repr(actions[action])} the probability "
        f"{float(probabilities[row, action])} in round {rounds[row]}; {remedy}"
    )

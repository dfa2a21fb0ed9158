"""Logs of users: columns of labels, rewards and propensities, checked and converted to a problem's units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.arguments import (
    check_contexts,
    numbers_of,
    of_length,
    whole_numbers,
    with_location,
)
from gyrfalcon.core.inputs.columns import Boolean, cell
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.core.inputs.tables import by_row, values_of
from gyrfalcon.core.records import PASSIVE, POLICY, Log

if TYPE_CHECKING:
    from gyrfalcon.core.inputs.problem import Problem

_Word = Literal["uniform", "unknown"]
Propensities: TypeAlias = _Word | Any
"""A column of probabilities, "uniform" or "unknown"."""
_REMEDY = "give the probability of each chosen action, 'uniform' for uniform play, or 'unknown'."


def log_of(
    problem: Problem,
    contexts: Contexts,
    actions: object,
    rewards: object,
    propensities: Propensities,
    epoch: int,
    rounds: object,
    passive: object,
) -> Log:
    """The log of these columns: see `Problem.log`."""
    check_contexts(contexts, problem.n_actions, problem.features.width, problem.action_features.width)
    n = len(contexts)
    action = of_length(n, "actions", problem.indices_of(actions))
    reward = of_length(n, "rewards", problem.rewards.to_unit(values_of(rewards)))
    _check_eligible(problem, contexts, action)
    propensity = _propensities(contexts, problem.n_actions, propensities)
    is_uniform = isinstance(propensities, str) and propensities == "uniform"
    component = _components(n, is_uniform, passive)
    if component.any() and np.isnan(propensity).any():
        row = int(component.argmax())
        raise ValueError(
            f"row {row} is passive, and propensities are 'unknown'; passive play is uniform, "
            "so give 'uniform', the propensities, or passive=None."
        )
    return Log(
        contexts,
        action,
        reward,
        propensity,
        np.repeat(whole_numbers("epoch", [epoch]), n),
        np.arange(n) if rounds is None else of_length(n, "rounds", whole_numbers("rounds", rounds)),
        component,
        problem=problem,
    )


def _check_eligible(problem: Problem, contexts: Contexts, action: Ints) -> None:
    if contexts.eligible is None:
        return
    barred = np.flatnonzero(~contexts.eligible[np.arange(len(action)), action])
    if len(barred):
        label = short_repr(problem.actions[action[barred[0]]])
        raise ValueError(f"row {barred[0]}: action {label} is not eligible there; correct either column.")


def _propensities(contexts: Contexts, n_actions: int, values: Propensities) -> Floats:
    """The propensity of each row, nan where it is unknown."""
    n, mask = len(contexts), contexts.eligible
    if values is None or (isinstance(values, str) and values not in get_args(_Word)):
        raise ValueError(f"propensities are {short_repr(values)}; {_REMEDY}")
    if isinstance(values, str):
        if values == "unknown":
            return np.full(n, np.nan)
        n_eligible = np.full(n, n_actions) if mask is None else mask.sum(axis=1)
        return 1.0 / n_eligible
    propensity = numbers_of("propensities", values)
    wrong = np.flatnonzero(~((propensity > 0.0) & (propensity <= 1.0)))
    if len(wrong):
        raise ValueError(
            f"row {wrong[0]}: the propensity {propensity[wrong[0]]} is not in (0, 1]; give the "
            "probability with which the action was chosen, or put rows without one into a log of their own, "
            "with propensities='unknown'."
        )
    return of_length(n, "propensities", propensity)


def _components(n: int, is_uniform: bool, passive: object) -> Ints:
    """Which component acted in each of n rows: by a column of booleans, or alike in all."""
    if passive is None:
        return np.full(n, PASSIVE if is_uniform else POLICY)
    column = with_location("passive", values_of, passive)
    flags = by_row(lambda value: cell(Boolean(), value)[1], column, " of passive")
    return of_length(n, "passive", np.where(np.array(flags, dtype=np.float64) == 1.0, PASSIVE, POLICY))

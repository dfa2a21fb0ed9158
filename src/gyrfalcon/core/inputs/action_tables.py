"""Parsing of user inputs for each action: features of actions, and which actions are eligible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.arguments import is_bool, with_location
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.core.inputs.tables import by_row, is_collection, values_of

if TYPE_CHECKING:
    from gyrfalcon.core.inputs.problem import Problem


def mask_of(problem: Problem, eligible: object) -> Bools:
    """Which actions may be chosen, (n, K), from a boolean array or collections of labels."""
    if isinstance(eligible, np.ndarray) and eligible.dtype != object:
        if eligible.dtype != np.bool_ or eligible.shape[1:] != (problem.n_actions,):
            kind = f"{eligible.dtype} array of shape {eligible.shape}"
            raise ValueError(f"eligible is a {kind}; give a boolean one of shape (n, {problem.n_actions}).")
        return np.array(eligible, order="C")
    mask = by_row(
        partial(mask_of_row, problem), with_location("eligible", values_of, eligible), " of eligible"
    )
    return np.array(mask, dtype=np.bool_).reshape(len(mask), problem.n_actions)


def mask_of_row(problem: Problem, labels: Any) -> Bools:
    """Which actions may be chosen in one context, (K,)."""
    if isinstance(labels, np.ndarray) and labels.dtype == np.bool_ and labels.shape == (problem.n_actions,):
        return labels.copy()
    if not is_collection(labels):
        raise ValueError(f"{short_repr(labels)} is not a collection of labels; give one such as ['a', 'b'].")
    mask = np.zeros(problem.n_actions, dtype=np.bool_)
    for label in labels:
        index = problem.index_of(label)
        # With the labels 0 and 1, a list of booleans would silently pass as a list of labels.
        if is_bool(label) > is_bool(problem.actions[index]):
            raise ValueError(f"{label} is not a label here; give labels, or a NumPy array of booleans.")
        mask[index] = True
    return mask


def cube_of(problem: Problem, actions: object) -> tuple[Floats, Bools, bool]:
    """Features of actions, (n, K, q), where they were given, (n, K), and whether all contexts share them."""
    if isinstance(actions, Mapping):
        return *_cube_of_rows(problem, [actions]), True
    if isinstance(actions, list | tuple) and all(isinstance(row, Mapping) for row in actions):
        return *_cube_of_rows(problem, actions), False
    if hasattr(actions, "columns") or hasattr(actions, "column_names"):
        raise ValueError(
            f"actions are a {type(actions).__name__}, whose rows have no labels here; "
            "give a mapping of labels to rows of features, or an array in the order of the actions."
        )
    # Objects keep text and numbers apart; rows of unequal lengths then show in the shape.
    array: Any = np.array(actions, dtype=object) if isinstance(actions, list | tuple) else actions
    array = array if isinstance(array, np.ndarray) else np.asarray(array)
    is_same = array.ndim == 2
    array = array[None] if is_same else array
    if array.ndim != 3 or array.shape[1:] != (problem.n_actions, len(problem.action_features.columns)):
        expected = f"(n, {problem.n_actions}, {len(problem.action_features.columns)})"
        raise ValueError(f"actions have shape {array.shape}; give {expected}, or mappings by label.")
    try:
        flat = problem.action_features.encode(array.reshape(-1, array.shape[2]))
    except ValueError:
        # Row by row of the flat table says little: the same refusal, action by action.
        for index, label in enumerate(problem.actions):
            with_location(f"action {short_repr(label)}", problem.action_features.encode, array[:, index])
        raise
    shape = (len(array), problem.n_actions)
    return flat.reshape(*shape, problem.action_features.width), np.ones(shape, dtype=np.bool_), is_same


def _cube_of_rows(problem: Problem, rows: Sequence[Mapping[object, object]]) -> tuple[Floats, Bools]:
    cube = np.zeros((len(rows), problem.n_actions, problem.action_features.width))
    given = np.zeros((len(rows), problem.n_actions), dtype=np.bool_)
    for row, features in enumerate(rows):
        for label, values in features.items():
            index = problem.index_of(label)
            place = f"row {row} of actions, action {short_repr(label)}"
            cube[row, index] = with_location(place, problem.action_features.encode_one, values)[0]
            given[row, index] = True
    return cube, given


def assembled(
    problem: Problem,
    n: int,
    table: Floats | None,
    cube: Floats | None,
    given: Bools | None,
    mask: Bools | None,
) -> Contexts:
    """Contexts of these parts, each with an eligible action, and with features of eligible actions."""
    if mask is not None and not mask.any(axis=1).all():
        row = int(np.argmin(mask.any(axis=1)))
        raise ValueError(f"row {row} has no eligible action; leave the row out, or allow an action.")
    if cube is not None and given is not None:
        lacking = ~given if mask is None else mask & ~given
        if lacking.any():
            row, index = np.argwhere(lacking)[0]
            label = short_repr(problem.actions[index])
            raise ValueError(f"row {row}: action {label} has no features; give them, or bar the action.")
        cube = cube if len(cube) == n else np.repeat(cube, n, axis=0)
    return Contexts(np.zeros((n, 0)) if table is None else table, cube, mask)

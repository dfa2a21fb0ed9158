"""Validation of user arguments: the value, or an error that says what is wrong and where."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.core.inputs.tables import floats_of, is_collection, is_missing, values_of

T = TypeVar("T")
A = TypeVar("A", Floats, Ints)
MOST_ACTIONS = 2**20


def checked_labels(actions: Any) -> tuple[Hashable, ...]:
    """The labels of actions: hashable, all different, at least two."""
    if not is_collection(actions) or isinstance(actions, set | frozenset):
        raise ValueError(f"actions are {short_repr(actions)}; give a list of labels, such as ['a', 'b'].")
    labels = tuple(islice(actions, MOST_ACTIONS + 1))
    if len(labels) > MOST_ACTIONS:
        raise ValueError(f"there are more than {MOST_ACTIONS} actions; give fewer, with features of actions.")
    first: dict[object, object] = {}
    for label in labels:
        if label is not None and is_missing(label):
            raise ValueError(f"the label {short_repr(label)} does not equal itself; give text or a number.")
        try:
            is_new = label not in first
        except TypeError:
            raise ValueError(
                f"the label {short_repr(label)} is not hashable; give text or a number."
            ) from None
        if not is_new:
            twins = f"{short_repr(first[label])} and {short_repr(label)}"
            raise ValueError(f"the actions {twins} compare equal; give each a label of its own.")
        first[label] = label
    if len(labels) < 2:
        raise ValueError(f"there are {len(labels)} actions; a choice needs at least 2.")
    return labels


def is_bool(label: object) -> bool:
    """Whether a label is a boolean, not just equal to one."""
    return isinstance(label, bool | np.bool_)


def ends(reward_range: object) -> tuple[float | None, float | None]:
    """The two ends of a reward range, both None where it is unknown."""
    if reward_range is None:
        return None, None
    if not isinstance(reward_range, list | tuple) or len(reward_range) != 2:
        raise ValueError(
            f"reward_range is {short_repr(reward_range)}; give its ends, such as (0.0, 1.0), or None."
        )
    low, high = reward_range
    return low, high


def agreed_length(n: object, parts: Mapping[str, Floats | Bools | None]) -> int:
    """The number of contexts that all parts agree on."""
    lengths = {name: len(part) for name, part in parts.items() if part is not None}
    if n is not None:
        if not isinstance(n, int | np.integer) or n < 0:
            raise ValueError(f"n is {short_repr(n)}; give the number of contexts.")
        lengths["n"] = int(n)
    if not lengths:
        raise ValueError("how many contexts there are is not said; give n, or `eligible`.")
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise ValueError(f"the numbers of contexts differ ({counts}); give equally many.")
    return next(iter(lengths.values()))


def of_length(n: int, name: str, column: A) -> A:
    """The column if it has a value for each context."""
    if column.shape != (n,):
        raise ValueError(f"there are {len(column)} {name} and {n} contexts; give equally many.")
    return column


def numbers_of(name: str, values: object) -> Floats:
    """A column of floats; missing ones stay NaN for the caller to refuse."""
    column = with_location(name, values_of, values)
    try:
        return floats_of(column)
    except ValueError as error:
        raise ValueError(f"{name}: {error}; give finite numbers.") from None


def whole_numbers(name: str, values: object) -> Ints:
    """A column of whole numbers of at least 0."""
    numbers = numbers_of(name, values)
    fine = (numbers == np.floor(numbers)) & (numbers >= 0.0) & (numbers <= 2.0**53)
    if not fine.all():
        row = int(np.argmin(fine))
        raise ValueError(f"row {row}: {name} has {numbers[row]:g}; give whole numbers from 0 to 2**53.")
    return numbers.astype(np.int64)


def check_contexts(contexts: object, n_actions: int, width: int, action_width: int) -> None:
    """Refuse contexts that were made for another problem."""
    remedy = "make them with this problem's `contexts`."
    if type(contexts) is not Contexts:
        raise ValueError(f"contexts are {short_repr(contexts)}; {remedy}")
    actual = (contexts.shared.shape[1], 0 if contexts.actions is None else contexts.actions.shape[2])
    if actual != (width, action_width):
        raise ValueError(
            f"the contexts have {actual[0]} shared and {actual[1]} action features, and the problem has "
            f"{width} and {action_width}; {remedy}"
        )
    for part in (contexts.actions, contexts.eligible):
        if part is not None and part.shape[1] != n_actions:
            raise ValueError(
                f"the contexts have {part.shape[1]} actions and the problem {n_actions}; {remedy}"
            )


def with_location(location: str, convert: Callable[..., T], *values: object) -> T:
    """The converted value; an error message starts with the location of the value."""
    try:
        return convert(*values)
    except ValueError as error:
        raise ValueError(f"{location}: {error}") from None

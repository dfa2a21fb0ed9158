"""What wrappers of environments share: input validation, nesting depth, and rows from several environments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Ints
from gyrfalcon.environments.protocol import Drawable, PotentialOutcomes
from gyrfalcon.environments.validation import problem_of

_PARTS = ("actions", "features", "action_features", "reward_range", "out_of_range", "cost")


def check_environment(name: str, environment: object) -> None:
    """Refuse objects without `draw`, and classes in place of their instances."""
    if isinstance(environment, type) or not callable(getattr(environment, "draw", None)):
        raise ValueError(f"{name} is {environment!r}; give an environment such as LinearEnvironment().")  # noqa: TRY004 - as all settings


def check_same_problem(environments: Sequence[Drawable]) -> None:
    """Refuse environments that pose different problems."""
    first, *others = map(problem_of, environments)
    for number, other in enumerate(others, start=1):
        for part in _PARTS:
            one, two = getattr(first, part), getattr(other, part)
            if one != two:
                raise ValueError(
                    f"{part} is {_short(one)} in the first environment and {_short(two)} in environment {number + 1}; "
                    "give environments that pose the same problem."
                )


def layers(environment: object, kind: type) -> int:
    """Number of nested wrappers of a kind in an environment.

    Each layer has a random stream of its own: two that shared one would not be independent.
    """
    inner = max((layers(part, kind) for part in _inside(environment)), default=0)
    return inner + isinstance(environment, kind)


def rows_from(environments: Sequence[Drawable], which: Ints, start: int, seed: int) -> PotentialOutcomes:
    """Rounds from `start` on, round i from environments[which[i]]; an environment is drawn only where it is needed."""
    present = np.unique(which).tolist() if len(which) else [0]
    places = [np.flatnonzero(which == number) for number in present]
    parts = [
        _some_rounds(environments[number], rows, start, seed)
        for number, rows in zip(present, places, strict=True)
    ]
    if len(parts) == 1:
        return parts[0]
    # Where each round went when the rows were sorted by their environment.
    back = np.argsort(np.concatenate(places), kind="stable")
    return PotentialOutcomes.concat(parts, [start + rows for rows in places]).take(back)


def _some_rounds(environment: Drawable, rows: Ints, start: int, seed: int) -> PotentialOutcomes:
    """The rounds start + rows of an environment, drawn as one stretch."""
    if not len(rows):
        return environment.draw(start, start, seed)
    first, last = int(rows[0]), int(rows[-1]) + 1
    drawn = environment.draw(start + first, start + last, seed)
    if len(rows) == last - first:
        return drawn
    return drawn.take(rows - first)


def _inside(environment: object) -> Iterator[Any]:
    """The environments that an environment holds."""
    if is_dataclass(environment):
        held = [getattr(environment, field.name) for field in fields(environment)]
    else:
        held = list(getattr(environment, "__dict__", {}).values())
    for value in held:
        for part in value if isinstance(value, tuple | list) else (value,):
            if hasattr(part, "draw"):
                yield part


def _short(part: object) -> str:
    """A part of a problem as a refusal shows it."""
    text = repr(part)
    return text if len(text) <= 80 else f"{text[:77]}..."

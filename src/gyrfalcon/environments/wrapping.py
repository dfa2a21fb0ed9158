"""What wrappers of worlds share: refusals, how many lie one upon the other, and rows from several worlds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from gyrfalcon.core.types import Ints
from gyrfalcon.environments.edge import problem_of
from gyrfalcon.environments.environment import Drawable, World

_PARTS = ("actions", "features", "action_features", "reward_range", "outside", "cost")


def check_world(name: str, world: object) -> None:
    """Refuse what can't be drawn from; a class is not yet a world."""
    if isinstance(world, type) or not callable(getattr(world, "draw", None)):
        raise ValueError(f"{name} is {world!r}; give an environment such as LinearWorld().")  # noqa: TRY004 - as all settings


def check_same_problem(worlds: Sequence[Drawable]) -> None:
    """Refuse worlds between which a learner could not go on."""
    first, *others = map(problem_of, worlds)
    for number, other in enumerate(others, start=1):
        for part in _PARTS:
            one, two = getattr(first, part), getattr(other, part)
            if one != two:
                raise ValueError(
                    f"{part} is {_short(one)} in the first world and {_short(two)} in world {number + 1}; "
                    "give worlds that pose the same problem."
                )


def layers(world: object, kind: type) -> int:
    """How many wrappers of a kind lie one upon the other in a world.

    Each layer has a random stream of its own: two that shared one would not be independent.
    """
    inner = max((layers(part, kind) for part in _inside(world)), default=0)
    return inner + isinstance(world, kind)


def rows_from(worlds: Sequence[Drawable], which: Ints, start: int, seed: int) -> World:
    """Rounds from `start` on, round i from worlds[which[i]]; a world is asked only where it is needed."""
    present = np.unique(which).tolist() if len(which) else [0]
    places = [np.flatnonzero(which == number) for number in present]
    parts = [
        _some_rounds(worlds[number], rows, start, seed) for number, rows in zip(present, places, strict=True)
    ]
    if len(parts) == 1:
        return parts[0]
    # Where each round went when the rows were sorted by their world.
    back = np.argsort(np.concatenate(places), kind="stable")
    return World.concat(parts, [start + rows for rows in places]).take(back)


def _some_rounds(world: Drawable, rows: Ints, start: int, seed: int) -> World:
    """The rounds start + rows of a world, drawn as one stretch."""
    if not len(rows):
        return world.draw(start, start, seed)
    first, last = int(rows[0]), int(rows[-1]) + 1
    drawn = world.draw(start + first, start + last, seed)
    if len(rows) == last - first:
        return drawn
    return drawn.take(rows - first)


def _inside(world: object) -> Iterator[Any]:
    """The worlds that a world holds."""
    if is_dataclass(world):
        held = [getattr(world, field.name) for field in fields(world)]
    else:
        held = list(getattr(world, "__dict__", {}).values())
    for value in held:
        for part in value if isinstance(value, tuple | list) else (value,):
            if hasattr(part, "draw"):
                yield part


def _short(part: object) -> str:
    """A part of a problem as a refusal shows it."""
    text = repr(part)
    return text if len(text) <= 80 else f"{text[:77]}..."

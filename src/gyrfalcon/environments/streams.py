"""Random streams of environments, drawn block by block: rounds are the same however they are divided."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gyrfalcon.core.arrays import Ints
from gyrfalcon.environments.protocol import BLOCK, Drawable, PotentialOutcomes

Column = TypeVar("Column", bound=NDArray[Any])

MASKS = 1
DELAYS = 2
DRIFT = 3
FLIPS = 4
LOG_ROWS = 5
"""Purposes of random streams; those of one seed differ by purpose."""


def rows_of(draw_block: Callable[[int], Column], start: int, stop: int, size: int = BLOCK) -> Column:
    """Rows start..stop-1 of a column that is drawn in complete blocks of `size` rows.

    >>> rows_of(lambda block: 10 * block + np.arange(4), 2, 9, size=4).tolist()
    [2, 3, 10, 11, 12, 13, 20]
    """
    first, last = start // size, max(-(-stop // size), start // size + 1)
    parts = [
        draw_block(block)[max(start - block * size, 0) : max(stop - block * size, 0)]
        for block in range(first, last)
    ]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)  # type: ignore[return-value]


def stream(seed: int, block: int, purpose: int, layer: int = 0) -> np.random.Generator:
    """The random stream of one block for one purpose; layers number nested wrappers of a kind."""
    return np.random.default_rng([seed, 0, block, purpose, layer])


def layers(environment: object, kind: type) -> int:
    """Number of nested wrappers of a kind in an environment.

    Each layer has a random stream of its own: two that shared one would not be independent.
    """
    inner = max((layers(part, kind) for part in held_environments(environment)), default=0)
    return inner + isinstance(environment, kind)


def rows_from(environments: Sequence[Drawable], which: Ints, start: int, seed: int) -> PotentialOutcomes:
    """Rounds from `start` on, round i from environments[which[i]], each drawn only where it is needed."""
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


def held_environments(environment: object) -> Iterator[Any]:
    """The environments that an environment holds."""
    if is_dataclass(environment):
        held = [getattr(environment, field.name) for field in fields(environment)]
    else:
        held = list(getattr(environment, "__dict__", {}).values())
    for value in held:
        for part in value if isinstance(value, tuple | list) else (value,):
            if hasattr(part, "draw"):
                yield part

"""Random access to rounds: an environment gives the same rows however rounds are cut."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.validation import is_own
from gyrfalcon.environments.protocol import Drawable, PotentialOutcomes
from gyrfalcon.environments.streams import held_environments
from gyrfalcon.environments.validation import drawn_outcomes

_MOST_ROWS = 32
"""Rows that are drawn twice: enough to tell two random streams apart, and few to draw."""


def check_random_access(environment: Drawable, first: PotentialOutcomes, seed: int) -> None:
    """Refuse an environment that gives other rows when rounds are cut elsewhere, such as one without `start`.

    Some rows from the middle of the first rounds are drawn once more. Environments of the package are trusted
    and not drawn again.

    Parameters
    ----------
    environment : Environment
        The environment.
    first : PotentialOutcomes
        What it gave for the first rounds, `draw(0, len(first), seed)`.
    seed : int
        Seed of the replication.
    """
    start = len(first) // 2
    stop = min(start + _MOST_ROWS, len(first))
    if start == 0 or not has_own_part(environment):
        return
    again = drawn_outcomes(environment, start, stop, seed)
    there, here = _columns(first, start, stop), _columns(again, 0, stop - start)
    for name, column in there.items():
        other = here.get(name, column)
        same = _same_rows(column, other)
        if not same.all():
            begin = _columns(first, 0, stop - start).get(name, column)
            why = "; these are the rows of round 0 on" if _same_rows(other, begin).all() else ""
            row = int(same.argmin())
            raise ValueError(
                f"draw({start}, {stop}, {seed}) of {type(environment).__name__} gives other {name} for round "
                f"{start + row} than draw(0, {len(first)}, {seed}){why}. Rounds must have the same rows "
                "however they are cut: make them by gyrfalcon.environments.drawn and block_generator, or "
                "from a random stream of (seed, round)."
            )


def has_own_part(environment: object) -> bool:
    """Whether an environment, or one that it holds, is an instance of a class outside the package."""
    return is_own(environment) or any(map(has_own_part, held_environments(environment)))


def _columns(outcomes: PotentialOutcomes, start: int, stop: int) -> dict[str, Floats]:
    """Rows of all columns that outcomes have, as floats; those that they may leave out are left out."""
    rows, contexts = slice(start, stop), outcomes.contexts
    columns = {
        "contexts": contexts.shared,
        "features of actions": contexts.actions,
        "eligible actions": contexts.eligible,
        "means": outcomes.means,
        "rewards": outcomes.rewards,
    }
    return {name: np.asarray(one[rows], dtype=np.float64) for name, one in columns.items() if one is not None}


def _same_rows(one: Floats, other: Floats) -> Bools:
    """Which rows agree up to the rounding of matrix products, which differs with the number of rows, (n,)."""
    same = np.isclose(one, other, rtol=1e-9, atol=1e-12, equal_nan=True)
    return np.asarray(same.reshape(len(one), -1).all(axis=1))

"""Input validation of environments: draws become arrays of known shapes, or an error says what is wrong."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.environments.protocol import Drawable, PotentialOutcomes

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
                    f"{part} is {_short(one)} in the first environment and {_short(two)} in "
                    f"environment {number + 1}; "
                    "give environments that pose the same problem."
                )


def problem_of(environment: Drawable) -> Problem:
    """The problem that an environment poses; by default with actions 1 to K and rewards of any size.

    >>> from gyrfalcon.environments.paper import StepExample
    >>> problem_of(StepExample()).actions
    (1, 2)
    """
    problem = getattr(environment, "problem", None)
    if isinstance(problem, Problem):
        return problem
    if problem is not None:
        raise TypeError(
            f"the environment's problem is {problem!r}; give a gyrfalcon.Problem, or none at all."
        )
    outcomes = drawn_outcomes(environment, 0, 1, 0)
    n_features, cube = outcomes.contexts.shared.shape[1], outcomes.contexts.actions
    return Problem(
        range(1, outcomes.means.shape[1] + 1),
        n_features or None,
        None if cube is None else cube.shape[2],
        out_of_range="accept",
    )


def drawn_outcomes(environment: Drawable, start: int, stop: int, seed: int) -> PotentialOutcomes:
    """Rounds start..stop-1 as arrays of the right shapes, or a ValueError that says what is wrong."""
    outcomes: object = environment.draw(start, stop, seed)
    if not isinstance(outcomes, PotentialOutcomes) or not isinstance(outcomes.contexts, Contexts):
        raise ValueError(  # noqa: TRY004 - as all settings
            f"draw({start}, {stop}) gave {type(outcomes).__name__}; "
            "give PotentialOutcomes(Contexts(...), means, rewards)."
        )
    n, n_actions = stop - start, _width(outcomes.means)
    contexts = outcomes.contexts
    return PotentialOutcomes(
        Contexts(
            _shaped("contexts.shared", contexts.shared, (n, _width(contexts.shared))),
            contexts.actions if contexts.actions is None else _cube(contexts.actions, n, n_actions),
            contexts.eligible if contexts.eligible is None else _mask(contexts.eligible, n, n_actions),
        ),
        _shaped("means", outcomes.means, (n, n_actions)),
        _shaped("rewards", outcomes.rewards, (n, n_actions)),
        _rounds("reward_round", outcomes.reward_round, start, n_actions, n),
        _rounds("final_round", outcomes.final_round, start, n_actions, n),
    )


def _width(values: ArrayLike) -> int:
    return int(np.shape(values)[1]) if np.ndim(values) == 2 else -1


def _shaped(name: str, values: ArrayLike, shape: tuple[int, ...]) -> Floats:
    """The values as C-contiguous floats of a shape."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.shape != shape:
        wanted = ", ".join("any" if size < 0 else str(size) for size in shape)
        raise ValueError(
            f"an environment has {name} of shape {array.shape}; give ({wanted}), a row for each round."
        )
    return array


def _cube(values: ArrayLike, n: int, n_actions: int) -> Floats:
    width = int(np.shape(values)[2]) if np.ndim(values) == 3 else -1
    return _shaped("contexts.actions", values, (n, n_actions, width))


def _mask(values: ArrayLike, n: int, n_actions: int) -> Bools:
    mask = np.ascontiguousarray(values)
    if mask.shape != (n, n_actions) or mask.dtype.kind != "b":
        raise ValueError(
            f"an environment has contexts.eligible of shape {mask.shape} and dtype {mask.dtype}; "
            f"give ({n}, {n_actions}) of True and False."
        )
    return mask


def _rounds(name: str, values: ArrayLike | None, start: int, n_actions: int, n: int) -> Ints | None:
    if values is None:
        return None
    rounds = np.ascontiguousarray(values)
    if rounds.shape not in ((n,), (n, n_actions)) or rounds.dtype.kind not in "iu":
        raise ValueError(
            f"an environment has {name} of shape {rounds.shape} and dtype {rounds.dtype}; "
            f"give {n} whole round numbers, or ({n}, {n_actions}) of them."
        )
    earliest = rounds if rounds.ndim == 1 else rounds.min(axis=1)
    early = earliest < np.arange(start, start + n)
    if early.any():
        row = int(early.argmax())
        raise ValueError(
            f"the {name} of round {start + row} is {earliest[row]}; a reward is known at the end of its "
            "own round at the earliest."
        )
    return rounds.astype(np.int64)


def _short(part: object) -> str:
    """A part of a problem as a refusal shows it."""
    text = repr(part)
    return text if len(text) <= 80 else f"{text[:77]}..."

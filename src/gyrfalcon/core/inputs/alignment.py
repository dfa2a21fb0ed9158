"""Alignment of logs with a problem: actions by label, and a refusal of other units or features."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gyrfalcon.core.arrays import Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.messages import enumeration, short_repr
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.inputs.schema import Schema
from gyrfalcon.core.records import Log


def aligned(log: Log, problem: Problem) -> Log:
    """The rows of a log in the positions of a problem's actions; rows without a problem are in them already.

    Actions that the log's problem lacks could not be chosen there, and are not eligible in its rows.

    Parameters
    ----------
    log
        Log that knows its problem, or rows of `problem` itself.
    problem
        Problem whose actions, features and units are wanted.

    Returns
    -------
    Log
        The rows, which carry no problem any more.

    Raises
    ------
    ValueError
        If the log has other features, another reward range, costs in place of rewards, or unknown actions.

    Examples
    --------
    >>> elsewhere, here = Problem(["b", "a"]), Problem(["a", "b", "c"])
    >>> log = elsewhere.log(elsewhere.contexts(n=2), ["b", "a"], rewards=[1, 0], propensities="uniform")
    >>> rows = aligned(log, here)
    >>> rows.action.tolist(), rows.contexts.eligible.tolist()
    ([1, 0], [[True, True, False], [True, True, False]])
    """
    given = log.problem
    if given is None:
        return log
    if given is not problem:
        _check_same_units(given, problem)
        _check_same_features("features", given.features, problem.features)
        _check_same_features("action features", given.action_features, problem.action_features)
        if given.actions != problem.actions:
            places = _places(given, problem)
            contexts = _rearranged(log.contexts, places, problem.n_actions)
            log = replace(log, contexts=contexts, action=places[log.action])
    return replace(log, problem=None)


def _range_text(problem: Problem) -> str:
    if problem.reward_range is None:
        return "of unknown range"
    return f"from {problem.reward_range[0]!r} to {problem.reward_range[1]!r}"


def _check_same_units(given: Problem, problem: Problem) -> None:
    kinds = tuple("costs" if one.cost else "rewards" for one in (given, problem))
    ranges = tuple(_range_text(one) for one in (given, problem))
    if kinds[0] != kinds[1] or ranges[0] != ranges[1]:
        raise ValueError(
            f"the log has {kinds[0]} {ranges[0]} and this problem {kinds[1]} {ranges[1]}; "
            "make the log with this problem's `log`, from numbers in its units."
        )


def _check_same_features(name: str, given: Schema, wanted: Schema) -> None:
    if given == wanted:
        return
    names = [[feature for feature, _ in schema.columns] for schema in (given, wanted)]
    if names[0] != names[1]:
        differ = f"the log has the {name} {enumeration(names[0])} and this problem {enumeration(names[1])}"
    else:
        pairs = zip(given.columns, wanted.columns, strict=True)
        feature, *kinds = next((x[0], x[1], y[1]) for x, y in pairs if x != y)
        differ = (
            f"the feature {feature!r} is {short_repr(kinds[0])} in the log "
            f"and {short_repr(kinds[1])} in this problem"
        )
    undeclared = "" if names[1] else f"declare the {name} in this problem, and "
    raise ValueError(f"{differ}; {undeclared}make the log with this problem's `log`.")


def _places(given: Problem, problem: Problem) -> Ints:
    """Where each of the log's actions is in the problem."""
    known = {label: place for place, label in enumerate(problem.actions)}
    unknown = [label for label in given.actions if label not in known]
    if unknown:
        raise ValueError(
            f"the log has the actions {enumeration(unknown)}, and this problem only "
            f"{enumeration(problem.actions)}; add them to this problem, or make the log without their rows."
        )
    return np.array([known[label] for label in given.actions])


def _rearranged(contexts: Contexts, places: Ints, n_actions: int) -> Contexts:
    """Contexts with each action in its place; actions without one are not eligible, with features of 0."""
    n, features, mask = len(contexts), None, None
    if contexts.actions is not None:
        features = np.zeros((n, n_actions, contexts.actions.shape[-1]))
        features[:, places] = contexts.actions
    if contexts.eligible is not None or len(places) < n_actions:
        mask = np.zeros((n, n_actions), dtype=np.bool_)
        mask[:, places] = True if contexts.eligible is None else contexts.eligible
    return Contexts(contexts.shared, features, mask)

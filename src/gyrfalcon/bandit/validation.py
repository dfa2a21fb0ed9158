"""Validation of a bandit's arguments and logs: each error names the value and the remedy."""

from __future__ import annotations

import inspect
import operator
import secrets
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.inputs.alignment import aligned
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.inputs.reward_range import LARGEST
from gyrfalcon.core.records import Log

_REMEDY = "make it with this bandit's problem.log(...)."


def checked_seed(seed: object) -> int:
    """The seed as a whole number of 64 bits; a random one for None."""
    if seed is None:
        return secrets.randbits(62)
    try:
        number = operator.index(seed)  # type: ignore[arg-type]  # what is not a whole number is refused here
    except TypeError:
        raise ValueError(
            f"seed is {short_repr(seed)}; give a whole number, or None for a random one."
        ) from None
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"seed is {short_repr(seed)}; give a whole number of at most 64 bits.")
    return number


def problem_of(problem: Problem | None, actions: Iterable[Hashable] | None, **settings: Any) -> Problem:
    """The problem that is given, or the one made of actions and settings."""
    if (problem is None) == (actions is None):
        raise ValueError("give either actions or a problem, and not both.")
    if problem is None:
        return Problem(actions or (), **settings)
    if not isinstance(problem, Problem):
        raise TypeError(f"problem is {short_repr(problem)}; give a Problem, or the actions instead.")
    plain = inspect.signature(Problem).parameters
    changed = [name for name, value in settings.items() if value != plain[name].default]
    if changed:
        raise ValueError(f"{', '.join(changed)} would be ignored beside a problem; put it into the Problem.")
    return problem


def check_learner(learner: object) -> None:
    """Refuse what is not a learner, such as actions in its place or a class without its call."""
    lacking = [name for name in ("start", "next_epoch", "adapt") if not hasattr(learner, name)]
    if lacking or isinstance(learner, type):
        kind = f"the class {learner.__name__}" if isinstance(learner, type) else short_repr(learner)
        raise TypeError(f"learner is {kind}; give one such as AdaptiveFalcon().")


def check_mapping(rewards: object) -> None:
    """Refuse rewards that are not a mapping of event ids to rewards."""
    if not isinstance(rewards, Mapping):
        raise TypeError(
            f"rewards are a {type(rewards).__name__}; give a mapping of event ids to rewards, such as "
            "dict(zip(batch.event_id, rewards))."
        )


def check_room(n: int, max_pending: int) -> None:
    """Refuse more decisions at once than may be pending: the first of them would expire for the last."""
    if n > max_pending:
        raise ValueError(
            f"{n} contexts at once are more than the {max_pending} decisions that may wait; "
            "raise max_pending, or give fewer at a time."
        )


def aligned_log(log: object, problem: Problem) -> Log:
    """The rows of a log in this problem's own positions, or a refusal of what does not fit it."""
    if not isinstance(log, Log):
        raise TypeError(f"the log is a {type(log).__name__}; {_REMEDY}")
    if log.problem is not None and log.problem != problem:
        # By its own problem first: numbers are moved by position only once they are known to be in place.
        _check_log(log, log.problem)
    rows = aligned(log, problem)
    _check_log(rows, problem)
    return rows


def _check_log(log: Log, problem: Problem) -> None:
    """Refuse a log that does not fit a problem, such as one that was put together wrongly by hand."""
    _check_widths(log, problem)
    _check_shapes(log, problem)
    _check_values(log, problem)


def _check_widths(log: Log, problem: Problem) -> None:
    contexts = log.contexts
    widths = (contexts.shared.shape[-1], 0 if contexts.actions is None else contexts.actions.shape[-1])
    wanted = (problem.features.width, problem.action_features.width)
    if widths != wanted:
        undeclared = "declare the features when making the Bandit, and " if not any(wanted) else ""
        raise ValueError(
            f"the log has {widths[0]} shared and {widths[1]} action features, encoded, and the problem has "
            f"{wanted[0]} and {wanted[1]}; {undeclared}{_REMEDY}"
        )


def _check_shapes(log: Log, problem: Problem) -> None:
    n, k = len(log.action), problem.n_actions
    contexts = log.contexts
    whole, real = np.dtype(np.int64), np.dtype(np.float64)
    expected = {
        "contexts.shared": (contexts.shared, (n, problem.features.width), real),
        "contexts.actions": (contexts.actions, (n, k, problem.action_features.width), real),
        "contexts.eligible": (contexts.eligible, (n, k), np.dtype(np.bool_)),
        "action": (log.action, (n,), whole),
        "reward": (log.reward, (n,), real),
        "propensity": (log.propensity, (n,), real),
        "epoch": (log.epoch, (n,), whole),
        "round": (log.round, (n,), whole),
        "component": (log.component, (n,), whole),
    }
    for name, (array, shape, dtype) in expected.items():
        if array is not None and (array.shape != shape or array.dtype != dtype):
            actual = f"{array.dtype} of shape {array.shape}"
            raise ValueError(f"the log's {name} is {actual}, not {dtype} of shape {shape}; {_REMEDY}")


def _check_values(log: Log, problem: Problem) -> None:
    contexts = log.contexts
    low, high = (-LARGEST, LARGEST) if problem.out_of_range == "accept" else (0.0, 1.0)
    _refuse_row("feature", contexts.shared, np.isfinite(contexts.shared))
    if contexts.actions is not None:
        _refuse_row("action feature", contexts.actions, np.isfinite(contexts.actions))
    _refuse_row("action", log.action, (log.action >= 0) & (log.action < problem.n_actions))
    _refuse_row("reward", log.reward, np.isfinite(log.reward) & (log.reward >= low) & (log.reward <= high))
    known = log.has_propensity
    _refuse_row("propensity", log.propensity, ~known | (log.propensity > 0.0) & (log.propensity <= 1.0))
    _refuse_row("passive play without a propensity in component", log.component, known | ~log.passive)
    if contexts.eligible is not None:
        chosen: Bools = contexts.eligible[np.arange(len(log)), log.action]
        _refuse_row("ineligible action", log.action, chosen)


def _refuse_row(name: str, values: Floats | Ints, fine: Bools) -> None:
    if not fine.all():
        place = tuple(np.argwhere(~fine)[0].tolist())
        raise ValueError(
            f"row {place[0]} of the log has the {name} {values[place]}; correct it, or {_REMEDY}"
        )

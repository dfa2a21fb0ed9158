"""Refusals of what a bandit is made with or told to learn from: each says the value and the remedy."""

from __future__ import annotations

import operator
import secrets

import numpy as np

from gyrfalcon.core.problems import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.core.tables import shown
from gyrfalcon.learners.learner import Learner

_REMEDY = "make it with this bandit's problem.log(...)."


def checked_seed(seed: object) -> int:
    """The seed as a whole number of 64 bits; a random one for None."""
    if seed is None:
        return secrets.randbits(62)
    try:
        number = operator.index(seed)  # type: ignore[arg-type]  # what is not a whole number is refused here
    except TypeError:
        raise ValueError(f"seed is {shown(seed)}; give a whole number, or None for a random one.") from None
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"seed is {shown(seed)}; give a whole number of at most 64 bits.")
    return number


def check_learner(learner: object) -> None:
    """Refuse what is not a learner, such as actions in its place or a class without its call."""
    lacking = [name for name in ("start", "next_epoch", "reads_history") if not hasattr(learner, name)]
    if lacking or isinstance(learner, type):
        kind = f"the class {learner.__name__}" if isinstance(learner, type) else shown(learner)
        raise TypeError(f"learner is {kind}; give one such as EpsilonFalcon(), and the actions as actions=.")


def check_overtime(max_overtime: object) -> None:
    """Refuse what is not a number from 0 on."""
    if not isinstance(max_overtime, int | float | np.number) or not max_overtime >= 0.0:
        raise ValueError(f"max_overtime is {shown(max_overtime)}; give a number of at least 0.")


def started(learner: Learner, problem: Problem, log: Log | None) -> object:
    """The learner's first epoch, once the log is known to be of this problem."""
    if log is not None:
        check_log(log, problem)
    return learner.start(problem, log)


def check_log(log: object, problem: Problem) -> None:
    """Refuse a log of another problem, and one that was put together wrongly by hand."""
    if not isinstance(log, Log):
        raise TypeError(f"the log is a {type(log).__name__}; {_REMEDY}")
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
    low, high = (-np.inf, np.inf) if problem.outside == "accept" else (0.0, 1.0)
    rows = np.arange(len(log))
    known = (log.action >= 0) & (log.action < problem.n_actions)
    valid = {
        "features": np.isfinite(contexts.shared).all(axis=1),
        "action features": np.isfinite(_or_empty(contexts.actions, len(log))).all(axis=(1, 2)),
        "action": known,
        "reward": np.isfinite(log.reward) & (log.reward >= low) & (log.reward <= high),
        "propensity": (log.propensity > 0.0) & (log.propensity <= 1.0),
    }
    if contexts.eligible is not None:
        valid["eligible"] = ~known | contexts.eligible[rows, np.where(known, log.action, 0)]
    for name, fine in valid.items():
        if not fine.all():
            raise ValueError(f"row {int(np.argmin(fine))} of the log: its {name} can't be right; {_REMEDY}")


def _or_empty(
    cube: np.ndarray[tuple[int, ...], np.dtype[np.float64]] | None, n: int
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.empty((n, 0, 0)) if cube is None else cube

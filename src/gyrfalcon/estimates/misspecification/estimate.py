"""The misspecification of a model class from passive rows, estimated or bounded by the method that suits."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from gyrfalcon.core.inputs.alignment import aligned
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.estimates.misspecification.nearest_pairs import residual_products
from gyrfalcon.estimates.misspecification.one_step import one_step
from gyrfalcon.estimates.misspecification.passive_rows import groups, passive_rows, spread_points
from gyrfalcon.estimates.misspecification.pure_error import pure_error
from gyrfalcon.estimates.misspecification.result import MisspecificationEstimate
from gyrfalcon.oracles.linear.linear import Linear, LinearOracle
from gyrfalcon.oracles.protocol import AnyOracle, ModelClass

Method = Literal["auto", "pure_error", "residual_products", "one_step"]

FEW_FEATURES = 3
"""In more dimensions the nearest row is not near."""
REPEATED_SHARE = 0.9
"""Pure error speaks of contexts that recur: they must be nearly all."""
SPARE_ROWS = 20
"""Rows beyond the first of each context and action, from which the noise is known well enough."""


def misspecification_estimate(
    log: Log,
    problem: Problem | int,
    model_class: ModelClass = Linear(),
    *,
    oracle: AnyOracle | None = None,
    method: Method = "auto",
    noise: Literal["equal", "unequal"] = "unequal",
    richer: ModelClass | None = None,
    level: float = 0.95,
    n_folds: int = 5,
) -> MisspecificationEstimate:
    """Misspecification b of a model class with an interval, from the passive rows of a log.

    "pure_error" and "residual_products" estimate b. "one_step", the method above three features, only bounds
    it: its lower end holds whatever the richer class misses, its upper end is the class's mean squared error,
    noise included, and `is_lower_bound` says so.

    Parameters
    ----------
    log : Log
        Log of which the passive rows are used, and no others.
    problem : Problem or int
        The problem, by whose actions the log is aligned, or its number of actions.
    model_class : ModelClass, default Linear()
        The model class F. A ridge is part of it: b is then the error of the ridge fit to as many rows.
    oracle : Oracle, optional
        An oracle of the class that is in use already, whose basis is fixed, instead of `model_class`.
    method : {'auto', 'pure_error', 'residual_products', 'one_step'}, default 'auto'
        "pure_error" (B1) where contexts recur, "residual_products" (B3) of nearest pairs in few dimensions,
        "one_step" (B4) for a lower bound by a richer class; "auto" takes the first that suits the rows.
    noise : {'equal', 'unequal'}, default 'unequal'
        For pure error: "equal" for normal noise of the same variance everywhere; otherwise variances may
        differ.
    richer : ModelClass, optional
        For one step: the richer class; by default random Fourier features are added to a linear class, at the
        length scale that cross-validation prefers.
    level : float, default 0.95
        Confidence level of the interval.
    n_folds : int, default 5
        Number of folds: for one step, at least 5, and for residuals of classes that are not linear.

    Raises
    ------
    NotEstimableError
        If these rows can't say it: there are too few, or none that the class does not fit exactly.

    Examples
    --------
    >>> from gyrfalcon.environments.paper import StepExample
    >>> outcomes = StepExample().draw(0, 2000, seed=1)
    >>> action = np.arange(2000) % 2
    >>> reward = outcomes.rewards[np.arange(2000), action]
    >>> log = StepExample().problem.log(outcomes.contexts, action + 1, reward, propensities="uniform")
    >>> found = misspecification_estimate(log, StepExample().problem)
    >>> found.method, found.lower < StepExample().b < found.upper
    ('residual_products', True)
    """
    rows, n_actions = _rows_of_problem(log, problem)
    fitted = model_class.oracle(rows.contexts, n_actions) if oracle is None else oracle
    why = ""
    if method == "auto":
        method, why = suited_method(rows, fitted)
    if method == "pure_error":
        found = pure_error(rows, fitted, n_actions=n_actions, level=level, noise=noise)
    elif method == "residual_products":
        found = residual_products(rows, fitted, n_actions=n_actions, level=level, n_folds=n_folds)
    elif method == "one_step":
        found = one_step(rows, fitted, n_actions=n_actions, richer=richer, level=level, n_folds=n_folds)
    else:
        names = "'auto', 'pure_error', 'residual_products' or 'one_step'"
        raise ValueError(f"method is {method!r}; choose {names}.")
    return replace(found, why=why)


def _rows_of_problem(log: Log, problem: Problem | int) -> tuple[Log, int]:
    """The passive rows in the positions of a problem's actions, and how many actions there are."""
    if not isinstance(problem, int):
        return passive_rows(aligned(log, problem)), problem.n_actions
    if log.problem is not None and log.problem.n_actions != problem:
        raise ValueError(
            f"the log's problem has {log.problem.n_actions} actions, and {problem} are given; "
            "give its problem."
        )
    return passive_rows(log), problem


def suited_method(rows: Log, oracle: AnyOracle) -> tuple[Method, str]:
    """The method for these passive rows, and why."""
    sizes = np.bincount(groups(rows))
    n_repeated, n_spare = int(sizes[sizes > 1].sum()), len(rows) - len(sizes)
    enough = n_repeated >= REPEATED_SHARE * len(rows) and n_spare >= SPARE_ROWS
    if enough and isinstance(oracle, LinearOracle):
        return "pure_error", f"{n_repeated} of {len(rows)} rows share their context and action with another."
    shared = f"{n_repeated} of {len(rows)} rows share their context and action with another, and "
    d = spread_points(rows).shape[1]
    if d <= FEW_FEATURES:
        return "residual_products", shared + f"with {d} varying features the nearest row is near."
    return "one_step", shared + f"with {d} varying features the nearest row is not near."

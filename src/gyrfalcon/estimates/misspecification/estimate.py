"""The misspecification of a model class from a log, estimated or bounded by the method that suits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from gyrfalcon.core.inputs.alignment import aligned
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.estimates.misspecification.nearest_pairs import residual_products
from gyrfalcon.estimates.misspecification.one_step import one_step
from gyrfalcon.estimates.misspecification.passive_rows import groups, spread_points
from gyrfalcon.estimates.misspecification.pure_error import pure_error
from gyrfalcon.estimates.misspecification.result import MisspecificationEstimate
from gyrfalcon.estimates.misspecification.row_choice import RowChoice, uniform_rows
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
    rows: RowChoice = "auto",
) -> MisspecificationEstimate:
    """Misspecification b of a model class with an interval, from passive or weighted rows of a log.

    "pure_error" and "residual_products" estimate b. "one_step", the method above three features, only bounds
    it: its lower end holds whatever the richer class misses, its upper end is the class's mean squared error,
    noise included, and `is_lower_bound` says so.

    b is a mean over uniform play of the eligible actions. Passive rows are such play; rows of known
    propensity p stand for it by the weight 1 / (K p).

    Parameters
    ----------
    log : Log
        Log of which the passive rows are used, or all rows with known propensities.
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
    rows : {'auto', 'passive', 'all'}, default 'auto'
        "passive" for passive rows alone, "all" for all rows with known propensities, weighted. "auto" takes
        passive rows where there are 200, or half the effective number of weighted rows, unless the latter is
        ten times larger.

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
    given, n_actions = rows_of_problem(log, problem)
    used = uniform_rows(given, n_actions, rows)
    fitted = model_class.oracle(used.log.contexts, n_actions) if oracle is None else oracle
    why = ""
    if method == "auto":
        method, why = suited_method(used.log, fitted)
    common: dict[str, Any] = {"n_actions": n_actions, "level": level, "weights": used.weights}
    if method == "pure_error":
        found = pure_error(used.log, fitted, noise=noise, **common)
    elif method == "residual_products":
        found = residual_products(used.log, fitted, n_folds=n_folds, **common)
    elif method == "one_step":
        found = one_step(used.log, fitted, richer=richer, n_folds=n_folds, **common)
    else:
        names = "'auto', 'pure_error', 'residual_products' or 'one_step'"
        raise ValueError(f"method is {method!r}; choose {names}.")
    return replace(found, why=why, rows=used.description, notes=found.notes + used.notes)


def rows_of_problem(log: Log, problem: Problem | int) -> tuple[Log, int]:
    """The rows in the positions of a problem's actions, and how many actions there are."""
    if not isinstance(problem, int):
        return aligned(log, problem), problem.n_actions
    if log.problem is not None and log.problem.n_actions != problem:
        raise ValueError(
            f"the log's problem has {log.problem.n_actions} actions, and {problem} are given; "
            "give its problem."
        )
    return log, problem


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

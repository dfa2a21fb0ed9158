"""Tests of the hypothesis that a linear class holds the true mean rewards, of controlled size."""

from __future__ import annotations

from typing import Literal

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.core.validation import check_choice
from gyrfalcon.estimates.misspecification.estimate import rows_of_problem
from gyrfalcon.estimates.misspecification.residual_tests import (
    Outcome,
    Residuals,
    added_terms_test,
    kernel_test,
)
from gyrfalcon.estimates.misspecification.result import NotEstimableError
from gyrfalcon.estimates.misspecification.row_choice import (
    RowChoice,
    UniformRows,
    evenly_spread,
    residual_rows,
)
from gyrfalcon.estimates.misspecification.specification_result import (
    SpecificationTest,
    SpecificationTests,
    holm_adjusted,
)
from gyrfalcon.oracles.linear.linear import Linear, LinearOracle
from gyrfalcon.oracles.protocol import AnyOracle, ModelClass

SpecificationMethod = Literal["auto", "reset", "kernel"]

MOST_ROWS = {"reset": 50_000, "kernel": 2000}
"""Most rows of a test, evenly spread: the time of the kernel test goes with their square."""
FEWEST_SPARE = 20
"""Fewest rows beyond the number of coefficients."""


def specification_test(
    log: Log,
    problem: Problem | int,
    model_class: ModelClass = Linear(),
    *,
    oracle: AnyOracle | None = None,
    method: SpecificationMethod = "auto",
    rows: RowChoice = "auto",
    seed: int = 0,
) -> SpecificationTests:
    """Test whether a linear class holds the true mean rewards, whatever the noise.

    "reset" (RESET, Ramsey 1969) tests whether powers of fitted values, and powers and products of features,
    explain what the class leaves of rewards. "kernel" tests whether residuals of near contexts go together
    within an action (Zheng 1996), at three bandwidths. Both take their distribution from random signs of the
    residuals (wild bootstrap), so that noise may be unequal. "auto" makes both and adjusts by Holm's rule.

    Parameters
    ----------
    log : Log
        Rows of any play: a class that holds the true means holds them in whatever rows, if actions were
        chosen by the features of the context.
    problem : Problem or int
        The problem, by whose actions the log is aligned, or its number of actions.
    model_class : ModelClass, default Linear()
        The linear class in question, whose ridge is left out.
    oracle : Oracle, optional
        An oracle of the class that is in use already, whose basis is fixed, instead of `model_class`.
    method : {'auto', 'reset', 'kernel'}, default 'auto'
        Which test to make.
    rows : {'auto', 'passive', 'all'}, default 'auto'
        Which rows to use, as in `misspecification_estimate`; but with "auto", where those are worth fewer
        than 200 passive ones, all rows alike.
    seed : int, default 0
        Random seed of the signs.

    Raises
    ------
    NotEstimableError
        If the class is not linear, or fits these rows exactly.

    Examples
    --------
    >>> from gyrfalcon.environments.paper import StepExample
    >>> outcomes = StepExample().draw(0, 1000, seed=1)
    >>> action = np.arange(1000) % 2
    >>> reward = outcomes.rewards[np.arange(1000), action]
    >>> log = StepExample().problem.log(outcomes.contexts, action + 1, reward, propensities="uniform")
    >>> found = specification_test(log, StepExample().problem)
    >>> found.rejects(0.01), found.p_values_by_action[0] < 0.01 < found.p_values_by_action[1]
    (True, True)
    """
    check_choice("method", method, ("auto", "reset", "kernel"))
    given, n_actions = rows_of_problem(log, problem)
    used = residual_rows(given, n_actions, rows)
    fitted = model_class.oracle(used.log.contexts, n_actions) if oracle is None else oracle
    if not isinstance(fitted, LinearOracle):
        raise NotEstimableError(
            "specification tests are of linear classes; give one, such as Linear(), or bound b by "
            "misspecification_estimate(..., method='one_step')."
        )
    methods = ("reset", "kernel") if method == "auto" else (method,)
    outcomes = {name: _outcome(name, fitted, used, seed) for name in methods}
    adjusted = holm_adjusted([outcome.p_value for outcome, _ in outcomes.values()])
    tests = tuple(
        SpecificationTest(
            method=name,
            statistic=outcome.statistic,
            n_terms=outcome.n_terms,
            p_value=outcome.p_value,
            adjusted_p_value=p_value,
            n_rows=n_rows,
        )
        for (name, (outcome, n_rows)), p_value in zip(outcomes.items(), adjusted, strict=True)
    )
    by_action = outcomes["reset"][0].by_block if "reset" in outcomes else {}
    return SpecificationTests(
        p_value=min(adjusted),
        tests=tests,
        p_values_by_action=by_action,
        rows=used.description,
        notes=used.notes,
    )


def _outcome(method: str, oracle: LinearOracle, used: UniformRows, seed: int) -> tuple[Outcome, int]:
    """The result of one test, and of how many rows."""
    rows = evenly_spread(used, MOST_ROWS[method])
    residuals = _residuals(oracle, rows.log, rows.weights)
    test = added_terms_test if method == "reset" else kernel_test
    return test(residuals, seed=seed), len(rows.log)


def _residuals(oracle: LinearOracle, rows: Log, weights: Floats | None) -> Residuals:
    found = Residuals.of(oracle, rows, weights)
    size = float(np.abs(rows.reward - rows.reward.mean()).max())
    if found.n_spare < FEWEST_SPARE or float(np.abs(found.values).max()) <= 1e-9 * size:
        raise NotEstimableError(
            f"the class fits the {len(rows)} rows (nearly) exactly, with {found.smoother.degrees:.0f} "
            "coefficients; wait for more rows, or choose a smaller class."
        )
    return found

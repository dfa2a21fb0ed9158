"""Section 1.1 without simulation: the best linear model, its policy, and the fit of optimal data."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.environments.population.best_in_class import best_in_class, misspecification
from gyrfalcon.environments.population.population import Population, greedy_policy
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon_paper.claims.claim import Finding, agrees
from gyrfalcon_paper.linear_models import coefficients_of

Coefficients = tuple[tuple[float, float], tuple[float, float]]
"""Intercept and slope of both actions."""


def best_linear_model(printed: Coefficients = ((-0.25, 1.5), (0.5, 0.0))) -> list[Finding]:
    """The best linear approximation."""
    found = coefficients_of(best_in_class(_population(), Linear()))
    return [Finding("step-best-linear-model", agrees(found, np.array(printed)), _named(found))]


def best_policy(printed_regret: float = 0.0, printed_switch: float = 0.5) -> list[Finding]:
    """The policy of the best linear approximation."""
    best = best_in_class(_population(), Linear())
    (intercept, slope), (other, rise) = coefficients_of(best).tolist()
    regret, switch = _population().regret(greedy_policy(best)), (other - intercept) / (slope - rise)
    holds = agrees((regret, switch), (printed_regret, printed_switch))
    return [Finding("step-best-policy", holds, {"switch": switch, "regret": regret})]


def errors_of_the_class(printed_b: float = 1 / 32, printed_worst: float = 1 / 16) -> list[Finding]:
    """B and b of the step example."""
    found = misspecification(_population(), Linear())
    holds = agrees((found.b, found.B), (printed_b, printed_worst))
    return [Finding("step-errors", holds, {"b": found.b, "B": found.B, "largest_error": found.sup})]


def fit_on_optimal_data(
    printed: Coefficients = ((1.0, 0.0), (0.5, 0.0)), printed_regret: float = 0.25
) -> list[Finding]:
    """What a linear fit of the optimal policy's data is, and what its policy costs."""
    population = _population()
    fit = best_in_class(population, Linear(), play=greedy_policy(best_in_class(population, Linear())))
    found, regret = coefficients_of(fit), population.regret(greedy_policy(fit))
    holds = agrees(found, np.array(printed)) and agrees(regret, printed_regret)
    return [Finding("step-optimal-data", holds, {**_named(found), "regret": regret})]


def realizable_classes_have_no_error(printed: float = 0.0) -> list[Finding]:
    """The error of linear models where the truth is linear."""
    straight = Population.on_interval(lambda x: np.stack([0.2 + 0.5 * x, 0.6 - 0.3 * x], axis=1), (0.0, 1.0))
    found = misspecification(straight, Linear()).b
    return [Finding("realizable-error", agrees(found, printed), {"b": found})]


def _population() -> Population:
    return StepExample().population


def _named(coefficients: Floats) -> dict[str, float]:
    return {
        f"{name}_{action}": float(coefficients[action - 1, place])
        for action in (1, 2)
        for place, name in enumerate(("intercept", "slope"))
    }

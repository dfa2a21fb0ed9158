"""Appendix E without simulation: linear models are nearly right, and optimal data mislead them."""

from __future__ import annotations

import numpy as np

from gyrfalcon.environments.paper import SensitivityExample
from gyrfalcon.environments.population.best_in_class import best_in_class, misspecification
from gyrfalcon.environments.population.population import greedy_policy
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon_paper.claims.claim import Finding, at_most
from gyrfalcon_paper.linear_models import coefficients_of

THETAS = (0.05, 0.03, 0.01, 0.003, 0.001)


def best_policy_is_optimal(thetas: tuple[float, ...] = THETAS, printed_regret: float = 0.0) -> list[Finding]:
    """The best linear models cross at 1 - theta, rise and fall as stated, and induce the optimal policy."""
    regrets, crossings, slopes = [], [], []
    for theta in thetas:
        population = SensitivityExample(theta).population
        best = best_in_class(population, Linear())
        (first, rise), (second, fall) = coefficients_of(best).tolist()
        regrets.append(abs(population.regret(greedy_policy(best)) - printed_regret))
        crossings.append(abs((second - first) / (rise - fall) - (1.0 - theta)))
        slopes.append(rise > 0.0 > fall)
    holds = max(regrets) < 1e-9 and max(crossings) < 1e-9 and all(slopes)
    numbers = {"largest_regret": max(regrets), "furthest_crossing_from_1_less_theta": max(crossings)}
    return [Finding("sensitivity-best-policy", holds, numbers)]


def optimal_data_mislead(
    thetas: tuple[float, ...] = THETAS,
    printed: float = SensitivityExample.claimed_regret,
    printed_intercept: float = 1.0,
) -> list[Finding]:
    """The fit of the optimal policy's data: both actions' models, and the regret of their policy."""
    off, regrets = [], []
    for theta in thetas:
        example = SensitivityExample(theta)
        population = example.population
        fit = best_in_class(population, Linear(), play=greedy_policy(best_in_class(population, Linear())))
        (first, rise), (second, fall) = coefficients_of(fit).tolist()
        off += [abs(first - printed_intercept), abs(rise), abs(second - 1.0), abs(fall - example.slope)]
        regrets.append(population.regret(greedy_policy(fit)))
    bounds = np.maximum([0.5 * (1.0 - theta) * 0.9 for theta in thetas], printed)
    by_theta = {f"theta_{theta:g}": regret for theta, regret in zip(thetas, regrets, strict=True)}
    return [
        Finding("sensitivity-fit", max(off) < 1e-6, {"furthest_off": max(off)}),
        Finding("sensitivity-regret", bool((np.array(regrets) >= bounds).all()), by_theta),
    ]


def error_is_small(thetas: tuple[float, ...] = THETAS, printed: float = 0.5) -> list[Finding]:
    """The b of linear models over theta, and whether it falls in proportion to it."""
    errors = [misspecification(SensitivityExample(theta).population, Linear()).b for theta in thetas]
    largest = max(b / (printed * theta) for b, theta in zip(errors, thetas, strict=True))
    vanishes = errors[-1] < errors[0] * thetas[-1] / thetas[0] * 2.0
    by_theta = {f"b_at_{theta:g}": b for theta, b in zip(thetas, errors, strict=True)}
    return [Finding("sensitivity-error", at_most(largest, 1.0) and vanishes, by_theta)]


def uniform_error_is_large(thetas: tuple[float, ...] = THETAS, printed: float = 0.5) -> list[Finding]:
    """The largest error of the best linear models, over the root of b, as theta falls."""
    found = [misspecification(SensitivityExample(theta).population, Linear()) for theta in thetas]
    ratios = [each.sup / each.b**0.5 for each in found]
    power = float(np.log(ratios[-1] / ratios[0]) / np.log(thetas[0] / thetas[-1]))
    numbers = {
        f"ratio_at_{thetas[0]:g}": ratios[0],
        f"ratio_at_{thetas[-1]:g}": ratios[-1],
        "power_of_theta": -power,
        f"largest_error_at_{thetas[-1]:g}": found[-1].sup,
    }
    return [Finding("uniform-error", abs(power - printed) < 0.1, numbers)]

"""Appendix E without simulation: a family whose lines are nearly right, and what optimal data teach there."""

from __future__ import annotations

import numpy as np

from gyrfalcon.environments.paper import SensitivityExample
from gyrfalcon.environments.population.best_in_class import best_in_class, misspecification
from gyrfalcon.environments.population.population import greedy_policy
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon_paper.claims.claim import Claim, at_most, shown
from gyrfalcon_paper.lines import lines_of

THETAS = (0.05, 0.03, 0.01, 0.003, 0.001)


def best_policy_is_optimal(thetas: tuple[float, ...] = THETAS, printed_regret: float = 0.0) -> list[Claim]:
    """The best lines cross at 1 - theta, rise and fall as stated, and induce the optimal policy."""
    regrets, crossings, slopes = [], [], []
    for theta in thetas:
        environment = SensitivityExample(theta)
        best = best_in_class(environment.population, Linear())
        (first, rise), (second, fall) = lines_of(best).tolist()
        regrets.append(environment.population.regret(greedy_policy(best)))
        crossings.append(abs((second - first) / (rise - fall) - (1.0 - theta)))
        slopes.append((rise, fall))
    rises = all(rise > 0.0 > fall for rise, fall in slopes)
    worst = max(abs(regret - printed_regret) for regret in regrets)
    return [
        Claim(
            key="sensitivity-best-policy",
            source="Appendix E",
            statement="The best line of action 1 rises, that of action 2 falls, they cross at 1 - theta, and "
            f"their policy is optimal: its regret is {shown(printed_regret)}.",
            computed=f"regrets within {worst:.0e} of that and crossings within {max(crossings):.0e} of "
            f"1 - theta, for theta = {_listed(thetas)}",
            holds=worst < 1e-9 and max(crossings) < 1e-9 and rises,
            numbers={"largest_regret": max(regrets), "furthest_crossing": max(crossings)},
        )
    ]


def optimal_data_mislead(
    thetas: tuple[float, ...] = THETAS,
    printed: float = SensitivityExample.claimed_regret,
    printed_line: float = 1.0,
) -> list[Claim]:
    """The fit of the optimal policy's data: action 1's line, action 2's, and the regret of its policy."""
    off, regrets = [], []
    for theta in thetas:
        environment = SensitivityExample(theta)
        play = greedy_policy(best_in_class(environment.population, Linear()))
        fit = best_in_class(environment.population, Linear(), play=play)
        (first, rise), (second, fall) = lines_of(fit).tolist()
        off += [abs(first - printed_line), abs(rise), abs(second - 1.0), abs(fall - environment.slope)]
        regrets.append(environment.population.regret(greedy_policy(fit)))
    stated = [0.5 * (1.0 - theta) * 0.9 for theta in thetas]
    return [
        Claim(
            key="sensitivity-fit",
            source="Appendix E",
            statement=f"Fitted to data of the optimal policy, action 1's line is {shown(printed_line)} "
            "everywhere and action 2's is right.",
            computed=f"coefficients within {max(off):.0e} of that for theta = {_listed(thetas)}",
            holds=max(off) < 1e-6,
            numbers={"furthest_off": max(off)},
        ),
        Claim(
            key="sensitivity-regret",
            source="Appendix E",
            statement="That fit's policy plays action 1 everywhere and has a regret of at least "
            f"(1 - theta) (1 - .1) / 2, which is at least {shown(printed)}.",
            computed=f"regret {regrets[0]:.6f} at theta = {thetas[0]:g} and {regrets[2]:.6f} at "
            f"{thetas[2]:g}, at least {shown(min(regrets))} for all",
            holds=min(regrets) >= printed
            and all(regret >= bound for regret, bound in zip(regrets, stated, strict=True)),
            numbers={f"theta_{theta:g}": regret for theta, regret in zip(thetas, regrets, strict=True)},
        ),
    ]


def error_is_small(thetas: tuple[float, ...] = THETAS, printed: float = 0.5) -> list[Claim]:
    """The b of lines over theta, and against its closed form."""
    environments = [SensitivityExample(theta) for theta in thetas]
    errors = [misspecification(environment.population, Linear()).b for environment in environments]
    ratios = [b / (printed * theta) for b, theta in zip(errors, thetas, strict=True)]
    return [
        Claim(
            key="sensitivity-error",
            source="Appendix E",
            statement=f"The approximation error b is at most {shown(printed)} theta, and so as small as one "
            "likes.",
            computed=f"b = {errors[0]:.6f} at theta = {thetas[0]:g} and {errors[-1]:.1e} at {thetas[-1]:g}, "
            f"at most {shown(max(ratios))} of the bound",
            holds=at_most(max(ratios), 1.0) and errors[-1] < errors[0] * thetas[-1] / thetas[0] * 2.0,
            note="b = .405 theta (1 - theta) (1 - 3 theta (1 - theta)).",
            numbers={f"b_at_{theta:g}": b for theta, b in zip(thetas, errors, strict=True)},
        )
    ]


def uniform_error_is_large(thetas: tuple[float, ...] = THETAS, printed: float = 0.5) -> list[Claim]:
    """The largest error of the best lines, over the root of b, as theta falls."""
    found = [misspecification(SensitivityExample(theta).population, Linear()) for theta in thetas]
    ratios = np.array([each.sup / np.sqrt(each.b) for each in found])
    power = float(np.log(ratios[-1] / ratios[0]) / np.log(thetas[0] / thetas[-1]))
    return [
        Claim(
            key="uniform-error",
            source="Section 1.2",
            statement="A uniform bound on the error can be arbitrarily large beside b in a benign example: "
            f"their ratio grows like theta to the power of {shown(-printed)} in Appendix E.",
            computed=f"sup over sqrt(b) grows from {shown(ratios[0])} at theta = {thetas[0]:g} to "
            f"{shown(ratios[-1])} at {thetas[-1]:g}, power {-power:.2f}",
            holds=abs(power - printed) < 0.1,
            note=f"In absolute terms it stays below .9 here, {shown(found[-1].sup)} at theta = "
            f"{thetas[-1]:g}, as rewards are bounded.",
            numbers={"sup_at_smallest_theta": found[-1].sup, "power": -power},
        )
    ]


def _listed(thetas: tuple[float, ...]) -> str:
    return ", ".join(f"{theta:g}" for theta in thetas)

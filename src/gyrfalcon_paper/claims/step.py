"""Section 1.1 without simulation: the best line, its policy, and what the optimal policy's data teach."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.environments.population.best_in_class import best_in_class, misspecification
from gyrfalcon.environments.population.population import Population, greedy_policy
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon_paper.claims.claim import Claim, agrees, shown
from gyrfalcon_paper.lines import lines_of

Lines = tuple[tuple[float, float], tuple[float, float]]
"""Intercept and slope of both actions."""


def as_text(lines: Lines | Floats) -> str:
    """Both lines in a few digits.

    >>> as_text(((-0.25, 1.5), (0.5, 1e-17)))
    '(-0.25 + 1.5 x, 0.5)'
    """
    return f"({', '.join(_line(*line) for line in lines)})"


def best_linear_model(printed: Lines = ((-0.25, 1.5), (0.5, 0.0))) -> list[Claim]:
    """The best linear approximation."""
    found = lines_of(best_in_class(_population(), Linear()))
    return [
        Claim(
            key="step-best-line",
            source="Section 1.1",
            statement=f"The best linear approximation of the step example is {as_text(printed)}.",
            computed=as_text(found),
            holds=agrees(found, np.array(printed)),
            note="Figure 1 draws it; the numbers are the closed form.",
            numbers={
                "intercept_1": float(found[0, 0]),
                "slope_1": float(found[0, 1]),
                "intercept_2": float(found[1, 0]),
                "slope_2": float(found[1, 1]),
            },
        )
    ]


def best_policy(printed_regret: float = 0.0, printed_switch: float = 0.5) -> list[Claim]:
    """The policy of the best linear approximation."""
    best = best_in_class(_population(), Linear())
    (intercept, slope), (other, rise) = lines_of(best).tolist()
    regret, switch = _population().regret(greedy_policy(best)), (other - intercept) / (slope - rise)
    return [
        Claim(
            key="step-best-policy",
            source="Section 1.1",
            statement="The best linear approximation induces the optimal policy, which switches at "
            f"x = {printed_switch}: its regret is {shown(printed_regret)}.",
            computed=f"it switches at {shown(switch)} and has regret {_short(regret)}",
            holds=agrees((regret, switch), (printed_regret, printed_switch)),
            numbers={"regret": regret, "switch": switch},
        )
    ]


def errors_of_the_class(printed_b: float = 1 / 32, printed_worst: float = 1 / 16) -> list[Claim]:
    """B and b of the step example."""
    found = misspecification(_population(), Linear())
    return [
        Claim(
            key="step-errors",
            source="Section 1.1",
            statement=f"Lines miss the step example by b = {printed_b} on average over actions and by "
            f"B = {printed_worst} at worst.",
            computed=f"b = {shown(found.b)}, B = {shown(found.B)}",
            holds=agrees((found.b, found.B), (printed_b, printed_worst)),
            note="The paper defines b and B without giving them here; these are the closed forms.",
            numbers={"b": found.b, "B": found.B, "sup": found.sup},
        )
    ]


def fit_on_optimal_data(
    printed: Lines = ((1.0, 0.0), (0.5, 0.0)), printed_regret: float = 0.25
) -> list[Claim]:
    """What a linear fit of the optimal policy's data is, and what its policy costs."""
    population = _population()
    play = greedy_policy(best_in_class(population, Linear()))
    fit = best_in_class(population, Linear(), play=play)
    found, regret = lines_of(fit), population.regret(greedy_policy(fit))
    return [
        Claim(
            key="step-optimal-data",
            source="Section 1.1",
            statement=f"Fitted to data of the optimal policy, the lines are {as_text(printed)}, whose policy "
            f"plays action 1 everywhere and costs {printed_regret} a round.",
            computed=f"{as_text(found)}, regret {shown(regret)} a round",
            holds=agrees(found, np.array(printed)) and agrees(regret, printed_regret),
            note="The paper calls the policy suboptimal; .25 is the closed form, as for uniform play.",
            numbers={"intercept_1": float(found[0, 0]), "slope_1": float(found[0, 1]), "regret": regret},
        )
    ]


def realizable_classes_have_no_error(printed: float = 0.0) -> list[Claim]:
    """The errors of lines where the truth is two lines."""
    straight = Population.on_interval(lambda x: np.stack([0.2 + 0.5 * x, 0.6 - 0.3 * x], axis=1), (0.0, 1.0))
    found = misspecification(straight, Linear())
    return [
        Claim(
            key="realizable-error",
            source="Section 2",
            statement=f"Where realizability holds, the approximation error b is {shown(printed)}.",
            computed=f"b = {found.b:.1e} for lines fitted to lines",
            holds=agrees(found.b, printed),
            numbers={"b": found.b},
        )
    ]


def _population() -> Population:
    return StepExample().population


def _line(intercept: float, slope: float) -> str:
    rise = _short(slope)
    return _short(intercept) if rise == "0" else f"{_short(intercept)} + {rise} x"


def _short(number: float) -> str:
    return shown(round(number, 6) + 0.0)

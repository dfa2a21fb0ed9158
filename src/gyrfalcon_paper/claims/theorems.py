"""Theorems 1 and 2 and Corollary 1 in numbers: how costs grow, and the best passive share."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gyrfalcon.environments.paper import StepExample
from gyrfalcon.theory import optimal_epsilon, regret_bound, regret_rate, tuned_rate
from gyrfalcon_paper.claims.claim import Claim, shown

BASE: dict[str, Any] = {"T": 10**12, "K": 2, "comp": 4.0, "b": 1e-4, "epsilon": 0.01, "delta": 0.05}
"""The setting that powers are measured at; so many rounds that 1 + log2 T doesn't count."""


def power(term: Callable[[dict[str, Any]], float], name: str, factor: float = 4.0) -> float:
    """The power of one argument in a term: how its logarithm grows when the argument is multiplied.

    >>> round(power(lambda setting: setting["T"] ** 0.5, "T"), 9)
    0.5
    """
    after = BASE | {name: type(BASE[name])(factor * BASE[name])}
    return math.log(term(after) / term(BASE)) / math.log(factor)


def powers_of_theorem_1(
    estimation: tuple[float, ...] = (0.5, 0.5, 0.5),
    misspecification: tuple[float, ...] = (1.0, 1.0, 0.5, -0.25),
    passive: tuple[float, ...] = (1.0, 1.0),
) -> list[Claim]:
    """Powers of the bound at the end of the proof: of (T, K, d), (T, K, b, epsilon) and (T, epsilon)."""
    return [
        _powers("Theorem 1", "estimation", "T, K, comp", estimation),
        _powers("Theorem 1", "misspecification", "T, K, b, epsilon", misspecification),
        _powers("Theorem 1", "passive", "T, epsilon", passive),
    ]


def powers_of_theorem_2(
    rho: float = 0.6,
    estimation: tuple[float, ...] = (0.7, 0.5, 0.5),
    misspecification: tuple[float, ...] = (1.0, 1.0, 0.5, -0.15),
) -> list[Claim]:
    """The same for a slower class: 1 - rho / 2 of T, and -rho / 4 of epsilon."""
    return [
        _powers("Theorem 2", "estimation", "T, K, comp", estimation, rho),
        _powers("Theorem 2", "misspecification", "T, K, b, epsilon", misspecification, rho),
    ]


def _powers(source: str, term: str, names: str, printed: tuple[float, ...], rho: float = 1.0) -> Claim:
    """How a term of the proof's bound grows with each argument, its logarithm of T divided out."""

    def cost(setting: dict[str, Any]) -> float:
        logarithm = math.log(math.log2(setting["T"]) / setting["delta"]) if term == "estimation" else 1.0
        return float(getattr(regret_bound(**setting, rho=rho), term)) / math.sqrt(logarithm)

    found = {name: power(cost, name) for name in names.split(", ")}
    computed = ", ".join(shown(round(number, 6)) for number in found.values())
    return Claim(
        key=f"{source.lower().replace(' ', '-')}-{term}",
        source=source,
        statement=f"With rho = {shown(rho)}, the cost of {TERMS[term]} grows with the powers "
        f"{', '.join(map(shown, printed))} of {names.replace('comp', 'comp(F)')}.",
        computed=f"powers {computed} in the bound at the end of the proof",
        holds=bool(np.allclose(list(found.values()), printed, atol=1e-6)),
        note="The proof has log2 T where the theorem has ln T inside its logarithm."
        if term == "estimation"
        else "",
        numbers={f"power_of_{name}": number for name, number in found.items()},
    )


TERMS = {
    "estimation": "learning, over sqrt(ln(ln T / delta)),",
    "misspecification": "misspecification",
    "passive": "passive rounds",
}


def realizable_rate(printed: float = 0.5) -> list[Claim]:
    """The power of T in Corollary 1's rate where b = 0."""
    ratio = tuned_rate(4 * 10**12, 2, 4.0, 0.0, 0.05).total / tuned_rate(10**12, 2, 4.0, 0.0, 0.05).total
    found = math.log(ratio) / math.log(4.0)
    return [
        Claim(
            key="realizable-rate",
            source="Theorem 1",
            statement="Where the model class is right, what is left is the rate of FALCON under "
            f"realizability: T to the power of {shown(printed)}, up to logarithms.",
            computed=f"power {found:.3f} of T, its logarithm included, at b = 0 and the epsilon that goes "
            "with it",
            holds=abs(found - printed) < 0.02,
            note="With a fixed epsilon the passive rounds still cost epsilon T.",
            numbers={"power_of_T": found},
        )
    ]


def best_passive_share(printed_K: float = 0.8, printed_b: float = 0.4) -> list[Claim]:
    """The epsilon of least rate, by search, and how it and its cost follow K and b."""

    def cost(log_epsilon: float, K: int, b: float) -> float:
        rate = regret_rate(1.0, K, 1.0, b, math.exp(log_epsilon), 0.05)
        return rate.misspecification + rate.passive

    def best(K: int, b: float) -> tuple[float, float]:
        found = _lowest(lambda log_epsilon: cost(log_epsilon, K, b), -30.0, math.log(0.4999))
        return math.exp(found), cost(found, K, b)

    (share, price), (more_K, price_K) = best(2, 1e-6), best(8, 1e-6)
    more_b, price_b = best(2, 1e-4)
    by_K = math.log(more_K / share) / math.log(4.0), math.log(price_K / price) / math.log(4.0)
    by_b = math.log(more_b / share) / math.log(100.0), math.log(price_b / price) / math.log(100.0)
    step_b = StepExample().b
    step = best(2, step_b)[0]
    return [
        Claim(
            key="corollary-1",
            source="Corollary 1",
            statement="The passive share of least cost, and that cost, grow like K to the power of "
            f"{shown(printed_K)} and b to the power of {shown(printed_b)}.",
            computed=f"by search, the share like K^{by_K[0]:.4f} b^{by_b[0]:.4f}, its cost like "
            f"K^{by_K[1]:.4f} b^{by_b[1]:.4f}",
            holds=bool(np.allclose([*by_K, *by_b], [printed_K] * 2 + [printed_b] * 2, atol=1e-3)),
            note=f"On the step example the rates' best share is {step:.3f}; the constant c is (1/4)^(4/5) "
            f"for unit constants ({optimal_epsilon(step_b, 2):.3f} in closed form).",
            numbers={"share_by_K": by_K[0], "share_by_b": by_b[0], "step_example": step},
        )
    ]


def _lowest(convex: Callable[[float], float], low: float, high: float) -> float:
    """Where a convex function is lowest, by thirds."""
    for _ in range(80):
        first, second = (2.0 * low + high) / 3.0, (low + 2.0 * high) / 3.0
        low, high = (low, second) if convex(first) < convex(second) else (first, high)
    return (low + high) / 2.0


def any_constant_will_do(
    constants: tuple[float, ...] = (0.1, 1.0, 3.0), printed_b: float = 0.4
) -> list[Claim]:
    """The cost at epsilon = c K^(4/5) b^(2/5) over K^(4/5) b^(2/5), as b and K vary."""
    spread = 0.0
    for c in constants:
        costs = []
        for b, K in ((1e-8, 2), (1e-6, 5), (1e-4, 2), (1e-3, 3)):
            scale = K**0.8 * b**printed_b
            rate = regret_rate(1.0, K, 1.0, b, c * K**0.8 * b**0.4, 0.05)
            costs.append((rate.misspecification + rate.passive) / scale)
        spread = max(spread, max(costs) / min(costs) - 1.0)
    return [
        Claim(
            key="corollary-1-constant",
            source="Corollary 1",
            statement="With epsilon = c K^(4/5) b^(2/5) for any c, misspecification and passive rounds "
            f"together cost a constant times K^(4/5) b^{shown(printed_b)} a round.",
            computed=f"the constant varies by {spread:.0e} over b and K, for c in {constants}",
            holds=spread < 1e-9,
            note="It is c^(-1/4) + c, and epsilon must stay below 1/2.",
            numbers={"largest_variation": spread},
        )
    ]

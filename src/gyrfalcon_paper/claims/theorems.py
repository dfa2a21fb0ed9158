"""Theorems 1 and 2 and Corollary 1 in numbers: how costs grow, and the best passive share."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gyrfalcon.environments.paper import StepExample
from gyrfalcon.theory import optimal_epsilon, regret_bound, regret_rate, tuned_rate
from gyrfalcon_paper.claims.claim import Finding, at_most

BASE: dict[str, Any] = {"T": 10**12, "K": 2, "comp": 4.0, "b": 1e-4, "epsilon": 0.01, "delta": 0.05}
"""The setting that powers are measured at; T is so large that 1 + log2 T doesn't count."""


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
) -> list[Finding]:
    """Powers of the bound at the end of the proof: of (T, K, d), (T, K, b, epsilon) and (T, epsilon)."""
    return [
        _powers("theorem-1", "estimation", "T, K, comp", estimation),
        _powers("theorem-1", "misspecification", "T, K, b, epsilon", misspecification),
        _powers("theorem-1", "passive", "T, epsilon", passive),
    ]


def powers_of_theorem_2(
    rho: float = 0.6,
    estimation: tuple[float, ...] = (0.7, 0.5, 0.5),
    misspecification: tuple[float, ...] = (1.0, 1.0, 0.5, -0.15),
) -> list[Finding]:
    """Powers of the bound for a slower class: 1 - rho / 2 of T, and -rho / 4 of epsilon."""
    return [
        _powers("theorem-2", "estimation", "T, K, comp", estimation, rho),
        _powers("theorem-2", "misspecification", "T, K, b, epsilon", misspecification, rho),
    ]


def _powers(theorem: str, term: str, names: str, printed: tuple[float, ...], rho: float = 1.0) -> Finding:
    """How a term of the proof's bound grows with each argument, its logarithm of T divided out."""

    def cost(setting: dict[str, Any]) -> float:
        logarithm = math.log(math.log2(setting["T"]) / setting["delta"]) if term == "estimation" else 1.0
        return float(getattr(regret_bound(**setting, rho=rho), term)) / math.sqrt(logarithm)

    found = {f"power_of_{name}": power(cost, name) for name in names.split(", ")}
    return Finding(f"{theorem}-{term}", bool(np.allclose(list(found.values()), printed, atol=1e-6)), found)


def range_of_epsilon(printed_below: float = 1.0) -> list[Finding]:
    """The least active share of an epoch of at least 4 rounds, for passive shares below the printed end.

    Lemma 7 takes it to be at least 1/4. Where a share epsilon is passive, the bound has epsilon T.
    """
    rounds = np.arange(4, 400)[:, np.newaxis]
    epsilon = np.arange(1, 1000) / 1000.0
    active = ((rounds - np.ceil(epsilon * rounds - 1e-9)) / rounds).min(axis=0)
    printed, below = float(active[epsilon < printed_below].min()), float(active[epsilon < 0.5].min())
    cover = float((1.0 / epsilon[epsilon >= 0.5]).max())
    failing = float(epsilon[active < 0.25].min())
    return [
        Finding(
            "theorem-1-epsilon",
            printed >= 0.25,
            {"smallest_share": printed, "too_small_from_epsilon": failing},
        ),
        Finding(
            "theorem-1-epsilon-corrected",
            below >= 0.25 and at_most(cover, 2.0),
            {"smallest_share_below_half": below, "largest_T_over_epsilon_T_from_half": cover},
        ),
    ]


def realizable_rate(printed: float = 0.5) -> list[Finding]:
    """The power of T in Corollary 1's rate where b = 0, its logarithm included."""
    ratio = tuned_rate(4 * 10**12, 2, 4.0, 0.0, 0.05).total / tuned_rate(10**12, 2, 4.0, 0.0, 0.05).total
    found = math.log(ratio) / math.log(4.0)
    return [Finding("realizable-rate", abs(found - printed) < 0.02, {"power_of_T": found})]


def best_passive_share(printed_K: float = 0.8, printed_b: float = 0.4) -> list[Finding]:
    """The epsilon of least rate, by search, and how it and its cost follow K and b."""

    def cost(log_epsilon: float, K: int, b: float) -> float:
        rate = regret_rate(1.0, K, 1.0, b, math.exp(log_epsilon), 0.05)
        return rate.misspecification + rate.passive

    def best(K: int, b: float) -> tuple[float, float]:
        found = _lowest(lambda log_epsilon: cost(log_epsilon, K, b), -30.0, math.log(0.4999))
        return math.exp(found), cost(found, K, b)

    base, more_K, more_b = best(2, 1e-6), best(8, 1e-6), best(2, 1e-4)
    by_K = [math.log(after / before) / math.log(4.0) for before, after in zip(base, more_K, strict=True)]
    by_b = [math.log(after / before) / math.log(100.0) for before, after in zip(base, more_b, strict=True)]
    step = StepExample().b
    names = ("share_power_of_K", "cost_power_of_K", "share_power_of_b", "cost_power_of_b")
    numbers = dict(zip(names, [*by_K, *by_b], strict=True))
    on_step = {"share_on_step_example": best(2, step)[0], "in_closed_form": optimal_epsilon(step, 2)}
    holds = bool(np.allclose([*by_K, *by_b], [printed_K] * 2 + [printed_b] * 2, atol=1e-3))
    return [Finding("corollary-1", holds, {**numbers, **on_step})]


def _lowest(convex: Callable[[float], float], low: float, high: float) -> float:
    """Where a convex function is lowest, by thirds."""
    for _ in range(80):
        first, second = (2.0 * low + high) / 3.0, (low + 2.0 * high) / 3.0
        low, high = (low, second) if convex(first) < convex(second) else (first, high)
    return (low + high) / 2.0


def any_constant_will_do(
    constants: tuple[float, ...] = (0.1, 1.0, 3.0), printed_b: float = 0.4
) -> list[Finding]:
    """The cost at epsilon = c K^(4/5) b^(2/5) over K^(4/5) b^(2/5), as b and K vary."""
    spread = 0.0
    for c in constants:
        costs = []
        for b, K in ((1e-8, 2), (1e-6, 5), (1e-4, 2), (1e-3, 3)):
            rate = regret_rate(1.0, K, 1.0, b, c * K**0.8 * b**0.4, 0.05)
            costs.append((rate.misspecification + rate.passive) / (K**0.8 * b**printed_b))
        spread = max(spread, max(costs) / min(costs) - 1.0)
    return [Finding("corollary-1-constant", spread < 1e-9, {"largest_variation": spread})]

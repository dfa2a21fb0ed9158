"""The end of Theorem 2's proof: sums over epochs against the closed forms that are to cover them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gyrfalcon.theory import RegretBound, epochwise_regret_bound, kappa, regret_bound
from gyrfalcon_paper.claims.claim import Finding, at_most, inequality


def closed_form_covers_the_sum(n_settings: int, share: float = 1.0) -> list[Finding]:
    """Theorem 2's bound as printed, term by term, against the sum over epochs that it stands for."""
    rng = np.random.default_rng(30)
    worst, worst_passive = 0.0, 0.0
    for _ in range(n_settings):
        setting = _random_setting(rng)
        printed, summed = regret_bound(**setting, variant="paper"), epochwise_regret_bound(**setting)
        worst = max(
            worst, *(_over(summed, printed, term) / share for term in ("misspecification", "estimation"))
        )
        worst_passive = max(worst_passive, _over(summed, printed, "passive") / share)
    return [
        inequality("passive-rounds", worst_passive, n_settings),
        inequality("theorem-2-closed-form", worst, n_settings),
    ]


def _over(summed: RegretBound, printed: RegretBound, term: str) -> float:
    right = float(getattr(printed, term))
    return float(getattr(summed, term)) / right if right > 0.0 else 0.0


def _random_setting(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "T": int(10.0 ** rng.uniform(1.0, 12.0)),
        "K": int(rng.integers(2, 20)),
        "comp": float(rng.integers(1, 50)),
        "b": float(10.0 ** rng.uniform(-9.0, -1.0)),
        "epsilon": float(rng.uniform(0.001, 0.49)),
        "delta": float(rng.uniform(1e-6, 0.49)),
        "rho": float(rng.uniform(0.3, 1.0)),
        "rho_prime": float(rng.integers(0, 2)),
        "C": float(10.0 ** rng.uniform(-4.0, 5.0)),
        "tau_1": int(rng.integers(4, 100)),
    }


def integral_step(n_settings: int, printed: float | None = None) -> list[Finding]:
    """The sum over whole epochs against its bound: as printed, 4 T^(1/2) for rho = 1, and corrected."""
    claimed = kappa(1.0, "paper") if printed is None else printed
    rng = np.random.default_rng(31)
    settings = [
        (10**6, 7),
        *((int(10.0 ** rng.uniform(2, 12)), int(rng.integers(4, 100))) for _ in range(n_settings)),
    ]
    worst = max(whole_epochs(T, tau_1) / math.sqrt(T) for T, tau_1 in settings)
    until = max(rounds_until(T, tau_1) / math.sqrt(T) for T, tau_1 in settings)
    numbers = {
        "largest": worst,
        "at_T_1e6_and_tau_1_7": whole_epochs(10**6, 7) / 1e3,
        "largest_until_T": until,
    }
    return [
        Finding("integral-step", at_most(worst, claimed), numbers),
        Finding("integral-step-corrected", at_most(worst, kappa(1.0)), numbers),
    ]


def whole_epochs(T: int, tau_1: int, rho: float = 1.0) -> float:
    """Sum over epochs 2 to m(T), the last one whole, of their rounds over the rounds before to rho / 2.

    >>> whole_epochs(8, 4)
    2.0
    """
    total, n_before, start = 0.0, tau_1, tau_1
    while start < T:
        total += start / math.pow(n_before, rho / 2.0)
        n_before, start = start, 2 * start
    return total


def rounds_until(T: int, tau_1: int) -> float:
    """That sum for rho = 1 without the last epoch's rounds after T.

    >>> rounds_until(6, 4)
    1.0
    """
    last = tau_1
    while 2 * last < T:
        last *= 2
    n_before = last if last == tau_1 else last // 2
    return whole_epochs(last, tau_1) + max(T - last, 0) / math.sqrt(n_before)


def horizon_of_meaning(
    K: int = 2, comp: float = 4.0, b: float = 0.0, epsilon: float = 0.05, delta: float = 0.05
) -> float:
    """The T from which on Theorem 1's bound, with its constants, is below T; infinity if there is none.

    >>> horizon_of_meaning(b=1 / 32)
    inf
    """

    def vacuous(log_T: float) -> bool:
        T = round(10.0**log_T)
        return bool(regret_bound(T, K, comp, b, epsilon, delta).total >= T)

    low, high = 1.0, 40.0
    if vacuous(high):
        return math.inf
    while high - low > 1e-6:
        middle = (low + high) / 2.0
        low, high = (middle, high) if vacuous(middle) else (low, middle)
    return float(10.0**high)

"""Validation of what the paper's theorems and lemmas are stated for."""

from __future__ import annotations

import math
from typing import Literal

from gyrfalcon.core.validation import check_delta, check_epsilon, check_positive, check_whole

Variant = Literal["corrected", "paper"]
"""Steps of the paper's proofs: corrected ones, or those in print."""

DELTA_MAX = math.exp(-math.log(12.0) / (1.0 + math.log(12.0)))
"""The largest delta with ln(12 m^2 / delta) <= (2 + ln 12) ln(m / delta) for every m; m = 1 decides."""


def check_variant(variant: str) -> None:
    """Refuse a variant that is neither of the two."""
    if variant not in {"corrected", "paper"}:
        raise ValueError(f"variant is {variant!r}; choose 'corrected' or 'paper'.")


def check_confidence(delta: float, variant: Variant = "paper") -> None:
    """Refuse a confidence for which the proof, corrected or as printed, does not hold."""
    check_variant(variant)
    check_delta(delta, DELTA_MAX if variant == "corrected" else 0.5)


def check_passive_share(epsilon: float, name: str = "epsilon") -> None:
    """Refuse a passive share outside (0, 0.5): Lemma ConReg needs less than a half, which theorems omit."""
    check_epsilon(epsilon, name, positive=True)


def check_exponents(rho: float, rho_prime: float) -> None:
    """Refuse exponents outside Assumption 1."""
    if not 0.0 < rho <= 1.0:
        raise ValueError(f"rho is {rho}; Assumption 1 has rho in (0, 1], and 1 for a linear class.")
    if not 0.0 <= rho_prime < math.inf:
        raise ValueError(f"rho_prime is {rho_prime}; Assumption 1 has rho' >= 0, and 0 for a linear class.")


def check_actions(K: float) -> None:
    """Refuse fewer than two actions."""
    if not (2 <= K < math.inf and math.floor(K) == K):
        raise ValueError(f"K is {K}; a choice needs a whole number of at least 2 actions.")


def check_misspecification(b: float, K: float, B: float | None = None) -> None:
    """Refuse errors that models and rewards in [0, 1] cannot have (Lemma boundB: b <= B <= K b)."""
    if not 0.0 <= b <= 1.0:
        raise ValueError(f"b is {b}; rewards are in [0, 1], so give a mean squared error in [0, 1].")
    rounding = 1e-9 * K * b
    if B is not None and not b - rounding <= B <= K * b + rounding:
        raise ValueError(f"B is {B}, b {b}; B lies between b and K b = {K * b}, so leave it out if unknown.")


def check_tau_1(tau_1: float) -> None:
    """Refuse a first epoch that is too short for the proof."""
    if not (4 <= tau_1 < math.inf and tau_1 == math.floor(tau_1)):
        raise ValueError(f"tau_1 is {tau_1}; the first epoch needs a whole number of at least 4 rounds.")


def check_theorem(
    T: float,
    K: float,
    comp: float,
    b: float,
    epsilon: float,
    delta: float,
    rho: float,
    rho_prime: float,
    B: float | None,
    variant: Variant,
) -> None:
    """Refuse what Theorems 1 and 2 do not cover."""
    check_whole("T", T, floats=True)
    check_actions(K)
    check_positive("comp", comp)
    check_misspecification(b, K, B)
    check_passive_share(epsilon)
    check_confidence(delta, variant)
    check_exponents(rho, rho_prime)

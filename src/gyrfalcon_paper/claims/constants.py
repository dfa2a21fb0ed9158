"""Steps of the proofs of Lemmas 7 to 11 that are about numbers alone, as printed and as they hold."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gyrfalcon.theory import DELTA_MAX, LINEAR_CONSTANTS, A, active_error_bound, gamma
from gyrfalcon.theory.constants import c_8_first, c_8_second
from gyrfalcon_paper.claims.claim import Finding, agrees, at_most, unless_vacuous

K = LINEAR_CONSTANTS
EPOCHS = range(1, 61)


def range_of_delta(printed: float = 0.5) -> list[Finding]:
    """Whether ln(12 m^2 / delta) <= (2 + ln 12) ln(m / delta) up to the printed delta, and up to DELTA_MAX.

    The largest delta decides, as the ratio of the two sides grows with it.
    """
    return [_log_step("lemma-7-delta", printed), _log_step("lemma-7-delta-corrected", DELTA_MAX)]


def _log_step(key: str, delta: float) -> Finding:
    worst = max(math.log(12.0 * m**2 / delta) / (A * math.log(m / delta)) for m in EPOCHS)
    return Finding(key, at_most(worst, 1.0), {"delta": delta, "largest_ratio": worst})


def active_rows(n_settings: int, printed: float = 0.25) -> list[Finding]:
    """Active rounds of an epoch over all its rounds, for passive shares below 1/2."""
    rng = np.random.default_rng(20)
    n, epsilon = rng.integers(4, 200, size=n_settings), rng.uniform(0.0, 0.5, size=n_settings)
    epsilon[: n_settings // 2] = np.nextafter(0.5, 0.0)
    least = float(((n - np.ceil(epsilon * n)) / n).min())
    return [Finding("lemma-7-active-rows", least >= printed, {"smallest_share": least, "epochs": n_settings})]


def union_over_epochs(printed: float = 0.5) -> list[Finding]:
    """Sum over epochs of 3 delta / (12 m^2), over delta: pi^2 / 24."""
    spent = math.pi**2 / 24.0
    return [Finding("lemma-7-union", at_most(spent, printed), {"share_of_delta": spent})]


def gamma_matches_the_error(n_settings: int, printed: float = 4.0) -> list[Finding]:
    """C_5 ln(m / delta) comp / n against K / (4 gamma^2) of the next epoch."""
    rng = np.random.default_rng(21)
    worst = 0.0
    for _ in range(n_settings):
        n, m, actions = (int(rng.integers(*limits)) for limits in ((4, 10**6), (1, 40), (2, 20)))
        comp, delta = float(rng.integers(1, 50)), min(float(rng.uniform(1e-6, 0.5)), DELTA_MAX)
        error = active_error_bound(n, comp, m, delta, B=0.0)
        following = gamma(n, actions, comp, m + 1, delta)
        worst = max(worst, abs(error * printed * following**2 / actions - 1.0))
    numbers = {"largest_difference": worst, "settings": n_settings, "C_3": K.C_3, "C_5": K.C_5}
    return [Finding("lemma-8-gamma", worst < 1e-9, numbers)]


def ratios_of_logarithms(printed: float = 2.0) -> list[Finding]:
    """ln(m / delta) over ln((m - 1) / delta), and of epoch lengths, for delta up to 1/2."""
    confidence = max(math.log(m / 0.5) / math.log((m - 1) / 0.5) for m in range(2, 61))
    length = max(math.log(2.0 * n) / math.log(n) for n in range(4, 1000))
    numbers = {"of_confidence": confidence, "of_length": length}
    return [Finding("lemma-10-logarithms", at_most(max(confidence, length), printed), numbers)]


def splitting_the_root(printed: float = 5 / 8) -> list[Finding]:
    """The least c with sqrt(V K) / (2 gamma) <= V / (5 gamma) + c K / (2 gamma), twice."""
    ratio = np.linspace(0.0, 10.0, 100_001)  # sqrt(V / K)
    needed = 2.0 * float((ratio / 2.0 - ratio**2 / 5.0).max())
    return [Finding("lemma-11-split", at_most(needed, printed), {"needed": needed})]


def induction_of_c_0(printed_first: float = 5.125, printed_second: float = 2.0) -> list[Finding]:
    """Whether the two halves of Lemma 11's induction give back the C_0 that they assume."""
    return [
        _induction("lemma-11-c0-first", printed_first, (2.0 * printed_first + 5.125) / 3.0),
        _induction("lemma-11-c0-second", printed_second, _second_c_0(printed_second)),
        _induction("lemma-11-c0-corrected", K.C_0, _second_c_0(K.C_0)),
    ]


def _second_c_0(C_0: float) -> float:
    return 0.625 + 0.4 * (1.0 + 2.0 * C_0)


def induction_of_c_8(
    omitted: float = 14.0, chosen: Callable[[float, float], float] = c_8_second
) -> list[Finding]:
    """Whether they give back the C_8 that they assume; `omitted` / 3 sqrt(B) is dropped in the first half."""
    printed = c_8_first(K.C_6, K.C_7, K.C_9, "paper")
    corrected = printed + 14.0
    return [
        _induction("lemma-11-c8-first", printed, (3.0 * printed + omitted) / 3.0),
        _induction("lemma-11-c8-corrected", corrected, (2.0 * corrected + printed + 14.0) / 3.0),
        _second_half(chosen),
    ]


def _second_half(chosen: Callable[[float, float], float]) -> Finding:
    """The second half with a C_8 chosen by C_7 and C_9.

    A choice that the half gives back unchanged whatever C_7 and C_9 are leaves nothing to check.
    """
    assumed = chosen(K.C_7, K.C_9)
    found = _given_back(assumed, K.C_7, K.C_9)
    others = [(1.0, 2.5), (3.0, 4.0), (10.0, 0.1)]
    same = all(agrees(_given_back(chosen(*pair), *pair), chosen(*pair)) for pair in others)
    holds = unless_vacuous(at_most(found, assumed), vacuous=same)
    return Finding("lemma-11-c8-second", holds, {"assumed": assumed, "given_back": found})


def _given_back(C_8: float, C_7: float, C_9: float) -> float:
    """The second half's factor of sqrt(K B / sqrt(epsilon)), summed over the inequalities it combines."""
    from_pi = (C_8 + C_9 * math.sqrt(C_7)) / 5.0
    from_fit = (3.0 * C_8 + C_9 * math.sqrt(C_7)) / 5.0
    return from_pi + from_fit + 2.0 * math.sqrt(C_7) + 3.0 * C_9 / 5.0 + 1.0


def _induction(key: str, assumed: float, found: float) -> Finding:
    return Finding(key, at_most(found, assumed), {"assumed": assumed, "given_back": found})

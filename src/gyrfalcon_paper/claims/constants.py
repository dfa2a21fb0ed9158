"""Steps of the proofs of Lemmas 7 to 11 that are about numbers alone, as printed and as they hold."""

from __future__ import annotations

import math

import numpy as np

from gyrfalcon.theory import DELTA_MAX, LINEAR_CONSTANTS, A, active_error_bound, c_5, gamma
from gyrfalcon.theory.constants import c_8_first, c_8_second
from gyrfalcon_paper.claims.claim import Claim, at_most, shown

K = LINEAR_CONSTANTS
EPOCHS = range(1, 61)


def range_of_delta(printed: float = 0.5) -> list[Claim]:
    """Whether ln(12 m^2 / delta) <= (2 + ln 12) ln(m / delta) up to the printed delta, and up to where."""
    return [_log_step("lemma-7-delta", printed), _log_step("lemma-7-delta-corrected", DELTA_MAX, printed)]


def _log_step(key: str, delta: float, printed: float | None = None) -> Claim:
    """The step at the largest delta, which decides: the ratio of the two sides grows with delta."""
    worst = max(math.log(12.0 * m**2 / delta) / (A * math.log(m / delta)) for m in EPOCHS)
    corrected = "" if printed is None else f"Epoch 1 decides; the paper has delta up to {shown(printed)}."
    return Claim(
        key=key,
        source="Lemma 7, proof" if printed is None else "Lemma 7, corrected",
        statement=f"For delta up to {delta:.4f}, ln(12 m^2 / delta) is at most (2 + ln 12) ln(m / delta) in "
        "every epoch m, which C_4 and C_5 rest on.",
        computed=f"largest ratio of the two sides: {worst:.4f}",
        holds=at_most(worst, 1.0),
        note=corrected or f"It holds for delta up to {DELTA_MAX:.4f}; epoch 1 decides.",
        numbers={"delta": delta, "largest_ratio": worst},
    )


def active_rows(n_settings: int, printed: float = 0.25) -> list[Claim]:
    """Active rounds of an epoch over all its rounds, for passive shares below 1/2."""
    rng = np.random.default_rng(20)
    n, epsilon = rng.integers(4, 200, size=n_settings), rng.uniform(0.0, 0.5, size=n_settings)
    epsilon[: n_settings // 2] = np.nextafter(0.5, 0.0)
    least = float(((n - np.ceil(epsilon * n)) / n).min())
    return [
        Claim(
            key="lemma-7-active-rows",
            source="Lemma 7, proof",
            statement=f"At least a share {shown(printed)} of an epoch's rounds is active, as epsilon is "
            "below 1/2 and epochs have at least 4 rounds.",
            computed=f"smallest share {shown(least)} in {n_settings:,} epochs",
            holds=least >= printed,
            numbers={"smallest_share": least},
        )
    ]


def union_over_epochs(printed: float = 0.5) -> list[Claim]:
    """Sum over epochs of 3 delta / (12 m^2), over delta."""
    spent = math.pi**2 / 24.0
    return [
        Claim(
            key="lemma-7-union",
            source="Lemma 7, proof",
            statement="Three events of probability delta / (12 m^2) in every epoch take at most "
            f"{shown(printed)} delta.",
            computed=f"they take pi^2 / 24 = {shown(spent)} of delta",
            holds=at_most(spent, printed),
            numbers={"share_of_delta": spent},
        )
    ]


def gamma_matches_the_error(n_settings: int, printed: float = 4.0) -> list[Claim]:
    """C_5 ln(m / delta) comp / n against K / (4 gamma^2) of the next epoch."""
    rng = np.random.default_rng(21)
    worst = 0.0
    for _ in range(n_settings):
        n, m, actions = (int(rng.integers(*limits)) for limits in ((4, 10**6), (1, 40), (2, 20)))
        comp, delta = float(rng.integers(1, 50)), float(rng.uniform(1e-6, 0.5))
        error = active_error_bound(n, comp, m, min(delta, DELTA_MAX), B=0.0)
        following = gamma(n, actions, comp, m + 1, min(delta, DELTA_MAX))
        worst = max(worst, abs(error * printed * following**2 / actions - 1.0))
    return [
        Claim(
            key="lemma-8-gamma",
            source="Lemma 8, proof",
            statement="With C_3 = 1 / (4 C_5), the estimation error that Lemma 7 allows after epoch m is "
            f"K / ({shown(printed)} gamma^2) with the next gamma.",
            computed=f"largest relative difference {worst:.0e} in {n_settings:,} settings; C_5 = "
            f"{shown(c_5())}, C_3 = {shown(K.C_3)} for lines",
            holds=worst < 1e-9,
            numbers={"largest_difference": worst, "C_3": K.C_3, "C_5": K.C_5},
        )
    ]


def ratios_of_logarithms(printed: float = 2.0) -> list[Claim]:
    """ln(m / delta) over ln((m - 1) / delta), and of epoch lengths, for delta up to 1/2."""
    confidence = max(math.log(m / 0.5) / math.log((m - 1) / 0.5) for m in range(2, 61))
    length = max(math.log(2.0 * n) / math.log(n) for n in range(4, 1000))
    return [
        Claim(
            key="lemma-10-logarithms",
            source="Lemma 10, proof",
            statement="From one epoch to the next, for delta up to 1/2, ln(m / delta) and the logarithm of "
            f"the epoch's length grow by a factor of at most {shown(printed)}, which C_7 rests on.",
            computed=f"by at most {shown(confidence)} and {shown(length)}",
            holds=at_most(max(confidence, length), printed),
            numbers={"ln_confidence": confidence, "ln_length": length},
        )
    ]


def splitting_the_root(printed: float = 5 / 8) -> list[Claim]:
    """The least c with sqrt(V K) / (2 gamma) <= V / (5 gamma) + c K / (2 gamma), twice."""
    ratio = np.linspace(0.0, 10.0, 100_001)  # sqrt(V / K)
    needed = 2.0 * float((ratio / 2.0 - ratio**2 / 5.0).max())
    return [
        Claim(
            key="lemma-11-split",
            source="Lemma 11, proof",
            statement="The two roots of the prediction errors are at most V / (5 gamma) each plus "
            f"{shown(printed)} K / gamma together.",
            computed=f"needed: {shown(needed)}",
            holds=at_most(needed, printed),
            numbers={"needed": needed},
        )
    ]


def induction_of_c_0(printed_first: float = 5.125, printed_second: float = 2.0) -> list[Claim]:
    """Whether the two halves of Lemma 11's induction give back the C_0 that they assume."""
    least = (0.625 + 0.4) / (1.0 - 0.8)
    needed = f"both halves need C_0 to be at least {shown(least)}"
    first = _induction("C_0", "lemma-11-c0-first", "first", printed_first, _first_c_0(printed_first), needed)
    second = _induction(
        "C_0", "lemma-11-c0-second", "second", printed_second, _second_c_0(printed_second), needed
    )
    mended = _induction("C_0", "lemma-11-c0-corrected", "second", K.C_0, _second_c_0(K.C_0), needed)
    return [first, second, mended]


def _first_c_0(C_0: float) -> float:
    return (2.0 * C_0 + 5.125) / 3.0


def _second_c_0(C_0: float) -> float:
    return 0.625 + 0.4 * (1.0 + 2.0 * C_0)


def induction_of_c_8(omitted: float = 14.0) -> list[Claim]:
    """The same for C_8; `omitted` / 3 sqrt(B) stands in the first half and is dropped when C_8 is chosen."""
    printed = c_8_first(K.C_6, K.C_7, K.C_9, "paper")
    mended, second = printed + 14.0, c_8_second(K.C_7, K.C_9)
    dropped = "14/3 sqrt(B) is dropped; + 14 takes it in"
    return [
        _induction("C_8", "lemma-11-c8-first", "first", printed, (3.0 * printed + omitted) / 3.0, dropped),
        _induction(
            "C_8",
            "lemma-11-c8-corrected",
            "first",
            mended,
            (2.0 * mended + printed + 14.0) / 3.0,
            "corrected by + 14; the second half asks for more than either, so that the theorem's C_8 stands",
        ),
        _induction("C_8", "lemma-11-c8-second", "second", second, (4.0 * second + second) / 5.0, ""),
    ]


def _induction(name: str, key: str, half: str, assumed: float, found: float, note: str) -> Claim:
    return Claim(
        key=key,
        source="Lemma 11, corrected" if key.endswith("corrected") else "Lemma 11, proof",
        statement=f"With {name} = {shown(assumed)}, the {half} half of the induction gives back no more.",
        computed=f"it gives back {shown(found)}",
        holds=at_most(found, assumed),
        note=note[:1].upper() + note[1:] + "." if note else "",
        numbers={"assumed": assumed, "given_back": found},
    )

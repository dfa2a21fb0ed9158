"""What changes from epoch to epoch: gamma, the slack, and the step of Lemma 10 that needs a growing gamma."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.theory import LINEAR_CONSTANTS, gamma, unit_slack
from gyrfalcon_paper.claims.claim import Finding, inequality
from gyrfalcon_paper.claims.finite import (
    Finite,
    count,
    largest,
    random_problems,
    weighted_by_gaps,
)


def gamma_grows(delta: float = 0.05, tau_1: int = 4) -> list[Finding]:
    """gamma_{m+1} over gamma_m, from epoch 2 on as the proof has it, and from epoch 3 on."""
    n_before = [0, tau_1, *(tau_1 * 2**step for step in range(40))]
    gammas = [gamma(n, 2, 4.0, m, delta) for m, n in enumerate(n_before, start=1)]
    growth = np.array(gammas[1:]) / np.array(gammas[:-1])  # growth[j] is gamma_{j+2} over gamma_{j+1}
    known = {
        "gamma_3_over_gamma_2": float(growth[1]),
        "gamma_2": gammas[1],
        "C_0_K": 2.0 * LINEAR_CONSTANTS.C_0,
    }
    return [
        Finding(key, least >= 1.0, {"smallest_growth": least, **known})
        for key, first in (("gamma-grows", 2), ("gamma-grows-corrected", 3))
        for least in [float(growth[first - 1 :].min())]
    ]


def stability_step(n_problems: int, growth: float = 1.0, delta: float = 0.05) -> list[Finding]:
    """V(p_m, pi) <= K + V(p_{m+1}, pi) + 2 gamma_m E max |f_{m+1} - f_m|, if gamma grows by a factor."""
    fall = gamma(100, 2, 4.0, 3, delta) / gamma(100, 2, 4.0, 2, delta)
    problems = random_problems(n_problems, seed=22)
    worst, as_from_2_to_3 = (_stability(problems, factor) for factor in (growth, fall))
    return [
        inequality(
            "lemma-10-step",
            worst,
            count(problems),
            change_from_2_to_3=fall,
            largest_ratio_with_it=as_from_2_to_3,
        )
    ]


def _stability(problems: list[Finite], growth: float) -> float:
    rng = np.random.default_rng(22)

    def ratio(part: Finite) -> Floats:
        size = 10.0 ** rng.uniform(-6.0, 0.0, size=(len(part), 1, 1))
        change = size * rng.standard_normal(part.model.shape)
        after = part.divergence(weighted_by_gaps(part.model + change, growth * part.gamma))
        allowed = part.k + 2.0 * part.gamma * part.mean(np.abs(change).max(axis=2))
        return np.asarray(part.divergence(part.play) / (allowed[:, np.newaxis] + after))

    return largest(problems, ratio)


def forms_of_gamma(delta: float = 0.05, printed: float = 1.0) -> list[Finding]:
    """The body's gamma, with ln(m / delta), over the appendix's, with ln((m - 1) / delta)."""
    ratios = [
        gamma(1000, 2, 4.0, m, delta, form="body") / gamma(1000, 2, 4.0, m, delta) for m in range(2, 60)
    ]
    holds = min(ratios) > 0.5 and max(ratios) <= printed
    return [Finding("gamma-forms", holds, {"smallest_ratio": min(ratios), "largest_ratio": max(ratios)})]


def slack_shrinks(
    delta: float = 0.05, epsilon: float = 0.1, tau_1: int = 40, ratio: int = 2
) -> list[Finding]:
    """What is left of the slack after 40 epochs, each `ratio` times as long as the one before."""
    slacks = _slacks(tau_1, epsilon, delta, n_epochs=40, ratio=ratio)
    left = slacks[-1] / slacks[0]
    return [Finding("constraint-shrinks", left < 1e-6, {"left_after_40_epochs": left})]


def slack_falls(threshold: float = 0.5) -> list[Finding]:
    """Whether, from epoch 2 on, the slack falls after an epoch if and only if its epsilon n is above 1/2."""
    settings = list(product((4, 5, 7, 40, 100), (0.001, 0.01, 0.05, 0.1, 0.3, 0.49), (1e-3, 0.05, 0.49)))
    wrong = sum(_is_wrong(*setting, threshold) for setting in settings)
    early = [after / before for before, after in pairwise(_slacks(4, 0.05, 0.05, n_epochs=5))]
    numbers = {f"ratio_after_epoch_{m}": ratio for m, ratio in enumerate(early, start=1)}
    return [Finding("slack-falls", wrong == 0, {"exceptions": wrong, "settings": len(settings), **numbers})]


def _is_wrong(tau_1: int, epsilon: float, delta: float, threshold: float) -> bool:
    slacks = _slacks(tau_1, epsilon, delta, n_epochs=30)
    rounds = [tau_1, *(tau_1 * 2**step for step in range(29))]
    falls = [after < before for before, after in pairwise(slacks)]
    return any(
        fell != (epsilon * n > threshold + 1e-9) for fell, n in zip(falls[1:], rounds[1:-1], strict=True)
    )


def _slacks(tau_1: int, epsilon: float, delta: float, n_epochs: int, ratio: int = 2) -> list[float]:
    """Slacks of all epochs over C_1; epochs 1 and 2 have tau_1 rounds, later ones `ratio` times as many."""
    lengths = [tau_1, *(tau_1 * ratio**step for step in range(n_epochs - 1))]
    return [unit_slack(math.ceil(epsilon * n - 1e-9), 4.0, m, delta) for m, n in enumerate(lengths, start=1)]

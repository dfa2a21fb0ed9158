"""What changes from epoch to epoch: gamma, the slack, and the step of Lemma 10 that needs a growing gamma."""

from __future__ import annotations

import math

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.theory import LINEAR_CONSTANTS, gamma, unit_slack
from gyrfalcon_paper.claims.claim import Claim, inequality, shown
from gyrfalcon_paper.claims.finite import (
    Finite,
    count,
    largest,
    random_problems,
    weighted_by_gaps,
)

K = LINEAR_CONSTANTS


def gamma_grows(delta: float = 0.05, tau_1: int = 4) -> list[Claim]:
    """gamma_{m+1} over gamma_m, from epoch 2 on as the proof has it, and from epoch 3 on."""
    n_before = [0, tau_1, *(tau_1 * 2**step for step in range(40))]
    gammas = [gamma(n, 2, 4.0, m, delta) for m, n in enumerate(n_before, start=1)]
    growth = np.array(gammas[1:]) / np.array(gammas[:-1])
    return [
        _growth("gamma-grows", "Lemma 10, proof", growth, 2, gammas),
        _growth("gamma-grows-corrected", "Lemma 10, corrected", growth, 3, gammas),
    ]


def _growth(key: str, source: str, growth: Floats, first: int, gammas: list[float]) -> Claim:
    """Whether gamma never falls from epoch `first` on; growth[j] is gamma_{j+2} over gamma_{j+1}."""
    least = float(growth[first - 1 :].min())
    harmless = f"While gamma_2 is at most C_0 K = {shown(2.0 * K.C_0)}, the lemmas stand all the same; here "
    return Claim(
        key=key,
        source=source,
        statement=f"gamma never falls from one epoch to the next, from epoch {first} on.",
        computed=f"smallest growth {shown(least)}; gamma_3 over gamma_2 is {shown(float(growth[1]))}",
        holds=least >= 1.0,
        note="Epochs 1 and 2 are equally long, while the logarithm grows. "
        + harmless
        + f"it is {gammas[1]:.1e}. (gamma_1 = 1 multiplies a model of 0.)",
        numbers={"smallest_growth": least, "gamma_3_over_gamma_2": float(growth[1]), "gamma_2": gammas[1]},
    )


def stability_step(n_problems: int, growth: float = 1.0, delta: float = 0.05) -> list[Claim]:
    """V(p_m, pi) <= K + V(p_{m+1}, pi) + 2 gamma_m E max |f_{m+1} - f_m|, if gamma grows by a factor.

    The second claim is the same for the factor by which gamma falls from epoch 2 to 3.
    """
    fall = gamma(100, 2, 4.0, 3, delta) / gamma(100, 2, 4.0, 2, delta)
    return [
        _stability("lemma-10-step", n_problems, growth, _change(growth)),
        _stability(
            "lemma-10-step-epoch-2", n_problems, fall, f"gamma changes by {shown(fall)}, as from epoch 2 to 3"
        ),
    ]


def _change(growth: float) -> str:
    return "gamma does not fall" if growth == 1.0 else f"gamma changes by {shown(growth)}"


def _stability(key: str, n_problems: int, growth: float, when: str) -> Claim:
    problems, rng = random_problems(n_problems, seed=22), np.random.default_rng(22)

    def ratio(part: Finite) -> Floats:
        size = 10.0 ** rng.uniform(-6.0, 0.0, size=(len(part), 1, 1))
        change = size * rng.standard_normal(part.model.shape)
        after = part.divergence(weighted_by_gaps(part.model + change, growth * part.gamma))
        allowed = part.k + 2.0 * part.gamma * part.mean(np.abs(change).max(axis=2))
        return np.asarray(part.divergence(part.play) / (allowed[:, np.newaxis] + after))

    return inequality(
        key,
        "Lemma 10, proof",
        f"When {when}, V of any policy falls by at most K plus twice gamma times the mean of the largest "
        "change of the model.",
        largest(problems, ratio),
        count(problems),
        "The step needs a gamma that never falls." if growth < 1.0 else "",
    )


def forms_of_gamma(delta: float = 0.05, printed: float = 1.0) -> list[Claim]:
    """The body's gamma, with ln(m / delta), over the appendix's, with ln((m - 1) / delta)."""
    ratios = [
        gamma(1000, 2, 4.0, m, delta, form="body") / gamma(1000, 2, 4.0, m, delta) for m in range(2, 60)
    ]
    return [
        Claim(
            key="gamma-forms",
            source="Section 2, gamma",
            statement="gamma in the body, up to a constant, is gamma in the appendix.",
            computed=f"their ratio lies between {shown(min(ratios))} and {shown(max(ratios))}",
            holds=min(ratios) > 0.5 and max(ratios) <= printed,
            note="The body has ln(m / delta), the appendix ln((m - 1) / delta), which its proof needs.",
            numbers={"smallest_ratio": min(ratios), "largest_ratio": max(ratios)},
        )
    ]


def slack_shrinks(delta: float = 0.05, epsilon: float = 0.1, tau_1: int = 40) -> list[Claim]:
    """The slack of each epoch over that of the one before, from epoch 1 and from epoch 2 on."""
    lengths = [tau_1, *(tau_1 * 2**step for step in range(40))]
    slacks = np.array(
        [unit_slack(math.ceil(epsilon * n - 1e-9), 4.0, m, delta) for m, n in enumerate(lengths, start=1)]
    )
    return [_shrinks("constraint-shrinks", slacks, 1), _shrinks("constraint-shrinks-corrected", slacks, 2)]


def _shrinks(key: str, slacks: Floats, first: int) -> Claim:
    worst = float((slacks[first:] / slacks[first - 1 : -1]).max())
    left = float(slacks[-1] / slacks[0])
    return Claim(
        key=key,
        source="Section 2, Figure 4" if first == 1 else "Section 2, corrected",
        statement=f"The slack, and with it the constraint set, shrinks with every epoch from epoch {first} "
        "on, towards 0.",
        computed=f"largest ratio of a slack to the one before: {shown(worst)}; after 40 epochs {left:.0e} of "
        "the first is left",
        holds=worst < 1.0 and left < 1e-6,
        note="Epochs 1 and 2 have equally many passive rows, while ln(12 m^2 / delta) grows; from then on "
        "rows double.",
        numbers={"largest_ratio": worst, "left_after_40": left},
    )

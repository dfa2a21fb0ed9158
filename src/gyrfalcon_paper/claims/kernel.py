"""Inverse gap weighting and the policies behind it: Lemmas 1 to 6 over every policy of random problems."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon_paper.claims.claim import Claim, at_most, inequality, shown, times
from gyrfalcon_paper.claims.finite import (
    Finite,
    count,
    largest,
    random_problems,
    weighted_by_gaps,
)


def good_actions_are_played_more(n_problems: int, printed_least: float = 1.0) -> list[Claim]:
    """Probabilities that sum to 1, follow the scores, and leave the best action 1 / K at least."""
    problems = random_problems(n_problems, seed=1)
    off = largest(problems, lambda part: np.abs(part.play.sum(axis=2) - 1.0))
    least = largest(problems, lambda part: printed_least / part.k / part.play.max(axis=2))
    against = sum(int(_inversions(part).sum()) for part in problems)
    return [
        Claim(
            key="kernel-order",
            source="Section 2, equation of the kernel",
            statement="The kernel is a distribution that gives the actions predicted to be better a higher "
            f"probability, the best one at least {shown(printed_least)} / K.",
            computed=f"sums are off 1 by {off:.0e}, {against} pairs of actions are out of order, and the "
            f"promised share is at most {shown(least)} of the best action's, in {count(problems):,} problems",
            holds=off < 1e-12 and against == 0 and at_most(least, 1.0),
            numbers={"off_1": off, "out_of_order": against, "promised_over_played": least},
        )
    ]


def larger_gamma_explores_less(n_problems: int, factor: float = 2.0) -> list[Claim]:
    """The probability of the best action before and after gamma grows by a factor."""
    problems = random_problems(n_problems, seed=2)

    def fall(part: Finite) -> Floats:
        after = weighted_by_gaps(part.model, factor * part.gamma)
        return np.asarray(part.play.max(axis=2) - after.max(axis=2))

    worst = largest(problems, fall)
    return [
        Claim(
            key="kernel-gamma",
            source="Section 2, equation of the kernel",
            statement="A higher gamma means less exploration.",
            computed=f"with {shown(factor)} times gamma the best action's probability falls by at most "
            f"{shown(max(worst, 0.0))}, in {count(problems):,} problems",
            holds=worst <= 1e-12,
            numbers={"largest_fall": worst, "factor": factor},
        )
    ]


def policies_behind_the_kernel(n_problems: int) -> list[Claim]:
    """Sum over policies that play a of Q_p(pi), against p(a | x)."""
    problems = random_problems(n_problems, seed=3)

    def off(part: Finite) -> Floats:
        play = part.play
        plays = part.choices[:, :, np.newaxis] == np.arange(part.k)
        return np.asarray(np.abs(np.einsum("ip,pnk->ink", part.chances(play), plays) - play))

    worst = largest(problems, off)
    return [
        Claim(
            key="policies-behind-kernel",
            source="Appendix A.1, equation of p and Q",
            statement="A policy drawn from the product measure Q plays action a in context x with "
            "probability p(a | x).",
            computed=f"largest difference {worst:.0e} over all actions of {count(problems):,} problems",
            holds=worst < 1e-12,
            numbers={"largest_difference": worst},
        )
    ]


def worst_error_bound(n_problems: int, printed: float = 1.0) -> list[Claim]:
    """E_p (f - f*)^2 <= B <= K b."""
    problems = random_problems(n_problems, seed=4)

    def over_worst(part: Finite) -> Floats:
        squares = (part.model - part.truth) ** 2
        return _ratio(part.value(squares).max(axis=1), part.mean(squares.max(axis=2)))

    def over_k_b(part: Finite) -> Floats:
        squares = (part.model - part.truth) ** 2
        return _ratio(part.mean(squares.max(axis=2)), printed * part.mean(squares.sum(axis=2)))

    worst = max(largest(problems, over_worst), largest(problems, over_k_b))
    return [
        inequality(
            "lemma-1",
            "Lemma 1",
            "The squared error of the best model under any play is at most B, and B at most "
            f"{times(printed, 'K b')}.",
            worst,
            count(problems),
            "Checked for any model; B = K b where one action errs at a time, as in both of the paper's "
            "examples.",
        )
    ]


def best_models_regret(n_problems: int, printed: float = 2.0) -> list[Claim]:
    """Reg of the policy of a projected truth, against 2 sqrt(B)."""
    problems = random_problems(n_problems, seed=5)
    rng = np.random.default_rng(5)

    def ratio(part: Finite) -> Floats:
        best = projected(part, rng)
        chosen = np.eye(part.k)[best.argmax(axis=2)]
        regret = part.mean((chosen * (part.truth.max(axis=2, keepdims=True) - part.truth)).sum(axis=2))
        return _ratio(regret, printed * np.sqrt(part.mean(((best - part.truth) ** 2).max(axis=2))))

    return [
        inequality(
            "lemma-2",
            "Lemma 2",
            f"The policy of the best in-class model has a regret of at most {shown(printed)} sqrt(B).",
            largest(problems, ratio),
            count(problems),
            "The best models are projections of the truth on a random plane.",
        )
    ]


def regret_of_play(n_problems: int) -> list[Claim]:
    """The expected regret of a round, against the mean regret of policies drawn from Q."""
    problems = random_problems(n_problems, seed=6)

    def off(part: Finite) -> Floats:
        play = part.play
        by_policies = (part.chances(play) * part.regret(part.truth)).sum(axis=1)
        gaps = part.truth.max(axis=2, keepdims=True) - part.truth
        return np.asarray(np.abs(by_policies - part.mean((play * gaps).sum(axis=2))))

    worst = largest(problems, off)
    return [
        Claim(
            key="lemma-3",
            source="Lemma 3",
            statement="The expected regret of an active round is the mean regret of a policy drawn from Q.",
            computed=f"largest difference {worst:.0e} in {count(problems):,} random problems",
            holds=worst < 1e-12,
            numbers={"largest_difference": worst},
        )
    ]


def estimated_regret_of_play(n_problems: int, printed: float = 1.0) -> list[Claim]:
    """Mean of Reg_f over Q, against K / gamma."""
    problems = random_problems(n_problems, seed=7)

    def ratio(part: Finite) -> Floats:
        mean = (part.chances(part.play) * part.regret(part.model)).sum(axis=1)
        return np.asarray(mean * part.gamma / (printed * part.k))

    def sharper(part: Finite) -> Floats:
        return ratio(part) * printed * part.k / (part.k - 1.0)

    return [
        inequality(
            "lemma-4",
            "Lemma 4",
            f"By its own model, play has a regret of at most {times(printed, 'K / gamma')}.",
            largest(problems, ratio),
            count(problems),
            f"It is at most {shown(largest(problems, sharper))} of (K - 1) / gamma: the best action has no "
            "gap.",
        )
    ]


def root_divergence_of_play(n_problems: int, printed: float = 0.5) -> list[Claim]:
    """Mean of sqrt(V(p, pi)) over Q, against sqrt(K)."""
    problems = random_problems(n_problems, seed=8)

    def ratio(part: Finite) -> Floats:
        play = part.play
        return np.asarray((part.chances(play) * np.sqrt(part.divergence(play))).sum(axis=1) / part.k**printed)

    return [
        inequality(
            "lemma-5",
            "Lemma 5",
            f"The mean over Q of the root of V(p, pi) is at most K to the power of {shown(printed)}.",
            largest(problems, ratio),
            count(problems),
        )
    ]


def divergence_bounds(n_problems: int, printed: float = 1.0) -> list[Claim]:
    """Gamma Reg_f(pi) <= V(p, pi) <= K + gamma Reg_f(pi)."""
    problems = random_problems(n_problems, seed=9)

    def ratio(part: Finite) -> Floats:
        scaled = part.gamma[:, np.newaxis] * part.regret(part.model)
        divergence = part.divergence(part.play)
        return np.maximum(scaled / divergence, divergence / (printed * part.k + scaled))

    return [
        inequality(
            "lemma-6",
            "Lemma 6",
            "V(p, pi) lies between gamma times the estimated regret of pi and that plus "
            f"{times(printed, 'K')}, for every policy.",
            largest(problems, ratio),
            count(problems),
        )
    ]


def projected(part: Finite, rng: np.random.Generator, dimension: int = 2) -> Floats:
    """The best model of a random linear class under uniform play: f*, projected, (N, n, K)."""
    n_problems, n, k = part.truth.shape
    roots = np.sqrt(np.repeat(part.weights, k, axis=1))[:, :, np.newaxis]
    basis, _ = np.linalg.qr(roots * rng.standard_normal((n_problems, n * k, dimension)))
    target = roots * part.truth.reshape(n_problems, n * k, 1)
    return np.asarray((basis @ (np.swapaxes(basis, 1, 2) @ target) / roots).reshape(part.truth.shape))


def _inversions(part: Finite) -> Floats:
    """Which pairs of actions have a higher score and a lower probability."""
    scores = part.model[:, :, :, np.newaxis] - part.model[:, :, np.newaxis, :]
    play = part.play
    return np.asarray((scores > 0.0) & (play[:, :, :, np.newaxis] < play[:, :, np.newaxis, :] - 1e-12))


def _ratio(left: Floats, right: Floats) -> Floats:
    """The ratio; 0 where left is 0, to the last digit of rewards of at most 1."""
    return np.asarray(np.divide(left, right, out=np.zeros_like(left), where=left > 1e-14))

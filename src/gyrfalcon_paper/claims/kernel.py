"""Inverse gap weighting and the policies behind it: Lemmas 1 to 6 over every policy of random problems."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon_paper.claims.claim import Finding, at_most, inequality
from gyrfalcon_paper.claims.finite import (
    Finite,
    count,
    largest,
    random_problems,
    weighted_by_gaps,
)


def good_actions_are_played_more(n_problems: int, printed_least: float = 1.0) -> list[Finding]:
    """Probabilities that sum to 1, follow the scores, and leave the best action 1 / K at least."""
    problems = random_problems(n_problems, seed=1)
    off = largest(problems, lambda part: np.abs(part.play.sum(axis=2) - 1.0))
    least = largest(problems, lambda part: printed_least / part.k / part.play.max(axis=2))
    against = sum(int(_inversions(part).sum()) for part in problems)
    numbers = {
        "sums_off_1": off,
        "pairs_out_of_order": against,
        "promised_over_played": least,
        "problems": count(problems),
    }
    return [Finding("kernel-order", off < 1e-12 and against == 0 and at_most(least, 1.0), numbers)]


def larger_gamma_explores_less(n_problems: int, factor: float = 2.0) -> list[Finding]:
    """The probability of the best action before and after gamma grows by a factor."""
    problems = random_problems(n_problems, seed=2)

    def fall(part: Finite) -> Floats:
        after = weighted_by_gaps(part.model, factor * part.gamma)
        return np.asarray(part.play.max(axis=2) - after.max(axis=2))

    worst = largest(problems, fall)
    numbers = {"factor": factor, "largest_fall_of_best_action": worst, "problems": count(problems)}
    return [Finding("kernel-gamma", worst <= 1e-12, numbers)]


def policies_behind_the_kernel(n_problems: int, gamma: float = 1.0) -> list[Finding]:
    """Sum over policies that play a of Q_p(pi), against p(a | x) with `gamma` times the same gamma."""

    def off(part: Finite) -> Floats:
        plays = part.choices[:, :, np.newaxis] == np.arange(part.k)
        other = weighted_by_gaps(part.model, gamma * part.gamma)
        return np.asarray(np.abs(np.einsum("ip,pnk->ink", part.chances(part.play), plays) - other))

    return [_identity("policies-behind-kernel", random_problems(n_problems, seed=3), off)]


def worst_error_bound(n_problems: int, printed: float = 1.0) -> list[Finding]:
    """E_p (f - f*)^2 <= B <= K b."""
    problems = random_problems(n_problems, seed=4)

    def over_worst(part: Finite) -> Floats:
        squares = (part.model - part.truth) ** 2
        return _ratio(part.value(squares).max(axis=1), part.mean(squares.max(axis=2)))

    def over_k_b(part: Finite) -> Floats:
        squares = (part.model - part.truth) ** 2
        return _ratio(part.mean(squares.max(axis=2)), printed * part.mean(squares.sum(axis=2)))

    worst = max(largest(problems, over_worst), largest(problems, over_k_b))
    return [inequality("lemma-1", worst, count(problems))]


def best_models_regret(n_problems: int, printed: float = 2.0) -> list[Finding]:
    """Reg of the policy of a projected truth, against 2 sqrt(B)."""
    problems = random_problems(n_problems, seed=5)
    rng = np.random.default_rng(5)

    def ratio(part: Finite) -> Floats:
        best = projected(part, rng)
        chosen = np.eye(part.k)[best.argmax(axis=2)]
        regret = part.mean((chosen * (part.truth.max(axis=2, keepdims=True) - part.truth)).sum(axis=2))
        return _ratio(regret, printed * np.sqrt(part.mean(((best - part.truth) ** 2).max(axis=2))))

    return [inequality("lemma-2", largest(problems, ratio), count(problems))]


def regret_of_play(n_problems: int, gamma: float = 1.0) -> list[Finding]:
    """Expected regret of a round, with `gamma` times its gamma, against that of policies drawn from Q."""

    def off(part: Finite) -> Floats:
        by_policies = (part.chances(part.play) * part.regret(part.truth)).sum(axis=1)
        gaps = part.truth.max(axis=2, keepdims=True) - part.truth
        played = weighted_by_gaps(part.model, gamma * part.gamma)
        return np.asarray(np.abs(by_policies - part.mean((played * gaps).sum(axis=2))))

    return [_identity("lemma-3", random_problems(n_problems, seed=6), off)]


def estimated_regret_of_play(n_problems: int, printed: float = 1.0) -> list[Finding]:
    """Mean of Reg_f over Q, against K / gamma."""
    problems = random_problems(n_problems, seed=7)

    def ratio(part: Finite) -> Floats:
        mean = (part.chances(part.play) * part.regret(part.model)).sum(axis=1)
        return np.asarray(mean * part.gamma / (printed * part.k))

    def sharper(part: Finite) -> Floats:
        return ratio(part) * printed * part.k / (part.k - 1.0)

    ratios = largest(problems, ratio), largest(problems, sharper)
    return [inequality("lemma-4", ratios[0], count(problems), largest_ratio_with_K_less_1=ratios[1])]


def root_divergence_of_play(n_problems: int, printed: float = 0.5) -> list[Finding]:
    """Mean of sqrt(V(p, pi)) over Q, against sqrt(K)."""
    problems = random_problems(n_problems, seed=8)

    def ratio(part: Finite) -> Floats:
        play = part.play
        return np.asarray((part.chances(play) * np.sqrt(part.divergence(play))).sum(axis=1) / part.k**printed)

    return [inequality("lemma-5", largest(problems, ratio), count(problems))]


def divergence_bounds(n_problems: int, printed: float = 1.0) -> list[Finding]:
    """Gamma Reg_f(pi) <= V(p, pi) <= K + gamma Reg_f(pi)."""
    problems = random_problems(n_problems, seed=9)

    def ratio(part: Finite) -> Floats:
        scaled = part.gamma[:, np.newaxis] * part.regret(part.model)
        divergence = part.divergence(part.play)
        return np.maximum(scaled / divergence, divergence / (printed * part.k + scaled))

    return [inequality("lemma-6", largest(problems, ratio), count(problems))]


def _identity(key: str, problems: list[Finite], off: Callable[[Finite], Floats]) -> Finding:
    """The finding that two sides are equal, from their largest difference over random problems."""
    worst = largest(problems, off)
    return Finding(key, worst < 1e-12, {"largest_difference": worst, "problems": count(problems)})


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

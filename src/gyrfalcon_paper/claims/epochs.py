"""Lemmas 8 to 12: epochs of random problems whose fits are as wrong as the oracle's guarantee allows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.theory import DELTA_MAX, LINEAR_CONSTANTS
from gyrfalcon_paper.claims.claim import Finding, inequality
from gyrfalcon_paper.claims.finite import Finite, count, random_problems, weighted_by_gaps
from gyrfalcon_paper.claims.kernel import projected

N_EPOCHS = 10


@dataclass(frozen=True, slots=True)
class Setting:
    """What N problems are played with: passive shares, gammas of all epochs, the best model and its B."""

    epsilon: Floats
    """(N,)."""
    gamma: Floats
    """(N_EPOCHS + 1, N): gamma_1, gamma_2, ..."""
    best: Floats
    """(N, n, K): fhat*."""
    worst: Floats
    """(N,): B."""

    @property
    def price(self) -> Floats:
        """sqrt(K B / sqrt(epsilon)), (N,)."""
        return np.asarray(np.sqrt(self.best.shape[2] * self.worst / np.sqrt(self.epsilon)))


@dataclass(frozen=True, slots=True)
class Step:
    """Epoch m of N problems, and the fit at its end."""

    number: int
    """m."""
    model: Floats
    """f_m, (N, n, K)."""
    play: Floats
    """p_m, (N, n, K)."""
    after: Floats
    """f_{m+1}, (N, n, K)."""


def lemmas_of_epochs(
    n_problems: int,
    C_0: float = LINEAR_CONSTANTS.C_0,
    C_6: float = LINEAR_CONSTANTS.C_6,
    C_7: float = LINEAR_CONSTANTS.C_7,
    C_8: float = LINEAR_CONSTANTS.C_8,
    C_9: float = LINEAR_CONSTANTS.C_9,
    half: float = 0.5,
) -> list[Finding]:
    """Lemmas 8 to 12 with these constants, on the event of Lemma 7; rho = 1 and rho' = 0.

    Only the products of C with other constants enter, so that gamma may have any size: gamma_2 is drawn up to
    C_0 K, up to which gamma_3 < gamma_2 does no harm. `half` is the 1/2 of Lemma 8.
    """
    problems = random_problems(n_problems, seed=10)

    def ratios(part: Finite, setting: Setting, step: Step) -> dict[int, Floats]:
        return {
            8: _accuracy(part, setting, step, half),
            9: _best_policy(part, setting, step, C_6),
            10: _stability(part, setting, step, C_7),
            11: _regrets(part, setting, step, C_0, C_8, C_9),
            12: _true_regret(part, setting, step, 2.0 + C_0, C_8 + C_9),
        }

    worst = _largest_ratios(problems, ratios)
    return [inequality(f"lemma-{lemma}", ratio, count(problems)) for lemma, ratio in worst.items()]


def _largest_ratios(
    problems: list[Finite], ratios: Callable[[Finite, Setting, Step], dict[int, Floats]]
) -> dict[int, float]:
    """The largest ratio of each lemma over all epochs of all problems."""
    worst: dict[int, float] = defaultdict(float)
    rng = np.random.default_rng(10)
    for part in problems:
        setting = drawn_setting(part, rng)
        for step in steps(part, setting, rng):
            for lemma, ratio in ratios(part, setting, step).items():
                worst[lemma] = max(worst[lemma], float(ratio.max()))
    return worst


def drawn_setting(part: Finite, rng: np.random.Generator) -> Setting:
    """Random epsilon, delta and gamma_2; the other gammas follow as in Algorithm 1 with tau_1 = 4."""
    n_problems = len(part)
    delta = rng.uniform(1e-3, DELTA_MAX, size=n_problems)
    second = LINEAR_CONSTANTS.C_0 * part.k * 10.0 ** rng.uniform(-2.5, 0.0, size=n_problems)
    gamma = [np.ones(n_problems), second]
    for m in range(3, N_EPOCHS + 2):
        rows = 2.0 ** max(m - 3, 0)  # of epoch m - 1, over those of epoch 1
        gamma.append(second * np.sqrt(rows * np.log(1.0 / delta) / np.log((m - 1) / delta)))
    best = projected(part, rng)
    worst = part.mean(((best - part.truth) ** 2).max(axis=2))
    return Setting(rng.uniform(0.01, 0.49, size=n_problems), np.array(gamma), best, worst)


def steps(part: Finite, setting: Setting, rng: np.random.Generator) -> Iterator[Step]:
    """Epochs 1 to N_EPOCHS, with fits that are wrong in random directions."""
    model = np.zeros_like(part.truth)
    for m in range(1, N_EPOCHS + 1):
        play = weighted_by_gaps(model, setting.gamma[m - 1])
        after = at_the_edge(part, setting, play, setting.gamma[m], rng)
        yield Step(m, model, play, after)
        model = after


def at_the_edge(
    part: Finite, setting: Setting, play: Floats, gamma: Floats, rng: np.random.Generator
) -> Floats:
    """fhat* plus the longest step in a random direction that both lines of Lemma 7 allow.

    With gamma the next one, they are C_3 C_4 K / (epsilon gamma^2) and B + K / (4 gamma^2).
    """
    mild = rng.standard_normal(part.truth.shape)
    direction = np.where(rng.random((len(part), 1, 1)) < 0.5, mild, mild / play)
    uniform = np.full_like(play, 1.0 / part.k)
    product = LINEAR_CONSTANTS.C_3 * LINEAR_CONSTANTS.C_4
    passive = np.sqrt(product * part.k / (setting.epsilon * gamma**2) / part.error(direction, uniform))
    square, off = part.error(direction, play), setting.best - part.truth
    cross = part.mean((play * direction * off).sum(axis=2))
    room = setting.worst + part.k / (4.0 * gamma**2) - part.error(off, play)
    active = (np.sqrt(cross**2 + square * room) - cross) / square
    length: Floats = np.minimum(passive, active)
    return setting.best + length[:, np.newaxis, np.newaxis] * direction


def _accuracy(part: Finite, setting: Setting, step: Step, half: float) -> Floats:
    off = np.abs(part.value(step.after - part.truth))
    root, gamma = np.sqrt(part.divergence(step.play)), setting.gamma[step.number]
    return np.asarray(off / (root * (np.sqrt(setting.worst) + half * np.sqrt(part.k) / gamma)[:, np.newaxis]))


def _best_policy(part: Finite, setting: Setting, step: Step, C_6: float) -> Floats:
    chosen = np.eye(part.k)[setting.best.argmax(axis=2)]
    divergence = part.mean((chosen / step.play).sum(axis=2))
    return np.asarray(divergence * np.sqrt(setting.epsilon) / (C_6 * part.k))


def _stability(part: Finite, setting: Setting, step: Step, C_7: float) -> Floats:
    after = weighted_by_gaps(step.after, setting.gamma[step.number])
    allowed = (C_7 * part.k / np.sqrt(setting.epsilon))[:, np.newaxis] + part.divergence(after)
    return np.asarray(part.divergence(step.play) / allowed)


def _regrets(part: Finite, setting: Setting, step: Step, C_0: float, C_8: float, C_9: float) -> Floats:
    """Lemma 11 for epoch m + 1, both ways."""
    gamma = setting.gamma[step.number]
    divergence = part.divergence(weighted_by_gaps(step.after, gamma))
    common = C_0 * part.k / gamma + C_8 * setting.price
    extra = common[:, np.newaxis] + C_9 * np.sqrt(divergence * setting.worst[:, np.newaxis])
    true, estimated = part.regret(part.truth), part.regret(step.after)
    return np.asarray(np.maximum(true / (2.0 * estimated + extra), estimated / (2.0 * true + extra)))


def _true_regret(part: Finite, setting: Setting, step: Step, learning: float, price: float) -> Floats:
    gamma = setting.gamma[step.number - 1]
    gaps = part.truth.max(axis=2, keepdims=True) - part.truth
    regret = part.mean((step.play * gaps).sum(axis=2))
    return np.asarray(regret / (learning * part.k / gamma + price * setting.price))

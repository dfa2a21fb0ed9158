"""Thompson sampling: the policies made of probabilities to be best and of drawn scores."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.policies import thompson
from gyrfalcon.core.policies.kernels import epsilon_greedy, uniform
from gyrfalcon.core.policies.thompson import SampledPolicy, ThompsonPolicy, best_probabilities


@dataclass(frozen=True)
class Linear:
    """Scores, widths and drawn scores that are linear in the context."""

    weights: Floats  # (M, K, p)

    def means(self, contexts: Contexts) -> Floats:
        scores: Floats = np.einsum("np,kp->nk", contexts.shared, self.weights[0])
        return scores

    def widths(self, contexts: Contexts) -> Floats:
        slopes: Floats = np.einsum("np,kp->nk", contexts.shared, self.weights[1])
        return np.abs(slopes)

    def draws(self, contexts: Contexts) -> Floats:
        scores: Floats = np.einsum("mkp,np->mnk", self.weights, contexts.shared)
        return scores


@dataclass(frozen=True)
class Fixed:
    """Drawn scores that were given row by row, whose number is in the context."""

    scores: Floats  # (M, n, K)

    def draws(self, contexts: Contexts) -> Floats:
        return self.scores[:, contexts.shared[:, 0].astype(np.int64)]


def linear(seed: int, n_draws: int = 64, k: int = 4) -> Linear:
    return Linear(np.random.default_rng(seed).normal(size=(n_draws, k, 3)))


def contexts_of(seed: int, n: int = 40, k: int = 4, masked: bool = True) -> Contexts:
    rng = np.random.default_rng(seed)
    mask = rng.random((n, k)) < 0.6
    mask[np.arange(n), rng.integers(k, size=n)] = True
    return Contexts(rng.normal(size=(n, 3)), eligible=mask if masked else None)


def numbered(scores: Floats, eligible: Bools | None = None) -> tuple[Fixed, Contexts]:
    return Fixed(scores), Contexts(np.arange(float(scores.shape[1]))[:, np.newaxis], eligible=eligible)


def test_thompson_policy_scales_widths_and_mixes_uniform_play_in() -> None:
    scorer, contexts = linear(1), contexts_of(1)
    means, widths = scorer.means(contexts), scorer.widths(contexts)
    best = best_probabilities(means, 0.3 * widths, contexts.eligible)
    assert np.array_equal(ThompsonPolicy(scorer, 0.3).probabilities(contexts), best)
    mixed = 0.8 * best + 0.2 * uniform(4, 40, contexts.eligible)
    p = ThompsonPolicy(scorer, 0.3, mixing=0.2).probabilities(contexts)
    np.testing.assert_allclose(p, mixed, rtol=0, atol=1e-15)
    greedy = ThompsonPolicy(scorer, 0.0).probabilities(contexts)
    assert np.array_equal(greedy, epsilon_greedy(means, 0.0, contexts.eligible))


def test_sampled_policy_by_hand() -> None:
    scorer, contexts = numbered(
        np.array([[[1.0, 1.0, 0.0]], [[0.0, 2.0, 2.0]], [[0.0, 0.0, 3.0]], [[5.0, 5.0, 5.0]]])
    )
    assert SampledPolicy(scorer).probabilities(contexts).tolist() == [[0.5, 0.25, 0.25]]
    np.testing.assert_allclose(
        SampledPolicy(scorer, 0.4).probabilities(contexts), [[13 / 30, 17 / 60, 17 / 60]]
    )
    masked = Contexts(contexts.shared, eligible=np.array([[False, True, True]]))
    assert SampledPolicy(scorer).probabilities(masked).tolist() == [[0.0, 0.75, 0.25]]


@pytest.mark.parametrize("n_draws", [1, 64, 100])
def test_without_mixing_shares_are_multiples_of_one_draw(n_draws: int) -> None:
    p = SampledPolicy(linear(2, n_draws)).probabilities(contexts_of(2))
    counts = np.round(n_draws * p)
    np.testing.assert_allclose(p, counts / n_draws, rtol=0, atol=1e-15)
    assert (counts.sum(axis=1) == n_draws).all()


def test_independent_draws_agree_with_the_integral() -> None:
    """4096 draws: a share errs by 5 deviations of its binomial once in 1.7 million; here are 60 of them."""
    rng = np.random.default_rng(3)
    means, deviations = rng.normal(size=(20, 3)), rng.uniform(0.3, 3.0, size=(20, 3))
    scorer, contexts = numbered(rng.normal(means, deviations, size=(4096, 20, 3)))
    p = best_probabilities(means, deviations)
    error = np.abs(SampledPolicy(scorer).probabilities(contexts) - p)
    assert (error <= 5.0 * np.sqrt(p * (1.0 - p) / 4096.0)).all()


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("mixing", [0.0, 0.1, 1.0])
def test_policies_give_the_same_bits_alone_and_in_batches(
    masked: bool, mixing: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer, contexts = linear(4), contexts_of(4, masked=masked)
    for policy in (ThompsonPolicy(scorer, 0.5, mixing), SampledPolicy(scorer, mixing)):
        p = policy.probabilities(contexts)
        assert np.array_equal(
            np.concatenate([policy.probabilities(contexts.take(slice(i, i + 1))) for i in range(40)]), p
        )
        monkeypatch.setattr(thompson, "_CHUNK", 64 * 4 * 3)
        assert np.array_equal(policy.probabilities(contexts), p)
        assert (np.abs(p.sum(axis=1) - 1.0) <= 1e-15).all()
        assert (p >= mixing * uniform(4, 40, contexts.eligible) - 1e-15).all()
        assert policy.probabilities(contexts.take(slice(0, 0))).shape == (0, 4)


def test_draws_are_asked_for_in_bounded_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Counter[int]()

    class Counting(Linear):
        def draws(self, contexts: Contexts) -> Floats:
            asked[len(contexts)] += 1
            return super().draws(contexts)

    monkeypatch.setattr(thompson, "_CHUNK", 64 * 4 * 10)
    SampledPolicy(Counting(linear(5).weights)).probabilities(contexts_of(5))
    assert asked == {1: 1, 10: 3, 9: 1}


def test_settings_that_cannot_be_raise() -> None:
    for mixing in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="give a number from 0 to 1"):
            ThompsonPolicy(linear(1), 1.0, mixing)
        with pytest.raises(ValueError, match="give a number from 0 to 1"):
            SampledPolicy(linear(1), mixing)
    for scale in (-0.1, math.inf, math.nan):
        with pytest.raises(ValueError, match=f"scale is {scale}"):
            ThompsonPolicy(linear(1), scale)


def test_importing_loads_no_scipy() -> None:
    code = "import sys, gyrfalcon.core.policies.thompson\nprint('scipy' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "False"

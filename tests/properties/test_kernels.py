"""Invariants P1-P9 of inverse gap weighting, for every kernel that has them, with and without masks.

Exact statements run on dyadic scores, whose sums, differences and halves floats hold exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.policies.kernels import (
    InverseGapWeighting,
    LogBarrierWeighting,
    epsilon_greedy,
    inverse_gap_weighting,
    log_barrier_weighting,
    mixture,
    softmax,
    uniform,
)
from tests.properties.choices import every_kernel, strengths

Weighting = Callable[[Floats, float, Bools | None], Floats]

any_finite = st.floats(allow_nan=False, allow_infinity=False)
dyadic = st.integers(-4096, 4096).map(lambda i: i / 1024)
any_gamma = st.one_of(st.floats(0.0, 1e300), st.floats(0.0, 1e3), st.just(5e-324))
some_gamma = st.floats(1e-4, 1e6)
dyadic_gamma = st.integers(1, 2**20).map(lambda i: i / 64)
nothing_finite = st.sampled_from([math.nan, math.inf, -math.inf])

both_weightings = pytest.mark.parametrize("weighting", [inverse_gap_weighting, log_barrier_weighting])


@dataclass(frozen=True)
class Rows:
    """Scores (n, K) and who is eligible."""

    scores: Floats
    eligible: Bools | None

    @property
    def mask(self) -> Bools:
        return np.ones(self.scores.shape, dtype=np.bool_) if self.eligible is None else self.eligible

    @property
    def n_eligible(self) -> Floats:
        counts: Floats = self.mask.sum(axis=1, dtype=np.float64)
        return counts

    @property
    def best(self) -> Ints:
        lowest: Ints = np.where(self.mask, self.scores, -np.inf).argmax(axis=1)
        return lowest

    def gaps_of(self, scores: Floats) -> Floats:
        """Distances to the best eligible score; 0 for ineligible actions, which no sum may feel."""
        top = np.where(self.mask, scores, -np.inf).max(axis=1, keepdims=True)
        with np.errstate(over="ignore"):
            return np.where(self.mask, top - np.where(self.mask, scores, 0.0), 0.0)

    @property
    def gaps(self) -> Floats:
        return self.gaps_of(self.scores)


@st.composite
def masks(draw: st.DrawFn, shape: tuple[int, int]) -> Bools | None:
    if draw(st.booleans()):
        return None
    mask: Bools = draw(arrays(np.bool_, shape))
    sure = draw(arrays(np.int64, shape[0], elements=st.integers(0, shape[1] - 1)))
    mask[np.arange(shape[0]), sure] = True
    return mask


@st.composite
def rows(
    draw: st.DrawFn, elements: st.SearchStrategy[float] = dyadic, max_rows: int = 4, max_actions: int = 8
) -> Rows:
    shape = draw(st.tuples(st.integers(1, max_rows), st.integers(1, max_actions)))
    return Rows(draw(arrays(np.float64, shape, elements=elements)), draw(masks(shape)))


def assert_probabilities(p: Floats, of: Rows) -> None:
    assert (p >= 0.0).all()
    assert max(abs(math.fsum(row) - 1.0) for row in p.tolist()) <= 1e-12
    assert (p[~of.mask] == 0.0).all()
    alone = of.n_eligible == 1
    assert (p[alone][of.mask[alone]] == 1.0).all()


# Whatever is finite gives probabilities; whatever is not is refused.


@given(of=rows(any_finite), gamma=any_gamma)
def test_every_kernel_gives_probabilities_whatever_the_finite_scores(of: Rows, gamma: float) -> None:
    for kernel in every_kernel(gamma):
        assert_probabilities(kernel.probabilities(of.scores, of.eligible), of)


@given(of=rows(), share=st.floats(0.0, 1.0), gamma=any_gamma)
def test_uniform_play_and_mixtures_are_probabilities(of: Rows, share: float, gamma: float) -> None:
    even = uniform(of.scores.shape[1], len(of.scores), of.eligible)
    mixed = mixture([inverse_gap_weighting(of.scores, gamma, of.eligible), even], [1.0 - share, share])
    several = np.broadcast_to(of.n_eligible[:, np.newaxis], even.shape)
    assert_probabilities(even, of)
    assert (even[of.mask] == 1.0 / several[of.mask]).all()
    assert (np.abs(mixed.sum(axis=1) - 1.0) <= 1e-12).all()
    assert (mixed >= share * even).all()  # P10
    assert (mixed[~of.mask] == 0.0).all()


@given(of=rows(any_finite), gamma=any_gamma)
def test_a_row_in_plain_floats_has_the_same_bits(of: Rows, gamma: float) -> None:
    kernel = InverseGapWeighting(gamma)
    p = kernel.probabilities(of.scores, None)
    assert [kernel.row(scores) for scores in of.scores.tolist()] == p.tolist()


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(2, 60), gamma=strengths)
def test_a_long_row_in_plain_floats_has_the_same_bits(seed: int, k: int, gamma: float) -> None:
    scores = np.random.default_rng(seed).random((8, k))
    kernel = InverseGapWeighting(gamma)
    assert [kernel.row(row) for row in scores.tolist()] == kernel.probabilities(scores, None).tolist()


@given(of=rows(), bad=nothing_finite, gamma=any_gamma, data=st.data())
def test_a_score_that_is_not_finite_raises_where_it_is_eligible(
    of: Rows, bad: float, gamma: float, data: st.DataObject
) -> None:
    i, a = data.draw(st.sampled_from(np.argwhere(of.mask).tolist()))
    of.scores[i, a] = bad
    for kernel in every_kernel(gamma):
        with pytest.raises(ValueError, match="a score is"):
            kernel.probabilities(of.scores, of.eligible)
    with pytest.raises(ValueError, match="a score is"):
        InverseGapWeighting(gamma).row(of.scores[i].tolist())


@given(of=rows(), bad=nothing_finite, gamma=any_gamma)
def test_a_score_of_an_ineligible_action_is_never_felt(of: Rows, bad: float, gamma: float) -> None:
    spoilt = np.where(of.mask, of.scores, bad)
    for kernel in every_kernel(gamma):
        clean = kernel.probabilities(of.scores, of.eligible)
        assert np.array_equal(kernel.probabilities(spoilt, of.eligible), clean)


@given(of=rows(), gamma=st.one_of(nothing_finite, st.floats(max_value=-5e-324)))
@both_weightings
def test_a_gamma_that_is_not_finite_or_negative_raises(weighting: Weighting, of: Rows, gamma: float) -> None:
    with pytest.raises(ValueError, match="gamma is"):
        weighting(of.scores, gamma, of.eligible)
    with pytest.raises(ValueError, match="gamma is"):
        InverseGapWeighting(gamma)
    with pytest.raises(ValueError, match="gamma is"):
        LogBarrierWeighting(gamma)


@given(of=rows(), gamma=any_gamma, data=st.data())
def test_a_row_without_an_eligible_action_raises(of: Rows, gamma: float, data: st.DataObject) -> None:
    mask = of.mask.copy()
    mask[data.draw(st.integers(0, len(mask) - 1))] = False
    with pytest.raises(ValueError, match="no eligible action"):
        uniform(mask.shape[1], len(mask), mask)
    for kernel in every_kernel(gamma):
        with pytest.raises(ValueError, match="no eligible action"):
            kernel.probabilities(of.scores, mask)


# P1 - P5: one context at a time.


@given(of=rows(any_finite), gamma=any_gamma)
@both_weightings
def test_p1_the_best_action_has_at_least_its_even_share(weighting: Weighting, of: Rows, gamma: float) -> None:
    p = weighting(of.scores, gamma, of.eligible)
    n, k = len(p), of.n_eligible
    assert (p[np.arange(n), of.best] >= 1.0 / k - 1e-12).all()
    with np.errstate(over="ignore", invalid="ignore"):
        farthest = k + (gamma * of.gaps.max(axis=1) if gamma > 0.0 else 0.0)
    assert (p >= np.where(of.mask, 1.0 / farthest[:, np.newaxis] * (1.0 - 1e-12) - 1e-300, 0.0)).all()


@given(of=rows(st.floats(-1e6, 1e6)), gamma=some_gamma)
@both_weightings
def test_p2_the_estimated_regret_is_at_most_k_minus_1_over_gamma(
    weighting: Weighting, of: Rows, gamma: float
) -> None:
    p = weighting(of.scores, gamma, of.eligible)
    regret = (p * of.gaps).sum(axis=1)
    assert (gamma * regret <= (of.n_eligible - 1.0) * (1.0 + 1e-12)).all()


@given(of=rows(st.floats(-1e3, 1e3)), gamma=some_gamma)
def test_p2_log_barrier_regret_is_exactly_k_minus_level_over_gamma(of: Rows, gamma: float) -> None:
    p = log_barrier_weighting(of.scores, gamma, of.eligible)
    level = 1.0 / p[np.arange(len(p)), of.best]
    regret = (p * of.gaps).sum(axis=1)
    assert ((level >= 1.0 - 1e-12) & (level <= of.n_eligible + 1e-11)).all()
    np.testing.assert_allclose(gamma * regret, of.n_eligible - level, rtol=1e-10, atol=1e-10)


@given(of=rows(st.floats(-1e3, 1e3)), gamma=some_gamma)
@both_weightings
def test_p3_inverse_probabilities_lie_between_gamma_gap_and_k_more(
    weighting: Weighting, of: Rows, gamma: float
) -> None:
    inverse = 1.0 / weighting(of.scores, gamma, of.eligible)[of.mask]
    k = np.broadcast_to(of.n_eligible[:, np.newaxis], of.mask.shape)[of.mask]
    assert (gamma * of.gaps[of.mask] <= inverse * (1.0 + 1e-11)).all()
    assert (inverse <= (k + gamma * of.gaps[of.mask]) * (1.0 + 1e-11)).all()


@given(of=rows(), gamma=dyadic_gamma, shift=st.integers(-(2**20), 2**20), power=st.integers(-30, 30))
def test_p4_only_gaps_times_gamma_count(of: Rows, gamma: float, shift: int, power: int) -> None:
    factor = 2.0**power
    for kernel in every_kernel(gamma):
        p = kernel.probabilities(of.scores, of.eligible)
        assert np.array_equal(kernel.probabilities(of.scores + float(shift), of.eligible), p)
    for weighting in (inverse_gap_weighting, log_barrier_weighting):
        p = weighting(of.scores, gamma, of.eligible)
        assert np.array_equal(weighting(factor * of.scores, gamma / factor, of.eligible), p)
    p = softmax(of.scores, 1.0 / 64, of.eligible)
    assert np.array_equal(softmax(factor * of.scores, factor / 64, of.eligible), p)


@given(of=rows(), gamma=some_gamma, data=st.data())
def test_p4_renumbered_actions_have_renumbered_probabilities(
    of: Rows, gamma: float, data: st.DataObject
) -> None:
    k = of.scores.shape[1]
    distinct = of.scores + np.arange(k) * 2.0**-20  # dyadic scores are 2^-10 apart
    order = np.array(data.draw(st.permutations(range(k))))
    eligible = None if of.eligible is None else of.eligible[:, order]
    for kernel in every_kernel(gamma):
        p = kernel.probabilities(distinct, of.eligible)
        renumbered = kernel.probabilities(distinct[:, order], eligible)
        np.testing.assert_allclose(renumbered, p[:, order], rtol=0.0, atol=1e-12)


@given(of=rows(any_finite), gamma=any_gamma)
def test_p4_a_better_score_never_has_a_smaller_probability(of: Rows, gamma: float) -> None:
    for kernel in every_kernel(gamma):
        for p, scores, mask in zip(
            kernel.probabilities(of.scores, of.eligible), of.scores, of.mask, strict=True
        ):
            ranked = p[mask][np.argsort(scores[mask], kind="stable")]
            # A tie at the top leaves its rest to one action: compare values, not places.
            values = np.sort(scores[mask], kind="stable")
            rising = (ranked[1:] >= ranked[:-1] - 1e-12) | (values[1:] == values[:-1])
            assert rising.all()


@given(of=rows())
def test_p5_gamma_0_is_uniform_and_a_huge_gamma_is_greedy(of: Rows) -> None:
    distinct = of.scores + np.arange(of.scores.shape[1]) * 2.0**-20
    greedy = epsilon_greedy(distinct, 0.0, of.eligible)
    even = uniform(of.scores.shape[1], len(of.scores), of.eligible)
    assert (greedy.max(axis=1) == 1.0).all()
    np.testing.assert_allclose(epsilon_greedy(of.scores, 1.0, of.eligible), even, rtol=0.0, atol=1e-15)
    for weighting in (inverse_gap_weighting, log_barrier_weighting):
        assert np.array_equal(weighting(of.scores, 0.0, of.eligible), even)
        np.testing.assert_allclose(weighting(distinct, 1e300, of.eligible), greedy, rtol=0.0, atol=1e-290)
    np.testing.assert_allclose(softmax(distinct, 1e-300, of.eligible), greedy, rtol=0.0, atol=0.0)


@given(of=rows(st.sampled_from([0.0, 1.0])), gamma=some_gamma)
def test_p5_a_tie_at_the_top_leaves_the_rest_to_the_lowest_index(of: Rows, gamma: float) -> None:
    tied = of.mask & (of.gaps == 0.0)
    first = np.zeros_like(tied)
    first[np.arange(len(tied)), of.best] = True
    weighted = inverse_gap_weighting(of.scores, gamma, of.eligible)
    k = np.broadcast_to(of.n_eligible[:, np.newaxis], tied.shape)
    assert (weighted[tied & ~first] == 1.0 / k[tied & ~first]).all()
    assert (epsilon_greedy(of.scores, 0.0, of.eligible) == first).all()
    barrier = log_barrier_weighting(of.scores, gamma, of.eligible)
    top = np.broadcast_to(barrier[first][:, np.newaxis], tied.shape)
    np.testing.assert_allclose(barrier[tied], top[tied], rtol=0.0, atol=1e-12)


# P6 - P9: distributions of contexts. Row i of a problem is context i, which comes with probability D[i].


@dataclass(frozen=True)
class Problem:
    """A finite context space: its distribution, one table of scores per model, one mask for all."""

    weights: Floats
    first: Rows
    second: Rows
    policy: Ints

    def mean(self, per_context: Floats) -> float:
        return float(self.weights @ per_context)

    @property
    def k(self) -> float:
        """E_x of the number of eligible actions: the paper's K where all are."""
        return self.mean(self.first.n_eligible)

    def chosen(self, table: Floats, policy: Ints | None = None) -> Floats:
        return table[np.arange(len(table)), self.policy if policy is None else policy]

    def value(self, scores: Floats, policy: Ints | None = None) -> float:
        """R_f(pi)."""
        return self.mean(self.chosen(scores, policy))

    def regret(self, of: Rows, policy: Ints | None = None) -> float:
        """Reg_f(pi)."""
        return self.mean(self.chosen(of.gaps, policy))

    def variance(self, p: Floats, policy: Ints | None = None) -> float:
        """V(p, pi) = E_x 1 / p(pi(x) | x)."""
        return self.mean(1.0 / self.chosen(p, policy))

    def policies(self) -> list[Ints]:
        """Every policy: one eligible action for each context."""
        return [np.array(one) for one in product(*(np.flatnonzero(row).tolist() for row in self.first.mask))]


@st.composite
def problems(draw: st.DrawFn, max_contexts: int = 4, max_actions: int = 6) -> Problem:
    shape = draw(st.tuples(st.integers(1, max_contexts), st.integers(1, max_actions)))
    mask = draw(masks(shape))
    scores = arrays(np.float64, shape, elements=st.floats(-8.0, 8.0))
    first, second = Rows(draw(scores), mask), Rows(draw(scores), mask)
    mass = draw(arrays(np.float64, shape[0], elements=st.integers(1, 100).map(float)))
    choices = [draw(st.sampled_from(np.flatnonzero(row).tolist())) for row in first.mask]
    return Problem(mass / mass.sum(), first, second, np.array(choices))


some = st.floats(1e-2, 1e3)


@given(problem=problems(), gamma=some)
@both_weightings
def test_p3_variance_and_estimated_regret_are_within_k(
    weighting: Weighting, problem: Problem, gamma: float
) -> None:
    p = weighting(problem.first.scores, gamma, problem.first.eligible)
    regret, variance = gamma * problem.regret(problem.first), problem.variance(p)
    assert regret <= variance * (1.0 + 1e-10)
    assert variance <= (problem.k + regret) * (1.0 + 1e-10)


@given(problem=problems(max_contexts=3, max_actions=3), gamma=some)
@both_weightings
def test_p6_a_kernel_is_a_distribution_over_policies(
    weighting: Weighting, problem: Problem, gamma: float
) -> None:
    of, truth = problem.first, problem.second
    p = weighting(of.scores, gamma, of.eligible)
    policies = problem.policies()
    chance = np.array([problem.chosen(p, policy).prod() for policy in policies])
    variance = np.array([problem.variance(p, policy) for policy in policies])
    picks = np.array([np.eye(p.shape[1])[policy] for policy in policies])

    def over_policies(values: list[float]) -> float:
        return float(chance @ np.array(values))

    assert chance.sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(np.einsum("q,qxa->xa", chance, picks), p, rtol=0.0, atol=1e-12)
    assert chance @ variance == pytest.approx(problem.k, rel=1e-10)
    assert chance @ np.sqrt(variance) <= math.sqrt(problem.k) * (1.0 + 1e-10)
    estimated = over_policies([problem.regret(of, policy) for policy in policies])
    assert estimated == pytest.approx(problem.mean((p * of.gaps).sum(axis=1)), abs=1e-11)
    assert gamma * estimated <= (problem.k - 1.0) * (1.0 + 1e-10) + 1e-12
    true = over_policies([problem.regret(truth, policy) for policy in policies])
    assert true == pytest.approx(problem.mean((p * truth.gaps).sum(axis=1)), abs=1e-11)


def decision_estimation(p: Floats, f_hat: Floats, f_star: Floats, a_star: int, gamma: float) -> float:
    """Regret against a_star minus gamma / 4 times the squared error, both under p."""
    return float(p @ (f_star[a_star] - f_star - gamma / 4.0 * (f_hat - f_star) ** 2))


@given(of=rows(st.floats(-8.0, 8.0), max_rows=1), gamma=some, data=st.data())
def test_p7_nature_gains_at_most_2_k_minus_1_over_gamma_or_exactly_half_of_it(
    of: Rows, gamma: float, data: st.DataObject
) -> None:
    f_hat, gaps, k = of.scores[0][of.mask[0]], of.gaps[0][of.mask[0]], of.n_eligible[0]
    a_star = data.draw(st.integers(0, len(f_hat) - 1))
    nudge = data.draw(arrays(np.float64, len(f_hat), elements=st.floats(-1.0, 1.0)))
    for weighting in (inverse_gap_weighting, log_barrier_weighting):
        p = weighting(of.scores, gamma, of.eligible)[0][of.mask[0]]
        closed = p @ gaps - gaps[a_star] + (1.0 / p[a_star] - 1.0) / gamma
        # The gain is concave in f*, and its gradient is 0 here.
        worst = f_hat + 2.0 / gamma * ((np.arange(len(p)) == a_star) / p - 1.0)
        scale = 1e-9 * (1.0 + 1.0 / gamma + np.abs(worst).max())
        assert decision_estimation(p, f_hat, worst, a_star, gamma) == pytest.approx(closed, abs=scale)
        assert decision_estimation(p, f_hat, worst + nudge, a_star, gamma) <= closed + scale
        if weighting is inverse_gap_weighting:
            assert closed <= 2.0 * (k - 1.0) / gamma + scale
        else:
            assert closed == pytest.approx((k - 1.0) / gamma, abs=scale)


@given(problem=problems(), gamma=some, data=st.data())
def test_p8_values_differ_by_at_most_root_variance_times_root_error(
    problem: Problem, gamma: float, data: st.DataObject
) -> None:
    f, truth = problem.first, problem.second
    shape = f.scores.shape
    third = data.draw(arrays(np.float64, shape, elements=st.floats(-8.0, 8.0)))
    for kernel in every_kernel(gamma)[:3]:
        p = kernel.probabilities(third, f.eligible)
        error = problem.mean((p * (f.scores - truth.scores) ** 2).sum(axis=1))
        difference = abs(problem.value(f.scores) - problem.value(truth.scores))
        assert difference <= math.sqrt(problem.variance(p) * error) * (1.0 + 1e-10) + 1e-12


@given(problem=problems(), gamma=some, growth=st.floats(1.0, 1e3))
@both_weightings
def test_p9_a_new_model_and_a_larger_gamma_keep_variances_close(
    weighting: Weighting, problem: Problem, gamma: float, growth: float
) -> None:
    f, g = problem.first, problem.second
    before = weighting(f.scores, gamma, f.eligible)
    after = weighting(g.scores, gamma * growth, g.eligible)
    apart = np.where(f.mask, np.abs(f.scores - g.scores), 0.0)
    bound = problem.k + problem.variance(after) + 2.0 * gamma * problem.mean(apart.max(axis=1))
    assert problem.variance(before) <= bound * (1.0 + 1e-10)


@given(problem=problems(), gamma=some)
@both_weightings
def test_p9_the_greedy_policy_of_a_near_model_has_a_small_variance(
    weighting: Weighting, problem: Problem, gamma: float
) -> None:
    f, g = problem.first, problem.second
    p = weighting(f.scores, gamma, f.eligible)
    # K times the mean over uniform actions is the sum over eligible ones, row by row.
    error = problem.mean(np.where(f.mask, (f.scores - g.scores) ** 2, 0.0).sum(axis=1))
    bound = problem.k + 2.0 * gamma * math.sqrt(error)
    assert problem.variance(p, g.best) <= bound * (1.0 + 1e-10)

"""Probabilities to be best: known answers, 20 digits of mpmath, and invariants."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.policies import normal_argmax
from gyrfalcon.core.policies.kernels import epsilon_greedy, uniform
from gyrfalcon.core.policies.thompson import best_probabilities

TOLERANCE = 1e-12


def one(means: list[float] | Floats, deviations: list[float] | Floats) -> Floats:
    p: Floats = best_probabilities(np.array([means]), np.array([deviations]))[0]
    return p


# Known answers.


def test_known_answers() -> None:
    np.testing.assert_allclose(one([0.6, 0.5], [0.1, 0.2]), [0.67263958, 0.32736042], rtol=0, atol=6e-9)
    known = [0.51240764, 0.26790508, 0.21968728]
    np.testing.assert_allclose(one([0.6, 0.5, 0.4], [0.1, 0.2, 0.3]), known, rtol=0, atol=6e-9)


@pytest.mark.parametrize("k", [2, 3, 5, 20, 100])
def test_equal_beliefs_share_evenly(k: int) -> None:
    np.testing.assert_allclose(one([0.3] * k, [2e-5] * k), [1 / k] * k, rtol=0, atol=TOLERANCE)


def test_a_narrow_score_beats_wide_ones_as_often_as_each_of_them_is_below() -> None:
    # Given the narrow score near 0, each wide one is below it with probability 1/2.
    np.testing.assert_allclose(one([0.0] * 3, [1e-9, 1.0, 1.0]), [1 / 4, 3 / 8, 3 / 8], rtol=0, atol=1e-8)


def test_a_pair_keeps_the_digits_of_a_tiny_probability() -> None:
    assert one([0.0, 20.0], [1.0, 0.0])[0] == pytest.approx(2.7536241186062337e-89, rel=1e-12)


# A certain score: deviation 0.


def test_an_atom_wins_when_all_others_are_below_it() -> None:
    p = one([0.5, 0.0, 0.0, 0.2], [0.0, 1.0, 1.0, 0.0])
    below = 0.5 * math.erfc(-0.5 / math.sqrt(2.0))
    np.testing.assert_allclose(
        p, [below**2, (1 - below**2) / 2, (1 - below**2) / 2, 0], rtol=0, atol=TOLERANCE
    )
    assert p[3] == 0.0


def test_of_equal_atoms_at_the_top_the_lowest_index_wins_as_in_greedy_play() -> None:
    scores = np.array([[0.1, 0.7, 0.7, 0.7], [0.7, 0.7, 0.2, 0.1], [-1.0, -1.0, -1.0, -1.0]])
    assert best_probabilities(scores, np.zeros((3, 4))).tolist() == epsilon_greedy(scores, 0.0).tolist()
    assert one([0.7, 0.7], [0.0, 0.0]).tolist() == [1.0, 0.0]
    assert one([0.7, 0.7, -9.0], [0.0, 0.0, 0.1])[1] == 0.0


@pytest.mark.parametrize("k", [1, 2, 3, 50])
def test_a_certain_action_has_exactly_probability_1(k: int) -> None:
    best = np.zeros(k)
    best[k // 2] = 1.0
    assert one(50.0 * best, np.full(k, 0.1)).tolist() == best.tolist()
    assert one(50.0 * best, np.linspace(0.0, 1.0, k)).tolist() == best.tolist()


# Against mpmath.


@dataclass(frozen=True)
class Case:
    """Groups of (how many, mean, deviation), which mpmath integrates once each."""

    name: str
    groups: tuple[tuple[int, float, float], ...]

    @property
    def columns(self) -> tuple[list[float], list[float]]:
        members = [(m, s) for count, m, s in self.groups for _ in range(count)]
        return [m for m, _ in members], [s for _, s in members]


def singles(name: str, means: list[float], deviations: list[float]) -> Case:
    return Case(name, tuple((1, m, s) for m, s in zip(means, deviations, strict=True)))


def spread_out(k: int, low: float, high: float) -> Case:
    rng = np.random.default_rng(k)
    deviations = 10.0 ** rng.uniform(low, high, size=k)
    return singles(f"{k} scales", rng.normal(size=k).tolist(), deviations.tolist())


CASES = [
    singles("similar", [0.6, 0.5, 0.4], [0.1, 0.2, 0.3]),
    singles("two near-steps", [0.0, 0.3, 0.300001], [1.0, 1e-6, 2e-6]),
    singles("near-steps far from 0", [1e6, 1e6 + 0.3, 1e6 + 0.300001], [1.0, 1e-6, 2e-6]),
    singles("one wide", [0.0, 1e-6, -1e-6, 0.0, 2e-6], [1e6, 1e-6, 1e-6, 2e-6, 1e-7]),
    singles("every scale", [0.0, 5e-4, 0.1, 1e2, -3e4], [1e-6, 1e-3, 1.0, 1e3, 1e6]),
    singles("ever lower", [0.0, -50.0, -100.0, -150.0], [1.0, 30.0, 1.0, 80.0]),
    singles("50 deviations apart", [0.0, 50.0, 0.0], [1.0, 1.0, 50.0]),
    singles("reaching over", [0.0, 8.0, -60.0], [1.0, 1e-6, 30.0]),
    singles("an atom", [0.0, 0.1, 0.2], [1.0, 0.0, 1e-6]),
    singles("an atom amid scales", [0.2, 0.1, 0.2, 0.2, -4.0], [1e-6, 0.0, 0.0, 1e-3, 5.0]),
    singles("tiny", [3e-300, 2e-300, 1e-300], [1e-300, 1e-300, 3e-300]),
    singles("below the digits of the means", [1.0, 1.0, 1.0, 1.0], [1e-17, 1e-18, 0.0, 0.1]),
    spread_out(5, -6.0, 6.0),
    spread_out(20, -6.0, 6.0),
    Case("20, alike", ((10, 0.0, 1.0), (9, 0.5, 1.1), (1, 2.0, 0.7))),
    Case("20, two scales", ((10, 0.0, 1e-3), (10, 0.0, 1e3))),
    Case("100, alike", ((99, 0.0, 1.0), (1, 3.0, 1.0))),
    Case("100, mixed", ((40, 0.0, 1.0), (30, 0.5, 0.5), (20, -2.0, 2.0), (9, 3.0, 1e-3), (1, -30.0, 20.0))),
    Case("100, far", ((50, 0.0, 1.0), (49, -50.0, 10.0), (1, 1.0, 1e-6))),
]


# mpmath takes longer for each than for most others together; of their kind are "similar" and "100, alike".
SLOW = {"every scale", "one wide", "5 scales", "20 scales", "100, mixed"}


def reference(case: Case) -> list[float]:
    """By mpmath's own adaptive Gauss-Legendre, one integral per group, split where a score has its steps."""
    with mpmath.workdps(20):
        # Seen from a narrow score, so that 20 digits hold its neighbourhood.
        origin = min(case.groups, key=lambda g: g[2])[1]
        groups = [(count, mpmath.mpf(m) - origin, mpmath.mpf(s)) for count, m, s in case.groups]
        wide = [group for group in groups if group[2] > 0]
        atom = max((m for _, m, s in groups if s == 0), default=-mpmath.inf)
        start = max(atom, *(m - 10 * s for _, m, s in wide))
        steps = {m + j * s for _, m, s in wide for j in (-5, -2, 0, 2, 5, 10)}
        points = [start, *sorted(z for z in steps if z > start)]
        # The places are shared by all integrals.
        below = cache(lambda z, m, s: mpmath.mpf(1) if z - m > 12 * s else mpmath.ncdf(z, m, s))

        def all_below(z: mpmath.mpf, but: tuple[int, mpmath.mpf, mpmath.mpf] | None) -> mpmath.mpf:
            return mpmath.fprod(below(z, g[1], g[2]) ** (g[0] - (g is but)) for g in wide)

        def share(g: tuple[int, mpmath.mpf, mpmath.mpf]) -> float:
            if g[2] == 0:
                return float(all_below(atom, None)) if g[1] == atom else 0.0
            density = lambda z: mpmath.npdf(z, g[1], g[2]) * all_below(z, g)  # noqa: E731
            return float(mpmath.quad(density, points, method="gauss-legendre"))

        return [p for g in groups for p in [share(g)] * g[0]]


@pytest.mark.parametrize(
    "case",
    [pytest.param(one, marks=pytest.mark.long if one.name in SLOW else (), id=one.name) for one in CASES],
)
def test_probabilities_agree_with_mpmath(case: Case) -> None:
    exact = reference(case)
    assert math.fsum(exact) == pytest.approx(1.0, abs=1e-13)
    np.testing.assert_allclose(one(*case.columns), exact, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("k", [3, 4, 7, 20, 60, 200])
def test_finer_panels_change_nothing(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(k)
    shape = (max(4, 2000 // k), k)
    means = rng.normal(size=shape) * rng.choice([0.0, 0.1, 1.0, 4.0], size=(shape[0], 1))
    deviations = np.exp(rng.normal(size=shape) * rng.choice([0.0, 0.1, 1.0, 5.0], size=(shape[0], 1)))
    p = best_probabilities(means, deviations)
    half = normal_argmax._widest(k) / 2.0
    monkeypatch.setattr(normal_argmax, "_widest", lambda _: half)
    np.testing.assert_allclose(p, best_probabilities(means, deviations), rtol=0, atol=TOLERANCE)


# Invariants. On dyadic numbers differences are exact, so that many statements hold bit for bit.

dyadic = st.integers(-4096, 4096).map(lambda i: i / 1024)
dyadic_deviations = st.one_of(st.just(0.0), st.integers(0, 4096).map(lambda i: i / 1024), st.just(2.0**-20))
any_mean = st.floats(allow_nan=False, allow_infinity=False)
any_deviation = st.floats(0.0, allow_nan=False, allow_infinity=False)


@dataclass(frozen=True)
class Rows:
    """Means and deviations (n, K), and who is eligible."""

    means: Floats
    deviations: Floats
    eligible: Bools | None

    @property
    def mask(self) -> Bools:
        return np.ones(self.means.shape, dtype=np.bool_) if self.eligible is None else self.eligible

    @property
    def probabilities(self) -> Floats:
        return best_probabilities(self.means, self.deviations, self.eligible)


@st.composite
def rows(
    draw: st.DrawFn,
    means: st.SearchStrategy[float] = dyadic,
    deviations: st.SearchStrategy[float] = dyadic_deviations,
) -> Rows:
    shape = draw(st.tuples(st.integers(1, 4), st.integers(1, 6)))
    mask = None
    if draw(st.booleans()):
        mask = draw(arrays(np.bool_, shape))
        mask[np.arange(shape[0]), draw(arrays(np.int64, shape[0], elements=st.integers(0, shape[1] - 1)))] = (
            True
        )
    centres = draw(arrays(np.float64, shape, elements=means))
    return Rows(centres, draw(arrays(np.float64, shape, elements=deviations)), mask)


@given(of=st.one_of(rows(), rows(any_mean, any_deviation), rows(dyadic, any_deviation)))
def test_whatever_is_finite_gives_probabilities(of: Rows) -> None:
    p = of.probabilities
    assert ((p >= 0.0) & (p <= 1.0)).all()
    assert max(abs(math.fsum(row) - 1.0) for row in p.tolist()) <= 1e-14
    assert (p[~of.mask] == 0.0).all()
    alone = of.mask.sum(axis=1) == 1
    assert (p[alone][of.mask[alone]] == 1.0).all()


@given(of=st.one_of(rows(), rows(any_mean, any_deviation)))
def test_a_row_has_the_same_bits_alone_and_in_any_batch(of: Rows) -> None:
    together = np.concatenate([of.probabilities] * 2)
    twice = best_probabilities(*(np.concatenate([part] * 2) for part in (of.means, of.deviations, of.mask)))
    assert np.array_equal(together, twice)
    for i, p in enumerate(of.probabilities):
        row = slice(i, i + 1)
        mask = None if of.eligible is None else of.eligible[row]
        assert np.array_equal(best_probabilities(of.means[row], of.deviations[row], mask)[0], p)


@pytest.mark.parametrize("k", [2, 3, 5, 20])
def test_chunks_and_neighbours_leave_the_bits(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(k)
    means, deviations = rng.normal(size=(150, k)), 10.0 ** rng.uniform(-3.0, 1.0, size=(150, k))
    deviations[::7, 0] = 0.0
    p = best_probabilities(means, deviations)
    assert np.array_equal(best_probabilities(means[::-1], deviations[::-1]), p[::-1])
    for chunk in (1, 24 * k * 7):
        monkeypatch.setattr(normal_argmax, "_CHUNK", chunk)
        assert np.array_equal(best_probabilities(means, deviations), p)


@given(of=rows())
def test_an_ineligible_action_is_as_good_as_absent(of: Rows) -> None:
    for p, means, deviations, mask in zip(of.probabilities, of.means, of.deviations, of.mask, strict=True):
        assert one(means[mask], deviations[mask]).tolist() == p[mask].tolist()


@given(of=rows(), bad=st.sampled_from([math.nan, math.inf, -math.inf, -1.0]))
def test_beliefs_of_an_ineligible_action_are_never_felt(of: Rows, bad: float) -> None:
    means, deviations = (np.where(of.mask, part, bad) for part in (of.means, of.deviations))
    assert np.array_equal(best_probabilities(means, deviations, of.mask), of.probabilities)


@given(of=rows(), shift=dyadic, power=st.integers(-200, 200))
def test_neither_origin_nor_unit_matters(of: Rows, shift: float, power: int) -> None:
    moved = best_probabilities((of.means + shift) * 2.0**power, of.deviations * 2.0**power, of.eligible)
    assert np.array_equal(moved, of.probabilities)


@given(of=rows(deviations=st.floats(1e-6, 1e3)), data=st.data())
def test_the_order_of_actions_does_not_matter(of: Rows, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(of.means.shape[1])))
    p = best_probabilities(of.means[:, order], of.deviations[:, order], of.mask[:, order])
    np.testing.assert_allclose(p, of.probabilities[:, order], rtol=0, atol=TOLERANCE)


@given(of=rows(deviations=st.floats(1e-6, 1e3)))
def test_equal_beliefs_have_equal_probabilities(of: Rows) -> None:
    twins = Rows(*(np.concatenate([part] * 2, axis=1) for part in (of.means, of.deviations, of.mask)))
    p = twins.probabilities
    k = of.means.shape[1]
    np.testing.assert_allclose(p[:, :k], p[:, k:], rtol=0, atol=TOLERANCE)


@given(of=rows(), rise=st.floats(0.0, 2.0), data=st.data())
def test_a_higher_mean_never_lowers_the_own_probability_nor_raises_another(
    of: Rows, rise: float, data: st.DataObject
) -> None:
    action = data.draw(st.integers(0, of.means.shape[1] - 1))
    raised = of.means.copy()
    raised[:, action] += rise
    change = best_probabilities(raised, of.deviations, of.eligible) - of.probabilities
    change[:, action] *= -1.0
    assert (change <= TOLERANCE).all()


@given(of=rows())
def test_small_deviations_are_greedy_and_large_equal_ones_uniform(of: Rows) -> None:
    distinct = of.means + np.arange(of.means.shape[1]) * 2.0**-20
    small = best_probabilities(distinct, 2.0**-30 * of.deviations, of.eligible)
    assert np.array_equal(small, epsilon_greedy(distinct, 0.0, of.eligible))
    large = best_probabilities(of.means, np.full_like(of.means, 1e13), of.eligible)
    even = uniform(of.means.shape[1], len(of.means), of.eligible)
    np.testing.assert_allclose(large, even, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -0.1])
def test_an_impossible_deviation_raises(bad: float) -> None:
    with pytest.raises(ValueError, match=f"a deviation is {bad}"):
        one([0.1, 0.2], [0.1, bad])


def test_a_mean_that_is_not_finite_and_a_row_without_eligible_actions_raise() -> None:
    with pytest.raises(ValueError, match="a score is nan"):
        one([0.1, math.nan], [0.1, 0.1])
    with pytest.raises(ValueError, match="no eligible action"):
        best_probabilities([[0.1, 0.2]], [[0.1, 0.2]], [[False, False]])


def test_no_rows_give_no_rows() -> None:
    assert best_probabilities(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0, 3)

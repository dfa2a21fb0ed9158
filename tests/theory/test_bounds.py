"""Theorem 2's bound: known answers, the sums behind it, and what changing an argument does."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.theory import (
    RegretBound,
    Variant,
    constants,
    epochwise_regret_bound,
    gamma,
    kappa,
    regret_bound,
    regret_rate,
)

both = pytest.mark.parametrize("variant", ["corrected", "paper"])


def known(variant: Variant) -> RegretBound:
    return regret_bound(1_000_000, K=2, comp=4, b=0.01, epsilon=0.1, delta=0.05, tau_1=4, variant=variant)


@both
def test_the_terms_that_variants_share(variant: Variant) -> None:
    bound = known(variant)
    assert bound.passive == pytest.approx(100020.93157, rel=1e-10)
    assert bound.azuma == pytest.approx(5432.40606, rel=1e-9)
    assert bound.first_epoch == 4.0
    assert bound.misspecification == pytest.approx(15243127.647, rel=1e-10)
    assert bound.capped == 1_000_000.0


def test_estimation_and_total_as_printed_and_corrected() -> None:
    paper, corrected = known("paper"), known("corrected")
    assert paper.estimation == pytest.approx(1.0276045553e9, rel=1e-10)
    assert corrected.estimation == pytest.approx(1.2404284270e9, rel=1e-10)
    assert paper.total == pytest.approx(1.0429531403e9, rel=1e-10)
    assert corrected.total == pytest.approx(1.2557770120e9, rel=1e-10)


def test_a_slow_class_by_hand() -> None:
    k = constants(0.5, 1.0, 2.0)
    bound = regret_bound(256, 3, 5.0, 0.02, 0.0625, 0.1, rho=0.5, rho_prime=1.0, C=2.0, B=0.03)
    root = math.sqrt(3 * 256**1.5 * math.log(256) * math.log(80) * 5)
    assert bound.estimation == pytest.approx(7.125 / math.sqrt(k.C_3) * kappa(0.5) * root, rel=1e-13)
    assert bound.misspecification == pytest.approx(k.C_10 * 0.3 * math.sqrt(2.0) * 256, rel=1e-13)
    assert bound.passive == 1 + 8 + 16
    assert bound.rate == regret_rate(256, 3, 5.0, 0.02, 0.0625, 0.1, rho=0.5, rho_prime=1.0, B=0.03)


def test_the_cap_is_the_total_where_that_is_less() -> None:
    bound = regret_bound(10**9, 2, 1, b=0.0, epsilon=0.001, delta=0.05, C=1e-3)
    assert bound.capped == bound.total < bound.T


def test_one_round() -> None:
    for form in (regret_bound, epochwise_regret_bound):
        bound = form(1, 2, 4.0, b=0.0, epsilon=0.1, delta=0.05)
        assert bound.capped == 1.0
        assert math.isfinite(bound.total)


def whole_epochs(T: int, tau_1: int, rho: float) -> float:
    """The sum that kappa bounds, over all epochs that begin before T."""
    ends = [0, tau_1]
    while ends[-1] < T:
        ends.append(2 * ends[-1])
    return sum(
        (c - b) / math.pow(b - a, rho / 2.0) for a, b, c in zip(ends, ends[1:], ends[2:], strict=False)
    )


def rounds_until(T: int, tau_1: int, rho: float) -> float:
    """The same sum, but the last epoch only up to T."""
    last = tau_1
    while 2 * last < T:
        last *= 2
    n_before = last if last == tau_1 else last // 2
    return whole_epochs(last, tau_1, rho) + max(T - last, 0) / math.pow(n_before, rho / 2.0)


def test_the_printed_kappa_is_exceeded_by_whole_epochs() -> None:
    ratio = whole_epochs(1_000_000, 7, 1.0) / math.sqrt(1_000_000)
    assert ratio == pytest.approx(4.615, abs=5e-4)
    assert kappa(1.0, "paper") == 4.0 < ratio < kappa(1.0) == pytest.approx(4.828427125, rel=1e-9)


@given(st.integers(1, 10**12), st.integers(4, 1000), st.floats(0.01, 1.0))
def test_the_corrected_kappa_is_never_exceeded(T: int, tau_1: int, rho: float) -> None:
    assert whole_epochs(T, tau_1, rho) <= kappa(rho) * T ** (1.0 - rho / 2.0)


@given(st.integers(1, 10**12), st.integers(4, 1000), st.floats(0.01, 1.0))
def test_the_printed_kappa_holds_for_rounds_until_the_horizon(T: int, tau_1: int, rho: float) -> None:
    tight = 2.0 ** (rho / 2.0) / (2.0 ** (1.0 - rho / 2.0) - 1.0)
    assert rounds_until(T, tau_1, rho) <= tight * T ** (1.0 - rho / 2.0) * (1.0 + 1e-12)
    assert tight < kappa(rho, "paper") < kappa(rho)


def test_the_corrected_kappa_is_approached() -> None:
    T = 4 * 2**30 + 1
    assert whole_epochs(T, 4, 1.0) / math.sqrt(T) > 0.999 * kappa()


def round_by_round(T: int, tau_1: int, epsilon: float, B: float, C: float) -> dict[str, float]:
    """The epochwise bound for K = 2, comp = 3, delta = .05, one round after the other."""
    k, terms = constants(C=C), dict.fromkeys(("passive", "first_epoch", "later", "active"), 0.0)
    for t in range(1, T + 1):
        m = 1 if t <= tau_1 else math.ceil(math.log2(t / tau_1)) + 1
        stop = tau_1 * 2 ** (m - 1)
        n = tau_1 if m <= 2 else stop // 2
        n_before = tau_1 if m <= 3 else n // 2
        if t > stop - math.ceil(epsilon * n):
            terms["passive"] += 1.0
            continue
        terms["active"] += 1.0
        if m == 1:
            terms["first_epoch"] += 1.0
        else:
            scale = gamma(n_before, 2, 3.0, m, 0.05, C=C)
            cost = 7.125 * 2 / scale + k.C_10 * math.sqrt(2 * B) / epsilon**0.25
            terms["later"] += min(1.0, cost)
    return terms


@pytest.mark.parametrize("C", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("T", [1, 3, 4, 5, 8, 9, 63, 64, 65, 1000])
def test_the_epochwise_bound_equals_the_sum_over_rounds(T: int, C: float) -> None:
    bound = epochwise_regret_bound(T, 2, 3.0, b=1e-5, epsilon=0.125, delta=0.05, C=C, B=1.5e-5)
    terms = round_by_round(T, 4, 0.125, 1.5e-5, C)
    assert (bound.passive, bound.first_epoch) == (terms["passive"], terms["first_epoch"])
    assert bound.estimation + bound.misspecification == pytest.approx(terms["later"], rel=1e-12)
    assert bound.azuma == pytest.approx(math.sqrt(8.0 * terms["active"] * math.log(40.0)), rel=1e-12)


Case = dict[str, float]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    return {
        "T": draw(st.integers(2, 10**7)),
        "K": draw(st.integers(2, 30)),
        "comp": draw(st.floats(0.5, 50.0)),
        "b": draw(st.floats(0.0, 0.5)),
        "epsilon": draw(st.floats(0.001, 0.45)),
        "delta": draw(st.floats(1e-6, 0.4)),
        "rho": draw(st.floats(0.3, 1.0)),
        "rho_prime": draw(st.sampled_from([0.0, 1.0])),
        "C": draw(st.floats(1e-6, 1e6)),
    }


def of(form: Callable[..., RegretBound], case: Case, **changes: object) -> RegretBound:
    return form(**(case | changes))


both_forms = pytest.mark.parametrize("form", [regret_bound, epochwise_regret_bound])
nearly = 1.0 + 1e-12


@both_forms
@given(cases(), st.floats(1.01, 2.0), st.integers(1, 5))
def test_bounds_grow_with_the_problem(
    form: Callable[..., RegretBound], case: Case, factor: float, more: int
) -> None:
    bound = of(form, case)
    for changes in (
        {"T": case["T"] + more},
        {"K": case["K"] + more},
        {"b": case["b"] * factor},
        {"comp": case["comp"] * factor},
    ):
        after = of(form, case, **changes)
        assert bound.total <= after.total * nearly
        assert bound.rate.total <= after.rate.total * nearly


@both_forms
@given(cases(), st.floats(0.5, 0.99))
def test_bounds_fall_with_delta_and_shift_with_epsilon(
    form: Callable[..., RegretBound], case: Case, factor: float
) -> None:
    bound, sure = of(form, case), of(form, case, delta=case["delta"] * factor)
    assert bound.total <= sure.total * nearly
    assert bound.rate.total <= sure.rate.total
    smaller = of(regret_bound, case, epsilon=case["epsilon"] * factor)
    whole = of(regret_bound, case)
    assert smaller.passive < whole.passive
    assert smaller.rate.passive < whole.rate.passive
    assert smaller.misspecification >= whole.misspecification
    assert smaller.rate.misspecification >= whole.rate.misspecification


@both
@given(cases())
def test_the_epochwise_bound_is_below_both_closed_forms(variant: Variant, case: Case) -> None:
    closed = of(regret_bound, case, variant=variant)
    summed = of(epochwise_regret_bound, case, variant=variant)
    for term in ("passive", "azuma", "first_epoch", "misspecification", "estimation"):
        assert getattr(summed, term) <= getattr(closed, term) * nearly
    assert summed.capped <= closed.capped


@given(cases(), st.floats(0.0, 1.0))
def test_a_known_b_prime_only_helps(case: Case, share: float) -> None:
    B = case["b"] * (1.0 + share * (case["K"] - 1.0))
    assert of(regret_bound, case, B=B).misspecification <= of(regret_bound, case).misspecification * nearly

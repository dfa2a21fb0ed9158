"""Sums of products: each is the sum that a loop over Python floats gives, in whatever company it is computed.

The loop is the second way: its result depends on nothing but the terms, so that whatever equals it to the bit
cannot depend on the batch, the other actions, the order of rows, the processor or its BLAS.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.oracles.linalg import batch_invariant
from gyrfalcon.oracles.linalg.batch_invariant import inner_products, quadratic_forms, weighted_norms

pytestmark = pytest.mark.invariance

Contraction = Callable[[Floats, Floats], Floats]
ACTIONS = st.integers(1, 12)
WIDTHS = st.sampled_from([1, 2, 3, 8, 9, 31, 33, 70])
SEEDS = st.integers(0, 2**32)


def numbers_of(seed: int, *shape: int) -> Floats:
    """Numbers of very different sizes, so that another order of a sum gives other bits."""
    rng = np.random.default_rng([seed, *shape])
    return rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, size=shape)


def symmetric(matrices: Floats) -> Floats:
    return matrices + matrices.mT


def loop_sum(a: list[float], b: list[float]) -> float:
    total = 0.0
    for one, other in zip(a, b, strict=True):
        total += one * other
    return total


def loop_norm(factor: list[list[float]], x: list[float]) -> float:
    images = [loop_sum(row, x) for row in factor]
    return math.sqrt(loop_sum(images, images))


def loop_form(matrix: list[list[float]], x: list[float]) -> float:
    columns = list(map(list, zip(*matrix, strict=True)))
    halves = [[*columns[i][:i], columns[i][i] * 0.5] for i in range(len(x))]
    return max(2.0 * loop_sum(x, [loop_sum(half, x[: len(half)]) for half in halves]), 0.0)


def by_loops(one: Callable[..., float], weights: Floats, x: Floats) -> list[list[float]]:
    return [[one(own, row) for row in x.tolist()] for own in weights.tolist()]


@given(ACTIONS, WIDTHS, st.integers(1, 40), SEEDS)
def test_an_inner_product_is_what_a_loop_over_floats_gives(K: int, d: int, n: int, seed: int) -> None:
    weights, x = numbers_of(seed, K, d), numbers_of(seed, n, d)
    assert inner_products(weights, x).tolist() == by_loops(loop_sum, weights, x)


@given(st.integers(1, 5), WIDTHS, st.integers(1, 12), SEEDS)
def test_a_norm_is_what_a_loop_over_floats_gives(K: int, d: int, n: int, seed: int) -> None:
    factors, x = numbers_of(seed, K, 1 + seed % 9, d), numbers_of(seed, n, d)
    assert weighted_norms(factors, x).tolist() == by_loops(loop_norm, factors, x)


@given(st.integers(1, 5), WIDTHS, st.integers(1, 12), SEEDS)
def test_a_quadratic_form_is_what_a_loop_over_floats_gives(K: int, d: int, n: int, seed: int) -> None:
    matrices, x = symmetric(numbers_of(seed, K, d, d)), numbers_of(seed, n, d)
    assert quadratic_forms(matrices, x).tolist() == by_loops(loop_form, matrices, x)


@pytest.mark.parametrize(
    ("K", "n", "d"),
    [(1, 1, 500), (1, 2, 500), (2, 1, 500), (3, 1, 30_000), (2, 9_000, 3), (1_500, 2_000, 2), (90, 100, 9)],
)
def test_large_products_are_cut_into_parts_and_are_what_a_loop_gives(K: int, n: int, d: int) -> None:
    weights, x = numbers_of(1, K, d), numbers_of(2, n, d)
    actions, rows = spread(K), spread(n)
    together = inner_products(weights, x)[np.ix_(actions, rows)]
    assert together.tolist() == by_loops(loop_sum, weights[actions], x[rows])


@pytest.mark.parametrize(("K", "n", "d"), [(1, 3, 130), (3, 700, 65), (2, 5_000, 9), (26, 400, 40)])
def test_large_norms_and_forms_are_cut_into_parts_and_are_what_a_loop_gives(K: int, n: int, d: int) -> None:
    matrices, x = symmetric(numbers_of(1, K, d, d)), numbers_of(2, n, d)
    actions, rows = spread(K)[-2:], spread(n)
    norms = weighted_norms(matrices, x)[np.ix_(actions, rows)]
    forms = quadratic_forms(matrices, x)[np.ix_(actions, rows)]
    assert norms.tolist() == by_loops(loop_norm, matrices[actions], x[rows])
    assert forms.tolist() == by_loops(loop_form, matrices[actions], x[rows])


def spread(n: int) -> Ints:
    """The first, the last and some places between them."""
    return np.unique(np.linspace(0, n - 1, 5).astype(np.int64))


def of_rows(K: int, d: int, seed: int) -> dict[str, tuple[Contraction, Floats]]:
    matrices = symmetric(numbers_of(seed, K, d, d))
    return {
        "inner products": (inner_products, numbers_of(seed, K, d)),
        "norms": (weighted_norms, matrices),
        "forms": (quadratic_forms, matrices),
    }


CONTRACTIONS = pytest.mark.parametrize("name", of_rows(1, 1, 0))


@CONTRACTIONS
@given(ACTIONS, WIDTHS, st.integers(1, 90), SEEDS)
def test_any_rows_in_any_order_beside_any_actions(name: str, K: int, d: int, n: int, seed: int) -> None:
    contraction, weights = of_rows(K, d, seed)[name]
    x, rng = numbers_of(seed, n, d), np.random.default_rng(seed)
    rows, actions = rng.integers(0, n, size=rng.integers(1, 40)), rng.integers(0, K, size=rng.integers(1, 15))
    together = contraction(weights, x)
    assert np.array_equal(contraction(weights[actions], x[rows]), together[np.ix_(actions, rows)])


@CONTRACTIONS
@given(WIDTHS, st.lists(st.integers(0, 40), min_size=1, max_size=6), SEEDS)
def test_any_cut_of_a_batch(name: str, d: int, sizes: list[int], seed: int) -> None:
    contraction, weights = of_rows(3, d, seed)[name]
    x = numbers_of(seed, sum(sizes), d)
    parts = [contraction(weights, part) for part in np.split(x, np.cumsum(sizes)[:-1])]
    assert np.array_equal(np.concatenate(parts, axis=1), contraction(weights, x))


@pytest.mark.parametrize("name", ["inner products", "norms"])
@given(st.integers(1, 7), st.integers(1, 6), WIDTHS, st.integers(1, 30), SEEDS)
def test_replications_of_a_stack_are_each_what_they_are_alone(
    name: str, R: int, K: int, d: int, n: int, seed: int
) -> None:
    stacks = [of_rows(K, d, seed + one)[name] for one in range(R)]
    x = numbers_of(seed, R, n, d)
    together = stacks[0][0](np.stack([weights for _, weights in stacks]), x)
    for one, (contraction, weights) in enumerate(stacks):
        assert np.array_equal(together[one], contraction(weights, x[one]))


def test_a_large_stack_of_replications_is_cut_into_parts() -> None:
    factors, x = numbers_of(1, 12, 10, 21, 21), numbers_of(2, 12, 300, 21)
    together = weighted_norms(factors, x)
    assert all(np.array_equal(together[r], weighted_norms(factors[r], x[r])) for r in (0, 5, 11))
    products = inner_products(factors[:, :, 0], x)
    assert all(np.array_equal(products[r], inner_products(factors[r, :, 0], x[r])) for r in (0, 5, 11))


@pytest.mark.parametrize(("sums", "terms"), list(product([1, 2, 7, 64], repeat=2)))
def test_sizes_of_parts_change_nothing(monkeypatch: pytest.MonkeyPatch, sums: int, terms: int) -> None:
    x = numbers_of(3, 11, 13)
    usual = {name: contraction(weights, x) for name, (contraction, weights) in of_rows(4, 13, 3).items()}
    monkeypatch.setattr(batch_invariant, "_SUMS", sums)
    monkeypatch.setattr(batch_invariant, "_TERMS", terms)
    monkeypatch.setattr(batch_invariant, "_COLUMNS", sums)
    for name, (contraction, weights) in of_rows(4, 13, 3).items():
        assert np.array_equal(contraction(weights, x), usual[name])
        assert np.array_equal(contraction(weights, x[5:6]), usual[name][:, 5:6])


@given(SEEDS)
def test_operands_may_lie_in_memory_in_any_way(seed: int) -> None:
    weights, x = numbers_of(seed, 5, 20), numbers_of(seed, 30, 20)
    usual = inner_products(weights, x)
    assert np.array_equal(inner_products(np.asfortranarray(weights), np.asfortranarray(x)), usual)
    assert np.array_equal(inner_products(weights, np.repeat(x, 2, axis=0)[::2]), usual)
    assert np.array_equal(inner_products(weights[::-1], x[::-1]), usual[::-1, ::-1])


@given(st.integers(1, 4), st.sampled_from([1, 5, 40]), SEEDS)
def test_results_are_as_accurate_as_sums_in_sequence_are(K: int, d: int, seed: int) -> None:
    """Rounding stays below d epsilon times the sum of absolute terms, 50 digits being exact here."""
    matrices, x = symmetric(numbers_of(seed, K, d, d)), numbers_of(seed, 2, d)
    unit, sizes = (2 * d + 4) * np.finfo(np.float64).eps, np.abs(matrices)
    products, norms, forms = inner_products(x, x), weighted_norms(matrices, x), quadratic_forms(matrices, x)
    with mpmath.workdps(50):
        for k, n in product(range(K), range(2)):
            row = mpmath.matrix(x[n].tolist())
            image = mpmath.matrix(matrices[k].tolist()) * row
            bound = np.abs(x[n]) @ sizes[k] @ np.abs(x[n])
            assert abs(products[n, n] - (row.T * row)[0]) <= unit * (x[n] @ x[n])
            assert abs(forms[k, n] - max((row.T * image)[0], 0)) <= unit * bound
            assert abs(norms[k, n] - mpmath.norm(image)) <= unit * np.linalg.norm(sizes[k] @ np.abs(x[n]))


def test_a_form_is_never_negative() -> None:
    assert quadratic_forms(-np.eye(3)[np.newaxis], numbers_of(0, 4, 3)).tolist() == [[0.0] * 4]
    assert quadratic_forms(-np.eye(3)[np.newaxis], numbers_of(0, 9, 3)).tolist() == [[0.0] * 9]


@pytest.mark.parametrize("n", [1, 2, 5, 70])
def test_an_infinite_feature_gives_every_batch_the_same(n: int) -> None:
    x = np.tile(np.r_[np.inf, np.zeros(39)], (n, 1))
    with np.errstate(invalid="ignore"):
        forms = quadratic_forms(np.tile(np.eye(40), (2, 1, 1)), x)
        products = inner_products(np.ones((2, 40)), x)
    assert np.array_equal(forms, np.full((2, n), np.nan), equal_nan=True)
    assert np.array_equal(products, np.full((2, n), np.inf))


def test_buffers_have_their_size_again_afterwards() -> None:
    before = np.getbufsize()
    inner_products(numbers_of(0, 10, 50), numbers_of(0, 1_000, 50))
    quadratic_forms(symmetric(numbers_of(0, 3, 50, 50)), numbers_of(0, 1_000, 50))
    assert np.getbufsize() == before


def test_no_rows_have_no_products_and_no_features_give_zero() -> None:
    assert inner_products(numbers_of(0, 3, 2), np.empty((0, 2))).shape == (3, 0)
    assert weighted_norms(numbers_of(0, 3, 2, 2), np.empty((0, 2))).shape == (3, 0)
    assert quadratic_forms(numbers_of(0, 3, 2, 2), np.empty((0, 2))).shape == (3, 0)
    for n in (1, 5):
        assert inner_products(np.empty((3, 0)), np.empty((n, 0))).tolist() == [[0.0] * n] * 3
        assert weighted_norms(np.empty((3, 0, 0)), np.empty((n, 0))).tolist() == [[0.0] * n] * 3
        assert quadratic_forms(np.empty((3, 0, 0)), np.empty((n, 0))).tolist() == [[0.0] * n] * 3
    assert inner_products(np.empty((1, 0)), np.empty((1, 0))).tolist() == [[0.0]]

"""Products of weights and rows: right, and the same bits for a row in any company."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.arrays import Floats
from gyrfalcon.oracles.linalg import batch_invariant
from gyrfalcon.oracles.linalg.batch_invariant import forms, lengths, lines

SHAPES = st.tuples(st.integers(1, 12), st.sampled_from([1, 2, 5, 9, 20, 33, 70, 300]))


def rows_of(seed: int, n: int, width: int) -> Floats:
    return np.random.default_rng([seed, 1]).standard_normal((n, width))


def weights_of(seed: int, *shape: int) -> Floats:
    return np.random.default_rng([seed, 2]).standard_normal(shape)


@given(SHAPES, st.integers(1, 90), st.integers(0, 2**32))
def test_a_row_has_the_same_products_in_any_company(shape: tuple[int, int], n: int, seed: int) -> None:
    weights, x = weights_of(seed, *shape), rows_of(seed, n, shape[1])
    chosen = np.random.default_rng(seed).integers(0, n, size=1 + seed % 40)
    together = lines(weights, x)
    np.testing.assert_allclose(together, weights @ x.T, rtol=1e-12, atol=1e-12)
    assert np.array_equal(lines(weights, x[chosen]), together[:, chosen])
    stacked = lines(np.stack([2.0 * weights, weights]), np.stack([x, x]))
    assert np.array_equal(stacked[1], together)


@given(st.integers(1, 6), st.sampled_from([1, 2, 5, 9, 20]), st.integers(1, 90), st.integers(0, 2**32))
def test_a_row_has_the_same_lengths_in_any_company(K: int, d: int, n: int, seed: int) -> None:
    factors, x = weights_of(seed, K, d, d), rows_of(seed, n, d)
    chosen = np.random.default_rng(seed).integers(0, n, size=1 + seed % 40)
    together = lengths(factors, x)
    norms = np.linalg.norm(np.einsum("kij,nj->kni", factors, x), axis=2)
    np.testing.assert_allclose(together, norms, rtol=1e-12)
    assert np.array_equal(lengths(factors, x[chosen]), together[:, chosen])
    stacked = lengths(np.stack([2.0 * factors, factors]), np.stack([x, x]))
    assert np.array_equal(stacked[1], together)


@given(st.integers(1, 6), st.sampled_from([1, 2, 5, 9, 20, 130]), st.integers(1, 60), st.integers(0, 2**32))
def test_a_row_has_the_same_forms_in_any_company(K: int, d: int, n: int, seed: int) -> None:
    roots, x = weights_of(seed, K, d, d), rows_of(seed, n, d)
    matrices = roots @ roots.mT
    chosen = np.random.default_rng(seed).integers(0, n, size=1 + seed % 40)
    together = forms(matrices, x)
    np.testing.assert_allclose(together, lengths(roots.mT.copy(), x) ** 2, rtol=1e-9)
    assert np.array_equal(forms(matrices, x[chosen]), together[:, chosen])
    stacked = forms(np.stack([2.0 * matrices, matrices]), np.stack([x, x]))
    assert np.array_equal(stacked[1], together)


def test_forms_of_many_large_matrices_are_taken_action_by_action_and_change_nothing() -> None:
    roots, x = weights_of(0, 7, 128, 128), rows_of(0, 300, 128)
    matrices = roots @ roots.mT
    together = forms(matrices, x)
    np.testing.assert_allclose(
        together, np.einsum("nd,kde,ne->kn", x, matrices, x, optimize=True), rtol=1e-10
    )
    assert np.array_equal(forms(matrices, x[17:18]), together[:, 17:18])


def test_a_form_is_never_negative() -> None:
    assert forms(-np.eye(3)[np.newaxis], rows_of(0, 4, 3)).tolist() == [[0.0] * 4]


def test_many_rows_are_worked_on_in_stretches_that_change_nothing() -> None:
    factors, x = weights_of(0, 10, 21, 21), rows_of(0, 2_001, 21)
    together = lengths(factors, x)
    assert np.array_equal(lengths(factors, x[-1:]), together[:, -1:])
    assert np.array_equal(lengths(factors, x[700:1_400]), together[:, 700:1_400])


def test_weights_too_many_for_one_thread_are_given_in_parts() -> None:
    weights, x = weights_of(0, 100, 400), rows_of(0, 50, 400)
    together = lines(weights, x)
    np.testing.assert_allclose(together, weights @ x.T, rtol=1e-10, atol=1e-10)
    assert np.array_equal(lines(weights, x[7:8]), together[:, 7:8])


def test_a_library_whose_bits_depend_on_the_place_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    weights, x = weights_of(0, 10, 20), rows_of(0, 40, 20)
    monkeypatch.setattr(batch_invariant, "_weights_at_once", lambda height, width: 0)  # noqa: ARG005
    together = lines(weights, x)
    np.testing.assert_allclose(together, weights @ x.T, rtol=1e-12, atol=1e-12)
    assert np.array_equal(lines(weights, x[3:4]), together[:, 3:4])


def test_no_rows_have_no_products() -> None:
    assert lines(weights_of(0, 3, 2), np.empty((0, 2))).shape == (3, 0)
    assert lengths(weights_of(0, 3, 2, 2), np.empty((0, 2))).shape == (3, 0)
    assert forms(weights_of(0, 3, 2, 2), np.empty((0, 2))).shape == (3, 0)
    assert forms(weights_of(0, 3, 0, 0), np.empty((5, 0))).tolist() == [[0.0] * 5] * 3
    assert lines(weights_of(0, 3, 0), np.empty((5, 0))).tolist() == [[0.0] * 5] * 3

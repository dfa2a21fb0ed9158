"""A regression at rest wakes as the regression that it would have been."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.records import Log
from gyrfalcon.oracles.features.bases import IdentityMap
from gyrfalcon.oracles.features.design import columns_of
from gyrfalcon.oracles.recursive.deferred import DeferredRidge
from gyrfalcon.oracles.recursive.ridge import RecursiveRidge
from tests.oracles.test_recursive_ridge import in_batches, log_of, some_log

ARRAYS = ("inverses", "prefix_inverses", "coefficients", "cross", "squares", "weights")


def assert_alike(one: RecursiveRidge, other: RecursiveRidge, tolerance: float = 1e-9) -> None:
    assert (one.prefix_inverses is None) == (other.prefix_inverses is None)
    for name in ARRAYS:
        ours, theirs = getattr(one, name), getattr(other, name)
        if ours is not None:
            np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance, err_msg=name)


def rested(state: RecursiveRidge, log: Log, sizes: list[int]) -> DeferredRidge:
    resting = DeferredRidge.of(state)
    for start, end in zip(np.cumsum([0, *sizes]), np.cumsum(sizes), strict=False):
        resting = resting.with_rows(log.take(slice(start, end)))
    return resting


@given(
    st.integers(0, 2**32),
    st.integers(0, 8),
    st.integers(1, 4),
    st.integers(1, 12),
    st.integers(0, 60),
    st.lists(st.integers(0, 40), min_size=1, max_size=6),
    st.sampled_from([0.1, 1.0, 30.0]),
)
def test_it_wakes_as_if_it_had_never_rested(
    seed: int, p: int, n_actions: int, n_prefix: int, n_before: int, sizes: list[int], ridge: float
) -> None:
    before, log = some_log(seed, n_before, p, n_actions), some_log(seed + 1, sum(sizes), p, n_actions)
    state = RecursiveRidge.start(IdentityMap(p), n_actions, ridge, n_prefix).with_rows(before)
    assert_alike(rested(state, log, sizes).resume(), in_batches(state, log, sizes))


@pytest.mark.parametrize("p", [40, 200])
def test_so_do_classes_below_and_above_the_usual_number_of_leading_columns(p: int) -> None:
    before, log = some_log(0, 150, p, 3), some_log(1, 400, p, 3)
    state = RecursiveRidge.start(IdentityMap(p), 3).with_rows(before)
    assert (state.prefix_inverses is not None) == (p == 200)
    awake, never_rested = rested(state, log, [1, 99, 300]).resume(), state.with_rows(log)
    assert_alike(awake, never_rested)
    contexts = some_log(2, 50, p, 3).contexts
    np.testing.assert_allclose(
        awake.model(0.7).scores(contexts), never_rested.model(0.7).scores(contexts), atol=1e-9
    )


def test_it_can_rest_again_and_again() -> None:
    log = some_log(3, 900, 6, 2)
    state = kept = RecursiveRidge.start(IdentityMap(6), 2, n_prefix=4)
    for start in range(0, 900, 100):
        part = log.take(slice(start, start + 100))
        state, kept = DeferredRidge.of(state).with_rows(part).resume(), kept.with_rows(part)
    assert_alike(state, kept)


def test_actions_without_new_rows_stay_as_they_are_to_the_last_bit() -> None:
    before, log = some_log(4, 100, 5, 3), some_log(5, 200, 5, 2)  # action 2 gets no new rows
    state = RecursiveRidge.start(IdentityMap(5), 4, n_prefix=3).with_rows(before)
    awake = DeferredRidge.of(state).with_rows(log).resume()
    for name in ("inverses", "coefficients", "cross", "squares", "weights"):
        assert np.array_equal(getattr(awake, name)[2:], getattr(state, name)[2:])
    assert awake.prefix_inverses is not None
    assert state.prefix_inverses is not None
    assert np.array_equal(awake.prefix_inverses[2:], state.prefix_inverses[2:])
    assert awake.known is not None
    assert awake.known.tolist() == [True, True, True, False]


def test_rest_without_rows_changes_nothing() -> None:
    state = RecursiveRidge.start(IdentityMap(3), 2).with_rows(some_log(6, 50, 3, 2))
    resting = DeferredRidge.of(state)
    assert resting.with_rows(some_log(6, 0, 3, 2)) is resting
    assert_alike(resting.resume(), state, 0.0)
    assert resting.n_columns == state.n_columns == 4


def test_a_regression_at_rest_is_never_changed() -> None:
    state = RecursiveRidge.start(IdentityMap(3), 2, n_prefix=2).with_rows(some_log(7, 50, 3, 2))
    resting = DeferredRidge.of(state).with_rows(some_log(8, 50, 3, 2))
    arrays = [getattr(resting, field.name) for field in fields(resting)[1:]]
    arrays += [getattr(state, name) for name in ARRAYS]
    before = [array.copy() for array in arrays]
    resting.with_rows(some_log(9, 50, 3, 2))
    resting.resume().with_rows(some_log(9, 50, 3, 2))
    resting.scaled(0.5)
    resting.reindexed(np.array([1, -1]))
    assert all(np.array_equal(one, other) for one, other in zip(arrays, before, strict=True))


def test_actions_come_and_go_while_it_rests() -> None:
    before, log = some_log(10, 100, 4, 3), some_log(11, 80, 4, 3)
    source = np.array([2, -1, 0])
    state = RecursiveRidge.start(IdentityMap(4), 3, n_prefix=2).with_rows(before)
    moved = DeferredRidge.of(state).with_rows(log).reindexed(source)
    assert_alike(moved.resume(), state.with_rows(log).reindexed(source))
    new = log_of(np.zeros((1, 4)), np.array([1]), np.array([1.0]))
    assert moved.with_rows(new).resume().coefficients[1, 0] == pytest.approx(0.5)


@pytest.mark.parametrize("factor", [0.0, 0.25, 1.0])
def test_rows_are_forgotten_while_it_rests(factor: float) -> None:
    before, log, later = some_log(12, 100, 4, 2), some_log(13, 80, 4, 2), some_log(14, 60, 4, 2)
    state = RecursiveRidge.start(IdentityMap(4), 2, n_prefix=3).with_rows(before)
    awake = DeferredRidge.of(state).with_rows(log).scaled(factor).with_rows(later).resume()
    assert_alike(awake, state.with_rows(log).scaled(factor).with_rows(later))


def test_collinear_rows_on_odd_scales_keep_eight_digits() -> None:
    rng = np.random.default_rng(15)
    x = rng.normal(size=(5_000, 4))
    x[:, 1] = x[:, 0] + 1e-6 * x[:, 1]
    x *= np.array([1.0, 1.0, 30.0, 1e-3])
    log = log_of(x, rng.integers(0, 2, 5_000), rng.random(5_000))
    state = RecursiveRidge.start(IdentityMap(4), 2).with_rows(log.take(slice(0, 100)))
    awake = DeferredRidge.of(state).with_rows(log.take(slice(100, None))).resume()
    expected = RecursiveRidge.start(IdentityMap(4), 2).with_rows(log)
    phi = columns_of(expected.basis, log.contexts)
    np.testing.assert_allclose(phi @ awake.coefficients.T, phi @ expected.coefficients.T, atol=1e-8)
    ours, theirs = (one.predicted(log)[1] for one in (awake, expected))
    np.testing.assert_allclose(ours, theirs, rtol=1e-8)

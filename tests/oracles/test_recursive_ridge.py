"""A running ridge regression is the regression of all its rows, however they arrived."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import Log
from gyrfalcon.oracles.features.bases import IdentityMap
from gyrfalcon.oracles.features.design import columns_of
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.recursive.ridge import RecursiveRidge


def log_of(x: Floats, action: Ints, reward: Floats) -> Log:
    zeros = np.zeros(len(action), dtype=np.int64)
    return Log(Contexts(x), action, reward, np.ones(len(action)), zeros, zeros, zeros)


def some_log(seed: int, n: int, p: int, n_actions: int) -> Log:
    rng = np.random.default_rng([seed, n, p])
    x, action = rng.normal(size=(n, p)), rng.integers(0, n_actions, n)
    return log_of(x, action, rng.random(n))


def in_batches(state: RecursiveRidge, log: Log, sizes: list[int]) -> RecursiveRidge:
    for start, end in zip(np.cumsum([0, *sizes]), np.cumsum(sizes), strict=False):
        state = state.with_rows(log.take(slice(start, end)))
    return state


def direct(log: Log, action: int, ridge: float) -> tuple[Floats, Floats, float]:
    """Coefficients, (A + ridge)^-1 and the sum of squared errors by QR of rows and penalty."""
    own = log.action == action
    phi = np.column_stack([np.ones(own.sum()), log.contexts.shared[own]])
    d = phi.shape[1]
    q, r = np.linalg.qr(np.concatenate([phi, np.sqrt(ridge) * np.eye(d)]))
    theta = np.linalg.solve(r, q[: len(phi)].T @ log.reward[own])
    root = np.linalg.inv(r)
    return theta, root @ root.T, float(np.sum((log.reward[own] - phi @ theta) ** 2))


def assert_is_the_direct_fit(state: RecursiveRidge, log: Log, rtol: float) -> None:
    phi = np.column_stack([np.ones(len(log)), log.contexts.shared])
    total = 0.0
    for action in range(state.n_actions):
        theta, inverse, squares = direct(log, action, state.ridge)
        total += squares
        np.testing.assert_allclose(phi @ state.coefficients[action], phi @ theta, rtol=rtol, atol=rtol)
        told = np.einsum("nd,de,ne->n", phi, state.inverses[action], phi)
        np.testing.assert_allclose(told, np.einsum("nd,de,ne->n", phi, inverse, phi), rtol=rtol)
    assert state.residual_variance == pytest.approx(total / len(log), rel=1e-6, abs=1e-12)


@given(
    st.integers(0, 2**32),
    st.integers(0, 6),
    st.integers(1, 4),
    st.lists(st.integers(0, 30), min_size=1, max_size=8),
    st.sampled_from([0.1, 1.0, 30.0]),
)
def test_rows_in_any_number_of_calls_give_the_direct_fit(
    seed: int, p: int, n_actions: int, sizes: list[int], ridge: float
) -> None:
    log = some_log(seed, sum(sizes), p, n_actions)
    empty = RecursiveRidge.start(IdentityMap(p), n_actions, ridge)
    state = in_batches(empty, log, sizes)
    if len(log):
        assert_is_the_direct_fit(state, log, 1e-10)
    at_once = empty.with_rows(log)
    np.testing.assert_allclose(state.coefficients, at_once.coefficients, rtol=1e-10, atol=1e-10)
    assert np.array_equal(state.inverses, state.inverses.mT)
    assert state.n == len(log)


@pytest.mark.parametrize("largest", [1, pytest.param(20, marks=pytest.mark.long), 500])
def test_badly_scaled_and_collinear_rows_keep_eight_digits_for_good(largest: int) -> None:
    rng = np.random.default_rng(largest)
    n = 100_000 if largest > 1 else 10_000
    x = rng.normal(size=(n, 6))
    x[:, 1] = x[:, 0] + 1e-7 * x[:, 1]
    x[:, 2] = x[:, 0] - x[:, 3]
    x *= np.array([1.0, 1.0, 1.0, 1.0, 1e3, 1e-3])
    action = rng.integers(0, 2, n)
    reward = np.clip(0.5 + 0.1 * x[:, 0] + 1e-4 * x[:, 4] * (action - 0.5) + 0.1 * rng.normal(size=n), 0, 1)
    log = log_of(x, action, reward)
    sizes: list[int] = []
    while sum(sizes) < n:
        sizes.append(int(rng.integers(1, largest + 1)))
    state = in_batches(RecursiveRidge.start(IdentityMap(6), 2), log, sizes)
    assert_is_the_direct_fit(state, log, 1e-8)


def test_fewer_rows_than_columns_are_fitted_as_well() -> None:
    log = some_log(0, 40, 150, 2)
    state = in_batches(RecursiveRidge.start(IdentityMap(150), 2), log, [7, 1, 20, 12])
    assert_is_the_direct_fit(state, log, 1e-9)


def test_the_leading_block_is_the_inverse_of_the_first_columns_alone() -> None:
    log = some_log(1, 300, 9, 3)
    state = in_batches(RecursiveRidge.start(IdentityMap(9), 3, n_prefix=4), log, [5, 100, 195])
    short = log_of(np.ascontiguousarray(log.contexts.shared[:, :3]), log.action, log.reward)
    alone = RecursiveRidge.start(IdentityMap(3), 3).with_rows(short)
    assert state.prefix_inverses is not None
    np.testing.assert_allclose(state.prefix_inverses, alone.inverses, rtol=1e-10, atol=1e-14)
    widths = state.model(1.0).widths(log.contexts)
    np.testing.assert_allclose(widths, alone.model(1.0).widths(short.contexts), rtol=1e-10)


def test_a_state_is_never_changed() -> None:
    log = some_log(2, 60, 3, 2)
    state = RecursiveRidge.start(IdentityMap(3), 2, n_prefix=2).with_rows(log)
    names = [field.name for field in fields(state) if isinstance(getattr(state, field.name), np.ndarray)]
    before = {name: getattr(state, name).copy() for name in names}
    state.with_rows(log)
    state.scaled(0.5)
    state.reindexed(np.array([1, -1]))
    state.model(1.0).scores(log.contexts)
    assert all(np.array_equal(getattr(state, name), before[name]) for name in names)


def test_predictions_are_those_of_the_actions_that_were_played() -> None:
    log = some_log(3, 5_000, 4, 3)  # more rows than are held at a time
    state = RecursiveRidge.start(IdentityMap(4), 3).with_rows(log)
    values, leverages = state.predicted(log)
    rows, model = np.arange(len(log)), state.model()
    np.testing.assert_allclose(values, model.means(log.contexts)[rows, log.action], rtol=1e-12)
    np.testing.assert_allclose(leverages, model.widths(log.contexts)[rows, log.action] ** 2, rtol=1e-10)
    phi = columns_of(state.basis, log.contexts)
    assert np.sum(leverages) == pytest.approx(state.degrees_of_freedom)  # sum of phi'P phi = tr(A P)
    assert phi.shape == (5_000, state.n_columns)


def test_it_is_the_ridge_regression_of_the_linear_oracle() -> None:
    log = some_log(4, 400, 3, 2)
    oracle = Linear(ridge=1.0, standardise=False).oracle(Contexts(np.zeros((1, 3))), 2)
    reference, _ = oracle.optimistic(oracle.summarise(log), 0.7)
    model = RecursiveRidge.start(IdentityMap(3), 2).with_rows(log).model(0.7, center=float(log.reward.mean()))
    np.testing.assert_allclose(model.scores(log.contexts), reference.scores(log.contexts), rtol=1e-9)


@pytest.mark.invariance
@given(st.integers(0, 2**32), st.sampled_from([1, 4, 20]), st.integers(1, 40))
def test_a_row_has_the_same_scores_alone_and_in_any_batch(seed: int, p: int, n: int) -> None:
    state = RecursiveRidge.start(IdentityMap(p), 5, n_prefix=7).with_rows(some_log(seed, 50, p, 5))
    model, contexts = state.model(0.5), some_log(seed + 1, n, p, 5).contexts
    together = model.scores(contexts)
    for row in range(n):
        assert np.array_equal(model.scores(contexts.take(slice(row, row + 1)))[0], together[row])


def test_an_action_without_rows_is_just_above_the_best_of_the_others_before_its_bonus() -> None:
    log = some_log(5, 50, 2, 2)
    model = RecursiveRidge.start(IdentityMap(2), 3).with_rows(log).model(0.0)
    assert model.known is not None
    assert model.known.tolist() == [True, True, False]
    means = model.means(log.contexts)
    assert np.array_equal(means[:, 2], np.nextafter(means[:, :2].max(axis=1), np.inf))
    masked = Contexts(log.contexts.shared, eligible=np.tile([True, False, True], (50, 1)))
    assert np.array_equal(model.means(masked)[:, 2], np.nextafter(means[:, 0], np.inf))


def test_estimates_are_kept_within_bounds_before_the_bonus() -> None:
    log = some_log(6, 30, 1, 1)
    state = RecursiveRidge.start(IdentityMap(1), 1).with_rows(log)
    far = Contexts(np.array([[1e6], [-1e6]]))
    model = state.model(2.0, bounds=(-0.5, 1.5))
    assert sorted(model.means(far)[:, 0].tolist()) == [-0.5, 1.5]
    np.testing.assert_allclose(model.scores(far), model.means(far) + 2.0 * model.widths(far))


@pytest.mark.parametrize("factor", [0.0, 1e-6, 0.5, 0.999, 1.0, 3.0])
def test_forgetting_is_exact(factor: float) -> None:
    log, later = some_log(7, 500, 6, 2), some_log(8, 40, 6, 2)
    faded = RecursiveRidge.start(IdentityMap(6), 3, n_prefix=3).with_rows(log).scaled(factor)
    both = faded.with_rows(later)
    phi, again = (np.column_stack([np.ones(len(one)), one.contexts.shared]) for one in (log, later))
    for action in range(3):
        old, new = log.action == action, later.action == action
        gram = factor * phi[old].T @ phi[old] + again[new].T @ again[new] + np.eye(7)
        cross = factor * log.reward[old] @ phi[old] + later.reward[new] @ again[new]
        np.testing.assert_allclose(both.inverses[action], np.linalg.inv(gram), rtol=1e-9, atol=1e-13)
        np.testing.assert_allclose(both.coefficients[action], np.linalg.solve(gram, cross), atol=1e-10)
        assert both.prefix_inverses is not None
        prefix = np.linalg.inv(gram[:3, :3])
        np.testing.assert_allclose(both.prefix_inverses[action], prefix, rtol=1e-9, atol=1e-13)
    assert both.n == pytest.approx(factor * 500 + 40)
    assert np.array_equal(both.inverses, both.inverses.mT)


def test_actions_come_and_go() -> None:
    log = some_log(9, 200, 3, 3)
    state = RecursiveRidge.start(IdentityMap(3), 3, n_prefix=2).with_rows(log)
    moved = state.reindexed(np.array([2, -1, 0, -1]))
    assert np.array_equal(moved.inverses[[0, 2]], state.inverses[[2, 0]])
    assert np.array_equal(moved.coefficients[[0, 2]], state.coefficients[[2, 0]])
    assert np.array_equal(moved.inverses[1], np.eye(4))
    assert moved.prefix_inverses is not None
    assert np.array_equal(moved.prefix_inverses[3], np.eye(2))
    assert moved.known is not None
    assert moved.known.tolist() == [True, False, True, False]
    assert moved.n == np.sum(log.action != 1)
    new = log_of(np.zeros((1, 3)), np.array([1]), np.array([1.0]))
    assert moved.with_rows(new).coefficients[1, 0] == pytest.approx(0.5)


def test_without_inputs_there_is_the_mean_shrunk_by_the_ridge() -> None:
    log = log_of(np.empty((3, 0)), np.array([0, 0, 0]), np.array([1.0, 0.0, 1.0]))
    state = RecursiveRidge.start(IdentityMap(0), 1).with_rows(log)
    assert state.coefficients.tolist() == [[0.5]]
    assert state.inverses.tolist() == [[[0.25]]]
    assert state.residual_variance == pytest.approx(0.25)


def test_no_rows_change_nothing_and_have_no_variance() -> None:
    empty = RecursiveRidge.start(IdentityMap(2), 2)
    assert empty.with_rows(some_log(0, 0, 2, 2)) is empty
    assert empty.residual_variance == 0.0
    assert empty.degrees_of_freedom == 0.0
    assert empty.predicted(some_log(0, 0, 2, 2))[0].shape == (0,)
    assert empty.model(1.0).means(Contexts(np.zeros((2, 2)))).tolist() == [[0.0, 0.0]] * 2


def test_the_variance_of_a_perfect_fit_is_not_negative() -> None:
    x = np.random.default_rng(0).normal(size=(1_000, 3))
    log = log_of(x, np.zeros(1_000, dtype=np.int64), 1e4 + x @ np.array([1.0, 2.0, 3.0]))
    state = RecursiveRidge.start(IdentityMap(3), 1, ridge=1e-9).with_rows(log)
    assert 0.0 <= state.residual_variance < 1e-6


@pytest.mark.parametrize("n", [1, 50])
@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_rows_beyond_numbers_are_refused_and_leave_the_state(bad: float, n: int) -> None:
    log = some_log(10, n, 3, 1)
    log.contexts.shared[0, 1] = bad
    state = RecursiveRidge.start(IdentityMap(3), 1)
    with pytest.raises(ValueError, match="Features or rewards are not finite, or too large"):
        state.with_rows(log)
    good = some_log(10, n, 3, 1)
    good.reward[0] = bad
    with pytest.raises(ValueError, match="not finite, or too large"):
        state.with_rows(good)
    assert np.array_equal(state.inverses[0], np.eye(4))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RecursiveRidge.start(IdentityMap(1), 2, ridge=0.0), "ridge is 0.0; a recursive fit needs"),
        (lambda: RecursiveRidge.start(IdentityMap(1), 2, n_prefix=0), "n_prefix is 0"),
        (lambda: RecursiveRidge.start(IdentityMap(1), 2).scaled(-1.0), "factor is -1.0"),
    ],
)
def test_settings_without_meaning_are_refused(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]

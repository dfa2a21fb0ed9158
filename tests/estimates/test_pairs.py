from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from gyrfalcon.estimates.misspecification.nearest_pairs import action_pairs
from gyrfalcon.estimates.misspecification.passive_rows import folds, groups
from tests.estimates.rows import passive_log


@given(st.integers(0, 60), st.integers(0, 3), st.integers(1, 4), st.booleans(), st.integers(0, 10**6))
def test_pairs_are_disjoint_and_within_actions(n: int, d: int, K: int, coarse: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 3, (n, d)) if coarse else rng.random((n, d))
    log = passive_log(x, rng.integers(0, K, n), rng.random(n))
    pairs = action_pairs(log)
    assert len(np.unique(pairs)) == pairs.size
    assert (log.action[pairs[:, 0]] == log.action[pairs[:, 1]]).all()
    if d < 2:
        assert len(pairs) == (np.bincount(log.action, minlength=K) // 2).sum()


@given(st.integers(2, 80), st.integers(0, 3), st.booleans(), st.integers(0, 10**6))
@example(n=60, d=3, coarse=True, seed=82)
def test_the_order_of_rows_does_not_matter(n: int, d: int, coarse: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 3, (n, d)) if coarse else rng.random((n, d))
    log = passive_log(x, rng.integers(0, 2, n), rng.random(n))
    order = rng.permutation(n)
    shuffled = log.take(order)
    assert np.array_equal(action_pairs(log), order[action_pairs(shuffled)])
    assert np.array_equal(groups(log)[order], groups(shuffled))
    assert np.array_equal(folds(log, 3)[order], folds(shuffled, 3))


def test_equal_contexts_are_paired_first_and_in_the_order_of_rounds() -> None:
    x = np.array([[0.0, 0.0], [9.0, 1.0], [0.0, 0.0], [-0.0, 0.0], [9.0, 1.1]])
    pairs = action_pairs(passive_log(x, np.zeros(5, dtype=np.int64), np.arange(5.0)))
    assert pairs.tolist() == [[0, 2], [1, 4]]


def test_on_a_line_neighbours_are_paired() -> None:
    x = np.array([0.9, 0.1, 0.45, 0.5])[:, np.newaxis]
    pairs = action_pairs(passive_log(x, np.zeros(4, dtype=np.int64), np.zeros(4)))
    assert sorted(map(sorted, pairs.tolist())) == [[0, 3], [1, 2]]


def test_pairs_are_near_and_few_rows_are_left_over() -> None:
    x = np.random.default_rng(0).random((4000, 2))
    pairs = action_pairs(passive_log(x, np.zeros(4000, dtype=np.int64), np.zeros(4000)))
    assert len(pairs) > 0.92 * 2000
    distances = np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1)
    # Rows are about 1 / sqrt(4000) = .016 apart.
    assert np.sqrt(np.mean(distances**2)) < 0.02
    assert distances.max() < 0.1


def test_features_count_in_units_of_their_spread() -> None:
    x = np.array([[0.0, 0.0], [1000.0, 0.0], [0.0, 1.0], [1000.0, 1.1]])
    log = passive_log(x, np.zeros(4, dtype=np.int64), np.zeros(4))
    scaled = passive_log(x * [1e-6, 1.0], np.zeros(4, dtype=np.int64), np.zeros(4))
    assert np.array_equal(action_pairs(log), action_pairs(scaled))


def test_folds_share_out_the_rows_of_each_action() -> None:
    rng = np.random.default_rng(1)
    action = rng.integers(0, 3, 200)
    fold = folds(passive_log(np.zeros((200, 0)), action, np.zeros(200)), 4)
    for one in range(3):
        counts = np.bincount(fold[action == one], minlength=4)
        assert counts.max() - counts.min() <= 1

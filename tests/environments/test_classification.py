"""Classification data as a bandit: which rows come when, what they earn, and what is refused."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, zscore

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.policies.kernel_policy import UniformPolicy
from gyrfalcon.environments.data.classification import Classification
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.simulation.replications import simulate
from tests.environments.drawing import assert_same_however_cut, same

ORDERS: Any = ["passes", "iid"]


def numbered(n: int, n_classes: int = 3, **options: Any) -> Classification:
    """Rows whose feature is their number, of classes in turns."""
    return Classification(np.arange(n)[:, None], np.arange(n) % n_classes, standardise=False, **options)


def seen(environment: Classification, start: int, stop: int, seed: int = 0) -> list[float]:
    numbers: list[float] = environment.draw(start, stop, seed).contexts.shared[:, 0].tolist()
    return numbers


# Which rows come when.


@given(st.integers(3, 9_000), st.integers(0, 4), st.integers(0, 2**64 - 1))
def test_every_pass_sees_each_row_once(n: int, number: int, seed: int) -> None:
    environment = numbered(n)
    assert sorted(seen(environment, number * n, (number + 1) * n, seed)) == list(range(n))


def test_passes_differ_and_so_do_seeds() -> None:
    environment = numbered(50)
    orders = [seen(environment, start, start + 50, seed) for start in (0, 50, 5_000) for seed in (0, 1)]
    assert len(set(map(tuple, orders))) == 6


def test_rows_are_as_likely_in_each_place_of_a_pass() -> None:
    environment = numbered(5)
    passes = np.array(seen(environment, 0, 50_000)).reshape(-1, 5)
    for place in range(5):
        # Wrong for one seed in 100,000, five times.
        assert chisquare(np.bincount(passes[:, place].astype(int), minlength=5)).pvalue > 1e-5


def test_iid_rounds_draw_every_row_as_often_and_know_nothing_of_each_other() -> None:
    rows = np.array(seen(numbered(7, order="iid"), 0, 70_000)).astype(int)
    # Single rounds, and pairs of neighbours: wrong for one seed in 100,000 each.
    assert chisquare(np.bincount(rows, minlength=7)).pvalue > 1e-5
    assert chisquare(np.bincount(7 * rows[::2] + rows[1::2], minlength=49)).pvalue > 1e-5


@given(
    st.integers(2, 6_000),
    st.sampled_from(ORDERS),
    st.sampled_from([0.0, 0.2]),
    st.integers(0, 20_000),
    st.integers(0, 6_000),
    st.integers(0, 6_000),
    st.integers(0, 2**64 - 1),
)
def test_rows_are_the_same_however_rounds_are_cut(
    n: int, order: Any, flip: float, start: int, first: int, second: int, seed: int
) -> None:
    environment = numbered(n, n_classes=2, order=order, flip=flip)
    assert_same_however_cut(environment, start, first, second, seed)


# What they earn.


@pytest.mark.parametrize("order", ORDERS)
def test_the_label_earns_1_and_all_else_0(order: Any) -> None:
    drawn = numbered(10, order=order).draw(0, 1_000, seed=1)
    label = drawn.contexts.shared[:, 0].astype(int) % 3
    assert np.array_equal(drawn.means, np.eye(3)[label])
    assert np.array_equal(drawn.rewards, drawn.means)


def test_flipped_rewards_have_the_means_that_they_should() -> None:
    drawn = numbered(12, flip=0.2).draw(0, 100_000, seed=2)
    label = drawn.contexts.shared[:, 0].astype(int) % 3
    assert np.array_equal(drawn.means, np.where(np.eye(3)[label] == 1.0, 0.8, 0.2))
    assert set(np.unique(drawn.rewards)) == {0.0, 1.0}
    errors = drawn.rewards - drawn.means
    # Three means and three correlations, five standard errors: wrong for one in 290,000 seeds.
    assert np.all(np.abs(errors.mean(axis=0)) < 5 * 0.4 / np.sqrt(100_000))
    off = np.atleast_2d(np.corrcoef(errors.T))[np.triu_indices(3, 1)]
    assert np.all(np.abs(off) < 5 / np.sqrt(100_000))


def test_flips_leave_the_rows_as_they_are() -> None:
    assert seen(numbered(40), 0, 500) == seen(numbered(40, flip=0.3), 0, 500)


@pytest.mark.parametrize(
    ("y", "actions"),
    [
        (["lime", "melon", "lime"], ("lime", "melon")),
        ([3, 1, 2], (1, 2, 3)),
        ([True, False, True], (False, True)),
        (np.array([True, False, True]), (False, True)),
        (np.array([2, 1, 2], dtype=np.int8), (1, 2)),
        (np.array(["b", "a", "b"]), ("a", "b")),
        (pd.Series(["b", "a", "b"]), ("a", "b")),
        (pd.Categorical(["b", "a", "b"]), ("a", "b")),
        ([-1.0, 1.0, 1.0], (-1.0, 1.0)),
        ([1, "a", 1], (1, "a")),
        ([("a", 1), ("b", 2), ("a", 1)], (("a", 1), ("b", 2))),
    ],
    ids=str,
)
def test_labels_are_the_actions(y: Any, actions: tuple[object, ...]) -> None:
    environment = Classification([[1.0], [2.0], [3.0]], y, standardise=False)
    assert environment.problem.actions == actions
    assert [type(label) for label in environment.problem.actions] == [type(label) for label in actions]
    drawn = environment.draw(0, 3, seed=0)
    for x, means in zip(drawn.contexts.shared[:, 0], drawn.means, strict=True):
        assert environment.problem.actions[int(means.argmax())] == list(y)[int(x) - 1]


def test_the_population_is_the_rows() -> None:
    environment = numbered(9, flip=0.1)
    assert environment.population.regret(UniformPolicy(3)) == pytest.approx((0.9 - 0.1) * 2 / 3)
    assert environment.population.optimal_value() == pytest.approx(0.9)


def test_a_learner_learns_to_classify() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 2))
    environment = Classification(X, np.where(X[:, 0] > 0.0, "right", "left"))
    trace = simulate(LinUCB(), environment, 5_000, checkpoints=[4_000])
    # A line finds nine rows in ten; uniform play one in two.
    assert trace.reward_per_round[0, -1] > 0.9
    assert trace.regret_per_round[0, -1] == pytest.approx(1.0 - trace.reward_per_round[0, -1])


# Features.


def features(environment: Classification) -> Floats:
    """The features of all rows, in the order of X."""
    rows = environment.rows(0, environment.n_rows, 0)
    return environment.draw(0, environment.n_rows, 0).contexts.shared[np.argsort(rows)]


def test_features_are_standardised_over_all_rows_and_clipped() -> None:
    X = np.random.default_rng(0).standard_cauchy((300, 4))
    expected = zscore(X, axis=0)
    environment = Classification(X, np.arange(300) % 2)
    np.testing.assert_allclose(features(environment), np.clip(expected, -4, 4), atol=1e-12)
    np.testing.assert_allclose(features(replace(environment, clip=None)), expected, atol=1e-12)
    assert np.array_equal(features(replace(environment, standardise=False)), X)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1.0, 1e99])
def test_features_of_any_size_are_standardised(scale: float) -> None:
    X = np.random.default_rng(1).standard_normal((50, 2))
    environment = Classification(X * scale, np.arange(50) % 2)
    np.testing.assert_allclose(features(environment), np.clip(zscore(X), -4, 4), atol=1e-12)


@pytest.mark.parametrize("value", [0.0, 0.1, -1e99])
def test_a_feature_that_never_changes_becomes_0(value: float) -> None:
    X = np.stack([np.full(30, value), np.arange(30.0)], axis=1)
    columns = features(Classification(X, np.arange(30) % 2))
    assert np.all(columns[:, 0] == 0.0)
    assert columns[:, 1].std() == pytest.approx(1.0)


def test_features_keep_the_names_of_a_frame() -> None:
    frame = pd.DataFrame({"age": [31, 44], "member": [True, False]})
    assert Classification(frame, ["a", "b"]).problem.features.names == ("age", "member")
    assert Classification(frame.to_numpy(dtype=float), ["a", "b"]).problem.features.names == ("x0", "x1")
    named = Classification([[1.0, 2.0], [3.0, 4.0]], ["a", "b"], features=["u", "v"])
    assert named.problem.features.names == ("u", "v")


# Values.


def test_what_the_caller_changes_later_changes_nothing() -> None:
    X, y = np.arange(20.0).reshape(10, 2), np.arange(10) % 2
    environment = Classification(X, y)
    before = environment.draw(0, 100, 0)
    X[:], y[:] = 7.0, 1
    assert same(before, environment.draw(0, 100, 0))
    assert same(before, replace(environment).draw(0, 100, 0))
    with pytest.raises(ValueError, match="read-only"):
        environment.X[0, 0] = 1.0


def test_equal_data_and_settings_are_equal_and_others_are_not() -> None:
    X, y = np.arange(20.0).reshape(10, 2), np.arange(10) % 2
    environment = Classification(X, y)
    assert environment == Classification(X.tolist(), y.tolist())
    assert hash(environment) == hash(pickle.loads(pickle.dumps(environment)))
    assert same(environment.draw(3, 90, 4), pickle.loads(pickle.dumps(environment)).draw(3, 90, 4))
    moved = X.copy()
    moved[3, 1] = np.nextafter(moved[3, 1], 99.0)
    others = [
        Classification(moved, y),
        Classification(X, 1 - y),
        Classification(X, y.astype(bool)),
        Classification(X, y, features=["u", "v"]),
        replace(environment, flip=0.1),
        replace(environment, order="iid"),
        replace(environment, clip=3.0),
        replace(environment, standardise=False),
    ]
    assert len({environment, *others}) == len({repr(one) for one in (environment, *others)}) == 9
    assert environment != "environment"


def test_the_repr_is_short() -> None:
    assert len(repr(numbered(5_000))) < 200
    assert "5000 rows, 1 features, 3 classes" in repr(numbered(5_000))


# Refusals.

TWO = [[1.0], [2.0]]


@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        ([[1.0], [np.nan]], ["a", "b"], "X: row 1"),
        ([[1.0], [np.inf]], ["a", "b"], "X: row 1"),
        ([[1.0], ["tall"]], ["a", "b"], "X: row 1.*'tall'.*not a number"),
        (TWO, ["a", "b", "a"], "X has 2 rows and y has 3 labels; give equally many"),
        (TWO, ["a", "a"], "y has the class 'a' alone; give rows of at least two classes"),
        (TWO, ["a", None], "y: row 1 has no label"),
        (TWO, [1.0, np.nan], "y: row 1 has no label"),
        (TWO, [["a"], ["b"]], "y: a label is not hashable"),
        (TWO, np.array([["a"], ["b"]]), "y: .* is not a column"),
        (TWO, "ab", "y: 'ab' is not a column"),
        (np.zeros((2, 0)), ["a", "b"], "X has no columns"),
        (np.zeros((2, 2, 2)), ["a", "b"], "X: an array of shape .* is not a table"),
        ([], [], "X has no columns"),
        (np.zeros((0, 2)), [], "y has 0 labels"),
        (3, ["a", "b"], "X: 3 is not a table"),
    ],
)
def test_bad_data_are_refused(X: Any, y: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Classification(X, y)


@pytest.mark.parametrize(
    ("setting", "bad", "sentence"),
    [
        ("order", "shuffled", "order is 'shuffled'; give 'passes' or 'iid'"),
        ("flip", 1.5, r"flip is 1\.5; give a number from 0 to 1"),
        ("clip", 0.0, r"clip is 0\.0; give a positive number"),
        ("standardise", 1, "standardise is 1; give True or False"),
        ("features", ["u", "v"], "features has 2 names and X 1 columns"),
    ],
)
def test_bad_settings_are_refused(setting: str, bad: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Classification(TWO, ["a", "b"], **{setting: bad})

"""Moments add up, forget, transform and keep a root where their Gram matrix is too coarse."""

from __future__ import annotations

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats
from gyrfalcon.oracles.solvers.moments import ROWS_PER_CHUNK, Moments, Rows, root_of


def _rows(n: int, d: int, seed: int = 0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=n)


def _assert_same(one: Moments, other: Moments) -> None:
    for name in ("gram", "cross", "squares", "weight"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-12, atol=1e-12)


def _assert_root_fits(moments: Moments) -> None:
    assert moments.root is not None
    product = moments.root.mT @ moments.root
    np.testing.assert_allclose(product[:, :-1, :-1], moments.gram, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(product[:, :-1, -1], moments.cross, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(product[:, -1, -1], moments.squares, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("n", [0, 1, 5, ROWS_PER_CHUNK, 3 * ROWS_PER_CHUNK + 7])
def test_sums_over_all_rows(n: int) -> None:
    X, r = _rows(n, 3)
    moments = Moments.of(X, r)
    np.testing.assert_allclose(moments.gram[0], X.T @ X, atol=1e-9)
    np.testing.assert_allclose(moments.cross[0], X.T @ r, atol=1e-9)
    assert moments.squares[0] == pytest.approx(r @ r)
    assert moments.n == n


def test_each_block_sums_its_own_weighted_rows() -> None:
    X, r = _rows(200, 3)
    rng = np.random.default_rng(1)
    blocks, weights = rng.integers(0, 4, 200), rng.uniform(0, 2, 200)
    moments = Moments.of(X, r, blocks=blocks, n_blocks=5, weights=weights, keep_root=True)
    for block in range(5):
        Z, y, w = X[blocks == block], r[blocks == block], weights[blocks == block]
        np.testing.assert_allclose(moments.gram[block], Z.T @ (w[:, None] * Z), atol=1e-12)
        np.testing.assert_allclose(moments.cross[block], Z.T @ (w * y), atol=1e-12)
        assert moments.squares[block] == pytest.approx(w @ y**2)
        assert moments.weight[block] == pytest.approx(w.sum())
    _assert_root_fits(moments)


@pytest.mark.parametrize("order", ["C", "F"])
def test_layout_dtype_and_read_only_rows_do_not_matter(order: str) -> None:
    X, r = _rows(50, 3)
    blocks = np.arange(50) % 3
    expected = Moments.of(X.astype(np.float32), r, blocks=blocks, n_blocks=3)
    strided = np.asarray(
        np.repeat(X.astype(np.float32), 2, axis=1)[:, ::2], order="F" if order == "F" else "C"
    )
    strided.flags.writeable = False
    _assert_same(Moments.of(strided, r.tolist(), blocks=blocks.astype(np.uint8), n_blocks=3), expected)


def test_the_root_is_kept_when_the_condition_asks_for_it() -> None:
    X, r = _rows(100, 3)
    assert Moments.of(X, r).root is None
    assert Moments.of(X * np.array([1e-6, 1.0, 1e6]), r).root is None
    nearly_equal = np.column_stack([X, X[:, 0] + 1e-5 * X[:, 1]])
    _assert_root_fits(Moments.of(nearly_equal, r))
    assert Moments.of(nearly_equal, r, keep_root=False).root is None
    _assert_root_fits(Moments.of(X, r, keep_root=True))


def test_zero_columns_and_empty_blocks_ask_for_no_root() -> None:
    X, r = _rows(100, 3)
    X[:, 1] = 0.0
    assert Moments.of(X, r, blocks=np.zeros(100, dtype=int), n_blocks=2).root is None


def test_adding_with_one_root_derives_the_other() -> None:
    X, r = _rows(100, 3)
    one, other = Moments.of(X[:2], r[:2]), Moments.of(X[2:], r[2:])
    assert one.root is not None
    assert other.root is None
    _assert_same(one + other, Moments.of(X, r))
    _assert_root_fits(one + other)
    other = Moments.of(X * [1.0, 0.0, 1.0], r)
    derived = root_of(other)
    assert derived is not None
    assert not derived[:, :, 1].any()
    _assert_root_fits(Moments.zeros(1, 3) + one)


def test_a_root_that_cannot_be_derived_is_not_invented() -> None:
    X, r = _rows(100, 3)
    coarse = Moments.of(X[:2], r[:2], keep_root=False)
    assert root_of(coarse) is None
    assert (coarse + Moments.of(X, r, keep_root=True)).root is None


def test_roots_stay_small() -> None:
    X, r = _rows(90, 3)
    total = Moments.zeros(1, 3)
    for start in range(0, 90, 2):
        total += Moments.of(X[start : start + 2], r[start : start + 2])
    assert total.root is not None
    assert total.root.shape[1] <= 4
    _assert_same(total, Moments.of(X, r))
    _assert_root_fits(total)


def test_scaling_is_forgetting() -> None:
    X, r = _rows(30, 2)
    halved = Moments.of(X, r, keep_root=True).scaled(0.5)
    _assert_same(halved, Moments.of(X, r, weights=np.full(30, 0.5)))
    _assert_root_fits(halved)
    assert halved.scaled(0.0).n == 0.0
    with pytest.raises(ValueError, match="factor is -1"):
        halved.scaled(-1.0)


def test_transformed_features() -> None:
    X, r = _rows(30, 3)
    matrix = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]])
    transformed = Moments.of(X, r, keep_root=True).transformed(matrix)
    _assert_same(transformed, Moments.of(X @ matrix.T, r))
    _assert_root_fits(transformed)


@pytest.mark.parametrize("keep_root", [False, True])
def test_a_centred_constant_is_a_zero_column(keep_root: bool) -> None:
    X, r = _rows(300, 2)
    X = np.column_stack([np.ones(300), X[:, 0] + 3.0, np.full(300, 0.7)])
    center = np.array([[1.0, 0.0, 0.0], [-X[:, 1].mean(), 1.0, 0.0], [-0.7, 0.0, 1.0]])
    centred = Moments.of(X, r, keep_root=keep_root).transformed(center)
    assert not centred.gram[0, 2].any()
    assert centred.cross[0, 2] == 0.0
    assert centred.gram[0, 1, 1] == pytest.approx(300 * X[:, 1].var())


def test_take_reorders_repeats_and_empties_blocks() -> None:
    X, r = _rows(60, 2)
    blocks = np.arange(60) % 3
    moments = Moments.of(X, r, blocks=blocks, n_blocks=3, keep_root=True)
    taken = moments.take([2, -1, 0])
    np.testing.assert_array_equal(taken.gram[[0, 2]], moments.gram[[2, 0]])
    assert not taken.gram[1].any()
    assert taken.weight.tolist() == [20.0, 0.0, 20.0]
    _assert_root_fits(taken)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"features": [1.0, 2.0]}, r"features has shape \(2,\)"),
        ({"rewards": [1.0]}, r"rewards has shape \(1,\)"),
        ({"features": [[1.0], [np.nan]]}, r"features\[1, 0\] is nan"),
        ({"rewards": [1.0, np.inf]}, r"rewards\[1\] is inf"),
        ({"features": [[1e200], [1.0]]}, "overflow; rescale"),
        ({"blocks": [0, 2]}, "blocks holds 2; block numbers run from 0 to n_blocks - 1 = 1"),
        ({"blocks": [-1, 0]}, "blocks holds -1"),
        ({"blocks": [0.0, 1.0]}, "blocks has dtype float64"),
        ({"blocks": [0]}, r"blocks has shape \(1,\)"),
        ({"blocks": None}, "n_blocks is 2 but blocks is missing"),
        ({"weights": [1.0]}, r"weights has shape \(1,\)"),
        ({"weights": [1.0, -2.0]}, "weights holds -2.0"),
        ({"weights": [1.0, np.nan]}, "weights holds nan"),
    ],
)
def test_wrong_rows_are_named(arguments: dict[str, object], message: str) -> None:
    good: dict[str, object] = {
        "features": [[1.0], [2.0]],
        "rewards": [1.0, 2.0],
        "blocks": [0, 1],
        "n_blocks": 2,
    }
    with pytest.raises(ValueError, match=message):
        Moments.of(**{**good, **arguments})  # type: ignore[arg-type]


def test_sums_on_top_of_others_are_the_sums_of_both_and_leave_them_alone() -> None:
    X, r = _rows(700, 300)
    first, second, together = (
        Rows.of(X[part], r[part]) for part in (slice(90), slice(90, None), slice(None))
    )
    before = first.moments()
    kept = before.scaled(1.0)
    _assert_same(second.moments(before), together.moments())
    _assert_same(before, kept)

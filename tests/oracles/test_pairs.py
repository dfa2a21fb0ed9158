"""Estimates of pairs of a context and an item: those of the map itself, with the same bits in any company."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import Log
from gyrfalcon.learners.adaptive.class_fit import ClassFit
from gyrfalcon.learners.adaptive.model_classes import ClassChoice, candidate
from gyrfalcon.oracles.features.bases import FeatureMap, Identity, Polynomial, StandardisedMap
from gyrfalcon.oracles.features.pairs import PairScores
from gyrfalcon.oracles.features.smooth import RandomFourier, Splines, cosines_and_sines
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.linear.models import LinearModel

N, K, Q = 300, 9, 3
CLASSES: dict[str, ClassChoice] = {
    "mixed": "mixed",
    "quadratic": "quadratic",
    "splines": "splines",
    "fourier": "fourier",
    "cubes": Linear(basis=Polynomial(degree=3)),
    "own cosines": Linear(basis=RandomFourier(40)),
    "not standardised": Linear(basis=Splines(), standardise=False),
}
every_class = pytest.mark.parametrize("name", CLASSES)


def inputs(p: int, seed: int = 0) -> tuple[Floats, Floats]:
    """Features of contexts (n, p) and of items that differ from row to row, (n, K, q), some of them rare."""
    rng = np.random.default_rng(seed)
    x, v = rng.normal(size=(N, p)), rng.normal(size=(N, K, Q))
    x[rng.random(x.shape) < 0.01] *= 30.0  # products of these are clipped
    return x, v


def map_of(name: str, p: int) -> FeatureMap:
    x, v = inputs(p, seed=1)
    found = candidate(CLASSES[name], np.concatenate([x, v[:, 0]], axis=1), 1)
    assert found is not None
    return found.basis


def made(name: str, p: int) -> tuple[FeatureMap, Floats, PairScores]:
    map_ = map_of(name, p)
    weights = np.random.default_rng(2).normal(size=map_.n_features)
    return map_, weights, PairScores.of(map_, weights, p)


def by_expansion(map_: FeatureMap, weights: Floats, x: Floats, v: Floats) -> Floats:
    spread = np.broadcast_to(x[:, np.newaxis], (*v.shape[:2], x.shape[1]))
    return np.asarray(map_.expand(np.concatenate([spread, v], axis=2)) @ weights)


@every_class
@pytest.mark.parametrize("p", [0, 1, 6])
def test_estimates_are_those_of_all_pairs_expanded(name: str, p: int) -> None:
    map_, weights, pairs = made(name, p)
    x, v = inputs(p)
    same = np.broadcast_to(v[0], v.shape)
    for items in (v, same):
        expected = by_expansion(map_, weights, x, items)
        np.testing.assert_allclose(
            pairs.scores(x, items), expected, rtol=0.0, atol=1e-11 * np.abs(expected).max()
        )


@pytest.mark.invariance
@every_class
@pytest.mark.parametrize("p", [0, 1, 6])
def test_a_pair_has_the_same_bits_in_any_company(name: str, p: int) -> None:
    _, _, pairs = made(name, p)
    x, v = inputs(p)
    together = pairs.scores(x, v)
    for row in (0, 1, 17, N - 1):
        alone = pairs.scores(x[row : row + 1], v[row : row + 1])
        assert np.array_equal(alone[0], together[row])
        same_items = pairs.scores(x, np.broadcast_to(v[row], v.shape))
        assert np.array_equal(same_items[row], together[row])
        fewer = pairs.scores(x[row : row + 1], v[row : row + 1, 2:4])
        assert np.array_equal(fewer[0], together[row, 2:4])
    some: Ints = np.random.default_rng(3).permutation(N)[:50]
    assert np.array_equal(pairs.scores(x[some], v[some]), together[some])


def test_no_rows_have_no_estimates() -> None:
    _, _, pairs = made("mixed", 2)
    assert pairs.scores(np.zeros((0, 2)), np.zeros((0, K, Q))).shape == (0, K)


def test_what_depends_on_one_of_the_two_is_not_made_for_pairs() -> None:
    _, _, pairs = made("mixed", 4)
    assert sum(map_.n_features for map_ in pairs.both.maps) == 4 * Q  # products of both
    assert len(pairs.cosines) == 1
    alone = sum(map_.n_features for map_ in pairs.shared.maps)
    assert alone > 4 + 4 * 5 / 2  # inputs, products and splines


def test_cosines_that_would_be_clipped_are_made_for_pairs() -> None:
    x, v = inputs(2)
    rows = np.concatenate([x, v[:, 0]], axis=1)
    cosines = RandomFourier(30).fit(rows)
    narrow = StandardisedMap(cosines, np.zeros(30), np.full(30, 0.01))
    weights = np.random.default_rng(4).normal(size=30)
    pairs = PairScores.of(narrow, weights, 2)
    assert pairs.cosines == ()
    np.testing.assert_allclose(pairs.scores(x, v), by_expansion(narrow, weights, x, v), atol=1e-9)


@dataclass(frozen=True, slots=True)
class Largest:
    """A map of one's own, of which nothing is known."""

    n_inputs: int
    n_features: int = 1

    def expand(self, x: Floats) -> Floats:
        return np.asarray(x.max(axis=-1, keepdims=True))


@pytest.mark.parametrize("p", [0, 2])
def test_a_map_of_ones_own_is_made_for_pairs(p: int) -> None:
    x, v = inputs(p)
    pairs = PairScores.of(Largest(p + Q), np.array([2.0]), p)
    assert np.array_equal(pairs.scores(x, v), by_expansion(Largest(p + Q), np.array([2.0]), x, v))


def test_inputs_alone_need_no_pairs() -> None:
    x, v = inputs(3)
    plain = Identity().fit(np.zeros((1, 3 + Q)))
    weights = np.arange(1.0, 7.0)
    pairs = PairScores.of(plain, weights, 3)
    assert not pairs.both.maps
    np.testing.assert_allclose(pairs.scores(x, v), by_expansion(plain, weights, x, v), atol=1e-12)


def fitted(n_actions: int) -> tuple[LinearModel, Log]:
    """The model of a mixed class with an offset for each of some items, or without for many of them."""
    rng, zeros = np.random.default_rng(0), np.zeros(N, dtype=np.int64)
    x, v = rng.normal(size=(N, 2)), rng.normal(size=(N, n_actions, Q))
    log = Log(
        Contexts(x, v), rng.integers(0, n_actions, N), rng.normal(size=N), np.ones(N), zeros, zeros, zeros
    )
    found = candidate("mixed", np.concatenate([x, v[:, 0]], axis=1), 1)
    assert found is not None
    model = ClassFit.start(found, n_actions, 1.0, Q).with_rows(log).refitted().model
    assert model is not None
    return model, log


@pytest.mark.parametrize("n_actions", [4, 301])
def test_decisions_have_the_estimates_of_fits(n_actions: int) -> None:
    model, log = fitted(n_actions)
    scores = model.scores(log.contexts)[np.arange(N), log.action]
    np.testing.assert_allclose(scores, model.estimates_of(log), atol=1e-12)


@pytest.mark.invariance
@pytest.mark.parametrize("n_actions", [4, 301])
def test_scores_of_items_have_the_same_bits_alone(n_actions: int) -> None:
    model, log = fitted(n_actions)
    together = model.scores(log.contexts)
    for row in (0, 5, N - 1):
        assert np.array_equal(model.scores(log.contexts.take(slice(row, row + 1)))[0], together[row])


@pytest.mark.invariance
def test_cosines_and_sines_are_accurate_and_those_of_an_angle_alone() -> None:
    rng = np.random.default_rng(5)
    angles = np.concatenate([rng.normal(size=9_000) * size for size in (1e-9, 1.0, 1e3, 1e9)])
    angles = np.concatenate([angles, np.pi * np.arange(-4.0, 4.5, 0.5)])
    cosines, sines = cosines_and_sines(angles)
    np.testing.assert_allclose(cosines, np.cos(angles), rtol=0.0, atol=1e-15)
    np.testing.assert_allclose(sines, np.sin(angles), rtol=0.0, atol=1e-15)
    for start, size in ((0, 1), (8191, 2), (8192, 3), (20_001, 17), (36_016, 1)):
        some = slice(start, start + size)
        alone = cosines_and_sines(angles[some].copy())
        assert np.array_equal(alone[0], cosines[some])
        assert np.array_equal(alone[1], sines[some])
    grid = angles[:36_000].reshape(180, 200)
    assert np.array_equal(cosines_and_sines(grid.T)[0].T, cosines_and_sines(grid)[0])


@pytest.mark.invariance
def test_splines_of_a_row_have_the_same_bits_among_many() -> None:
    rows = np.random.default_rng(6).normal(size=(3_000, 8))
    splines = Splines(5, 3).fit(rows)
    together = splines.expand(rows)
    assert np.array_equal(np.stack([splines.expand(row) for row in rows[::97]]), together[::97])
    assert np.array_equal(splines.expand(rows.reshape(30, 100, 8)).reshape(3_000, -1), together)

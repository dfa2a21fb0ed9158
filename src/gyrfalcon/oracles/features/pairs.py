"""Estimates for pairs of a context and an item, from features of one of the two as far as possible.

A map of [x, v] has columns of the context x alone, of the item v alone, and of both. With the same items in
many contexts most columns need not be made for every pair: a column of x is made once per context and one of
v once per item. Cosines of both come apart, too: cos(a + b) = cos(a) cos(b) - sin(a) sin(b), so that an
estimate is an inner product of what the context gives with what the item gives. Other columns of both, such
as products that are clipped, are made pair by pair.

Every number follows from its own context and item: a row alone and a row in a batch, with the same items in
every row or with others, have the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, prod, sqrt

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.oracles.features.bases import (
    ChainedMap,
    FeatureMap,
    IdentityMap,
    JoinedMap,
    PolynomialMap,
    StandardisedMap,
)
from gyrfalcon.oracles.features.smooth import FourierMap, SplineMap, cosines_and_sines
from gyrfalcon.oracles.linalg.batch_invariant import inner_products

_NUMBERS = 1 << 18
"""Numbers that are made at a time for items that differ from row to row, so that they stay in cache."""


@dataclass(frozen=True, slots=True)
class Term:
    """What maps of the same inputs contribute to an estimate."""

    maps: tuple[FeatureMap, ...]
    weights: Floats
    """(D,): those of all their features."""

    def of(self, x: Floats) -> Floats:
        """The contribution at inputs (..., p), (...)."""
        if not self.maps:
            return np.zeros(x.shape[:-1])
        rows = np.ascontiguousarray(x).reshape(prod(x.shape[:-1]), x.shape[-1])
        features = np.concatenate([one.expand(rows) for one in self.maps], axis=1)
        return inner_products(self.weights[np.newaxis], features).reshape(x.shape[:-1])


@dataclass(frozen=True, slots=True)
class Cosines:
    """What cosines of context and item contribute: weights . cos(frequencies' [x, v] + phases)."""

    inputs: StandardisedMap
    """What is done to each input alone, before it is standardised for the cosines."""
    map: FourierMap
    weights: Floats
    """(D,): weights of plain cosines."""

    def of_contexts(self, x: Floats) -> Floats:
        """(n, 2 D): cosines and sines of what contexts (n, p) add to the angles."""
        angles = self._angles(x, slice(0, x.shape[1]))
        return np.concatenate(cosines_and_sines(angles), axis=1)

    def of_items(self, v: Floats) -> Floats:
        """(m, 2 D): multipliers of cosines and sines, by what items (m, q) add to the angles."""
        size = self.map.n_inputs
        angles = self._angles(v, slice(size - v.shape[1], size))
        angles += self.map.phases
        cosines, sines = cosines_and_sines(angles)
        return np.concatenate([cosines * self.weights, sines * -self.weights], axis=1)

    def _angles(self, x: Floats, some: slice) -> Floats:
        means, scales = self.map.means[some], self.map.scales[some]
        inputs = _part(self.inputs, np.arange(self.map.n_inputs)[some], some).expand(x)
        return inner_products((inputs - means) / scales, self.map.frequencies[some].T)


@dataclass(frozen=True, slots=True)
class PairScores:
    """Estimates that are linear in a map of [x, v], by what its columns depend on."""

    shared: Term
    """Columns of the context alone."""
    own: Term
    """Columns of the item alone."""
    both: Term
    """Columns that are made for every pair."""
    cosines: tuple[Cosines, ...]

    @staticmethod
    def of(map_: FeatureMap, weights: Floats, p: int) -> PairScores:
        """The estimates with weights (D,), where the first p inputs of the map are the context's."""
        first, last, every = slice(0, p), slice(p, map_.n_inputs), slice(0, map_.n_inputs)
        maps: tuple[list[FeatureMap], ...] = ([], [], [])
        kept: tuple[list[Floats], ...] = ([], [], [])
        found_cosines, start = [], 0
        for leaf in _leaves(map_):
            own = weights[start : start + leaf.n_features]
            start += leaf.n_features
            if (found := _cosines(leaf, own)) is not None:
                found_cosines.append(found)
                continue
            used = _inputs_used(leaf)
            by_context, by_item = used[:, :p].any(axis=1), used[:, p:].any(axis=1)
            sides = (~by_item, first), (by_item & ~by_context, last), (by_item & by_context, every)
            for place, (chosen, inputs) in enumerate(sides):
                if chosen.any():
                    maps[place].append(_part(leaf, np.flatnonzero(chosen), inputs))
                    kept[place].append(own[chosen])
        shared, own_terms, both = (
            Term(tuple(some), np.concatenate([*theirs, np.zeros(0)]))
            for some, theirs in zip(maps, kept, strict=True)
        )
        return PairScores(shared, own_terms, both, tuple(found_cosines))

    def scores(self, x: Floats, actions: Floats) -> Floats:
        """(n, K): estimates for contexts (n, p) and the items of each, (n, K, q)."""
        if len(x) and (actions == actions[:1]).all():
            return self._of_same_items(x, actions[:1])
        scores, n_items = np.empty(actions.shape[:2]), actions.shape[1]
        n_numbers = len(self.own.weights) + sum(2 * len(one.weights) for one in self.cosines)
        for rows in _parts(len(x), n_items * n_numbers):
            scores[rows] = self._of_own_items(x[rows], actions[rows])
        return self._with_pairs(scores, x, actions)

    def _of_same_items(self, x: Floats, items: Floats) -> Floats:
        """Scores (n, K) where items (1, K, q) are the same in every row."""
        scores = self.shared.of(x)[:, np.newaxis] + self.own.of(items)
        for one in self.cosines:
            scores += inner_products(one.of_contexts(x), one.of_items(items[0]))
        return self._with_pairs(scores, x, np.broadcast_to(items, (len(x), *items.shape[1:])))

    def _of_own_items(self, x: Floats, actions: Floats) -> Floats:
        """Scores (n, K) for items (n, K, q) that differ from row to row."""
        scores = self.shared.of(x)[:, np.newaxis] + self.own.of(actions)
        n, n_items, q = actions.shape
        for one in self.cosines:
            made = one.of_items(actions.reshape(n * n_items, q)).reshape(n, n_items, -1)
            scores += inner_products(one.of_contexts(x)[:, np.newaxis], made)[:, 0]
        return scores

    def _with_pairs(self, scores: Floats, x: Floats, actions: Floats) -> Floats:
        """The scores with what is made pair by pair."""
        for rows in _parts(len(x) if self.both.maps else 0, actions.shape[1] * len(self.both.weights)):
            contexts, items = x[rows], actions[rows]
            spread = np.broadcast_to(contexts[:, np.newaxis], (*items.shape[:2], x.shape[1]))
            scores[rows] += self.both.of(np.concatenate([spread, items], axis=2))
        return scores


def _parts(n: int, n_numbers: int) -> Iterator[slice]:
    """Slices of rows that stay in cache when a row makes a given number of features."""
    size = max(1, _NUMBERS // max(n_numbers, 1))
    return (slice(start, start + size) for start in range(0, n, size))


def _leaves(map_: FeatureMap) -> Sequence[FeatureMap]:
    """The maps that a map is joined of."""
    return [leaf for one in map_.maps for leaf in _leaves(one)] if isinstance(map_, JoinedMap) else [map_]


def _cosines(map_: FeatureMap, weights: Floats) -> Cosines | None:
    """The cosines that a map consists of; None if it is another one, or limits them."""
    match map_:
        case StandardisedMap(
            map=ChainedMap(
                first=StandardisedMap(map=IdentityMap()) as inputs, second=FourierMap() as features
            )
        ):
            pass
        case StandardisedMap(map=FourierMap() as features):
            p = features.n_inputs
            inputs = StandardisedMap(IdentityMap(p), np.zeros(p), np.ones(p), inf)
        case _:
            return None
    height = sqrt(2.0 / features.n_features)
    if map_.means.any() or not (height <= map_.limit * map_.scales).all():
        return None
    return Cosines(inputs, features, height * weights / map_.scales)


def _inputs_used(map_: FeatureMap) -> Bools:
    """(D, p): which inputs a column depends on, or may depend on."""
    columns = np.arange(map_.n_features)
    used = np.zeros((len(columns), 1 + map_.n_inputs), dtype=np.bool_)
    match map_:
        case StandardisedMap():
            return _inputs_used(map_.map)
        case IdentityMap():
            used[columns, 1 + columns] = True
        case PolynomialMap():  # whose factor 0 is the constant 1
            used[columns[:, np.newaxis], map_.factors] = True
        case SplineMap():
            used[columns, 1 + map_.sources] = True
        case _:
            used[:] = True
    return used[:, 1:]


def _part(map_: FeatureMap, columns: Ints, some: slice) -> FeatureMap:
    """A map of some inputs alone with those columns of a map that depend on nothing else; the same bits.

    A map that `_inputs_used` knows nothing of is needed as a whole or not at all.
    """
    match map_:
        case StandardisedMap():
            inner = _part(map_.map, columns, some)
            return StandardisedMap(inner, map_.means[columns], map_.scales[columns], map_.limit)
        case IdentityMap():
            p = some.stop - some.start
            return PolynomialMap(np.zeros(p), np.ones(p), columns[:, np.newaxis] - some.start + 1)
        case PolynomialMap():
            factors = map_.factors[columns]
            moved = np.where(factors > 0, factors - some.start, 0)
            return PolynomialMap(map_.means[some], map_.scales[some], moved)
        case SplineMap():
            lines = (
                map_.means[some],
                map_.scales[some],
                map_.knots[some],
                map_.origins[some],
                map_.widths[some],
            )
            return SplineMap(*lines, map_.sources[columns] - some.start, map_.coefficients[:, :, columns])
    return map_

"""Growth of extremely randomised trees whose splits all actions share, one level of many trees at a time.

Each node draws a threshold between the least and the largest value of some inputs, and keeps the split that
lowers the squared error most, summed over actions, each with a mean of its own on either side. A node's value
of an action is the mean of its rewards there, shrunk towards the value in the node above.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.oracles.features.forest import Forest

MAX_NUMBERS = 1 << 22
"""Values of leaves that a forest holds at most, of all trees and actions."""
_MAX_DEPTH = 40
"""Steps from a root to a leaf at most: inputs with outliers would make more of them, of little use."""
_PLACES_AT_ONCE = 1 << 16
"""Rows of trees that are grown together, about: more would leave the caches."""
_PURE = 1e-12
"""Share of the squares of rewards below which an error is rounding."""


@dataclass(frozen=True, slots=True)
class Growth:
    """Settings of the growth of a forest."""

    n_trees: int = 40
    min_leaf: int = 2
    """Rows in a leaf, at least; more where the values of leaves would be too many."""
    prior: float = 0.1
    """Rows that the value of the node above counts as."""
    n_tried: int | None = None
    """Inputs that a node tries; None for a number that grows with the inputs."""

    def leaf_rows(self, n_rows: int, n_actions: int) -> int:
        """Rows in a leaf, at least, with which no more than `MAX_NUMBERS` values are held.

        >>> Growth().leaf_rows(4_000, 3), Growth().leaf_rows(20_000, 200)
        (2, 39)
        """
        return max(self.min_leaf, math.ceil(self.n_trees * n_rows * n_actions / MAX_NUMBERS))

    def tried(self, n_inputs: int) -> int:
        """The number of inputs that a node tries.

        >>> Growth().tried(2), Growth().tried(36), Growth(n_tried=3).tried(36)
        (2, 12, 3)
        """
        most = max(12, math.ceil(n_inputs / 3)) if self.n_tried is None else self.n_tried
        return min(most, n_inputs)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows in the order of their actions, with rewards less the mean of their action."""

    x: Floats  # (p, n)
    action: Ints
    reward: Floats
    base: Floats  # (K,): the value of each action before any split

    @staticmethod
    def of(x: Floats, action: Ints, reward: Floats, n_actions: int, prior: float) -> _Rows:
        mean = float(reward.mean())
        counts = np.bincount(action, minlength=n_actions)
        above = np.bincount(action, reward - mean, minlength=n_actions)
        order = np.argsort(action, kind="stable")
        centred = reward - mean - (above / np.maximum(counts, 1))[action]
        base = mean + above / np.maximum(counts + prior, 1.0)
        return _Rows(np.ascontiguousarray(x[order].T), action[order], centred[order], base)


@dataclass(frozen=True, slots=True)
class _Level:
    """Nodes of one depth with the rows in them: node by node, in each action by action."""

    row: Ints  # (m,)
    size: Ints  # (N,): rows in each node
    tree: Ints  # (N,)
    value: Floats  # (N, K): the value of each action in the node above, then in the node itself

    @property
    def node(self) -> Ints:
        """(m,): the node of each row."""
        return np.repeat(np.arange(len(self.size)), self.size)

    @property
    def start(self) -> Ints:
        """(N,): where the rows of each node start."""
        return np.cumsum(self.size) - self.size

    def of_nodes(self, chosen: Bools) -> _Level:
        """The level with some of its nodes only."""
        kept = np.repeat(chosen, self.size)
        return _Level(self.row[kept], self.size[chosen], self.tree[chosen], self.value[chosen])


@dataclass(frozen=True, slots=True)
class _Sums:
    """Sums over the rows of each action in each node, for actions that have rows there."""

    cell: Ints  # (m,): of each row
    node: Ints  # (C,): of each cell
    action: Ints  # (C,)
    n: Floats  # (C,)
    reward: Floats  # (C,)

    @staticmethod
    def of(rows: _Rows, level: _Level) -> _Sums:
        action, node = rows.action.take(level.row), level.node
        first = np.ones(len(node), dtype=np.bool_)
        first[1:] = (action[1:] != action[:-1]) | (node[1:] != node[:-1])
        cell = np.cumsum(first) - 1
        reward = _totals(cell, rows.reward.take(level.row))
        return _Sums(cell, node[first], action[first], np.bincount(cell).astype(np.float64), reward)

    def explained(self, n: Floats, reward: Floats, n_nodes: int) -> Floats:
        """(N,): squares of the sums over counts, added over the actions of each node."""
        return _totals(self.node, reward**2 / np.maximum(n, 1.0), n_nodes)


@dataclass(frozen=True, slots=True)
class _Splits:
    """The best split of each node that was found so far."""

    feature: Ints  # (N,), -1 for none
    threshold: Floats
    explained: Floats

    def better_of(self, other: _Splits) -> _Splits:
        better = other.explained > self.explained
        return _Splits(
            np.where(better, other.feature, self.feature),
            np.where(better, other.threshold, self.threshold),
            np.where(better, other.explained, self.explained),
        )


def grow_forest(
    x: Floats, action: Ints, reward: Floats, n_actions: int, settings: Growth, seed: int
) -> Forest:
    """The forest of rows with inputs (n, p), actions (n,) below K and rewards (n,), n at least 1.

    >>> x, action = np.arange(40.0).reshape(-1, 1), np.arange(40) % 2
    >>> forest = grow_forest(x, action, (x[:, 0] > 20.0) * 1.0, 3, Growth(prior=0.0), seed=0)
    >>> forest.predict(np.array([[3.0], [35.0]])).round(2).tolist()
    [[0.05, 0.05, 0.48], [0.93, 0.93, 0.48]]
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    rows = _Rows.of(x, action, reward, n_actions, settings.prior)
    at_once = max(1, _PLACES_AT_ONCE // len(x))
    limited = replace(settings, min_leaf=settings.leaf_rows(len(x), n_actions))
    parts = [
        _grown_trees(rows, limited, min(at_once, settings.n_trees - first), rng)
        for first in range(0, settings.n_trees, at_once)
    ]
    return _joined(parts, rows.base / settings.n_trees)


def _grown_trees(rows: _Rows, settings: Growth, n_trees: int, rng: np.random.Generator) -> Forest:
    """Some trees, whose values are less those before any split and have a share of all trees."""
    n, p = len(rows.action), len(rows.x)
    orders = rng.permuted(np.tile(np.arange(p), (n_trees, 1)), axis=1)
    level = _Level(
        np.tile(np.arange(n), n_trees),
        np.full(n_trees, n),
        np.arange(n_trees),
        np.zeros((n_trees, len(rows.base))),
    )
    made: list[tuple[_Splits, Ints]] = []
    values: list[Floats] = []
    n_nodes = 0
    for depth in range(_MAX_DEPTH + 1):
        splits = _level_splits(rows, level, settings, orders, rng, is_last=depth == _MAX_DEPTH)
        is_split = splits.feature >= 0
        values.append(level.value[~is_split] / settings.n_trees)
        places = n_nodes + np.arange(len(is_split))
        n_nodes += len(is_split)
        places[is_split] = n_nodes + 2 * np.arange(int(is_split.sum()))
        made.append((splits, places))
        if not is_split.any():
            break
        level = _children(rows, level.of_nodes(is_split), splits, is_split)
    feature = np.concatenate([splits.feature for splits, _ in made])
    return Forest(
        n_inputs=p,
        depth=len(made) - 1,
        root=np.arange(n_trees),
        feature=np.maximum(feature, 0),
        threshold=np.concatenate([splits.threshold for splits, _ in made]),
        child=np.concatenate([places for _, places in made]),
        leaf=np.where(feature < 0, np.cumsum(feature < 0) - 1, -1),
        values=np.concatenate(values),
    )


def _level_splits(
    rows: _Rows, level: _Level, settings: Growth, orders: Ints, rng: np.random.Generator, *, is_last: bool
) -> _Splits:
    """The splits of a level's nodes, whose values are written on the way; leaves have feature -1."""
    n_nodes = len(level.size)
    sums = _Sums.of(rows, level)
    above = level.value[sums.node, sums.action]
    shrunk = (sums.reward + settings.prior * above) / (sums.n + settings.prior)
    level.value[sums.node, sums.action] = shrunk
    none = _Splits(np.full(n_nodes, -1), np.full(n_nodes, np.inf), np.zeros(n_nodes))
    squares = np.bincount(level.node, rows.reward.take(level.row) ** 2, minlength=n_nodes)
    explained = sums.explained(sums.n, sums.reward, n_nodes)
    is_open = (level.size >= 2 * settings.min_leaf) & (squares - explained > _PURE * squares)
    if is_last or not is_open.any() or not len(rows.x):
        return none
    start = explained[is_open] + _PURE * squares[is_open]
    found = _best_splits(rows, level.of_nodes(is_open), start, settings, orders, rng)
    none.feature[is_open], none.threshold[is_open] = found.feature, found.threshold
    return none


def _best_splits(
    rows: _Rows, level: _Level, explained: Floats, settings: Growth, orders: Ints, rng: np.random.Generator
) -> _Splits:
    """The best of some random splits of each node that explain more than is explained without."""
    n_nodes, p = len(level.size), len(rows.x)
    sums, node, start = _Sums.of(rows, level), level.node, level.start
    reward = rows.reward.take(level.row)
    best = _Splits(np.full(n_nodes, -1), np.full(n_nodes, np.inf), explained)
    offset = rng.integers(p, size=n_nodes)
    for tried in range(settings.tried(p)):
        feature = orders[level.tree, (offset + tried) % p]
        x = _inputs(rows, level, feature)
        low, high = np.minimum.reduceat(x, start), np.maximum.reduceat(x, start)
        threshold = _between(low, high, rng.random(n_nodes))
        left = (x <= threshold.take(node)).astype(np.float64)
        n_left = _totals(sums.cell, left)
        reward_left = _totals(sums.cell, left * reward)
        found = sums.explained(n_left, reward_left, n_nodes)
        found += sums.explained(sums.n - n_left, sums.reward - reward_left, n_nodes)
        size = np.bincount(sums.node, n_left)
        found[np.minimum(size, level.size - size) < settings.min_leaf] = -np.inf
        best = best.better_of(_Splits(feature, threshold, found))
    return best


def _totals(place: Ints, terms: Floats, n_places: int = 0) -> Floats:
    return np.bincount(place, terms, minlength=n_places).astype(np.float64, copy=False)


def _between(low: Floats, high: Floats, share: Floats) -> Floats:
    """Thresholds from low to below high, which leave rows on both sides where these differ."""
    threshold = np.maximum(low * (1.0 - share) + high * share, low)  # no difference that could overflow
    return np.where(threshold < high, threshold, low)


def _inputs(rows: _Rows, level: _Level, feature: Ints) -> Floats:
    """(m,): the input of each row that its node has as its feature."""
    places = np.repeat(feature * rows.x.shape[1], level.size)
    places += level.row
    return rows.x.take(places)


def _children(rows: _Rows, level: _Level, splits: _Splits, is_split: Bools) -> _Level:
    """The children of nodes that are split, the left one of each before the right one."""
    node, start = level.node, level.start
    threshold, feature = splits.threshold[is_split], splits.feature[is_split]
    left = _inputs(rows, level, feature) <= threshold.take(node)
    n_left = np.bincount(node, left).astype(np.int64)
    before = np.cumsum(left) - left - (np.cumsum(n_left) - n_left).take(node)
    place = np.arange(len(node)) - before + n_left.take(node)
    place[left] = (start.take(node) + before)[left]
    row = np.empty_like(level.row)
    row[place] = level.row
    size = np.stack([n_left, level.size - n_left], axis=1).ravel()
    return _Level(row, size, np.repeat(level.tree, 2), np.repeat(level.value, 2, axis=0))


def _joined(parts: list[Forest], base: Floats) -> Forest:
    """The trees of all parts in one table, with what their values are less of."""
    nodes = np.cumsum([0, *(len(part.feature) for part in parts)]).tolist()
    leaves = np.cumsum([0, *(len(part.values) for part in parts)]).tolist()
    return Forest(
        n_inputs=parts[0].n_inputs,
        depth=max(part.depth for part in parts),
        root=np.concatenate([part.root + first for part, first in zip(parts, nodes[:-1], strict=True)]),
        feature=np.concatenate([part.feature for part in parts]),
        threshold=np.concatenate([part.threshold for part in parts]),
        child=np.concatenate([part.child + first for part, first in zip(parts, nodes[:-1], strict=True)]),
        leaf=np.concatenate(
            [
                np.where(part.leaf < 0, -1, part.leaf + first)
                for part, first in zip(parts, leaves[:-1], strict=True)
            ]
        ),
        values=np.concatenate([part.values for part in parts]) + base,
    )

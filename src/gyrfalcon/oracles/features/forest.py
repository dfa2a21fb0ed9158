"""Forest of regression trees as one table: predictions of each action's reward, the same in any batch.

All actions share the splits, and each leaf holds a value per action. A row goes down all trees at once, and
the values of its leaves are added in the order of the trees, one rounded addition each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints

_PLACES_AT_ONCE = 1 << 16
"""Rows times trees, or rows times actions, that are worked on at a time, so that they stay in cache."""


@dataclass(frozen=True, slots=True)
class Forest:
    """Trees whose nodes stand in one table.

    A row with x[feature] <= threshold goes on to the child, another one to the node after it. A leaf is its
    own child, with an infinite threshold.

    >>> stump = Forest(
    ...     n_inputs=1,
    ...     depth=1,
    ...     root=np.array([0]),
    ...     feature=np.array([0, 0, 0]),
    ...     threshold=np.array([0.5, np.inf, np.inf]),
    ...     child=np.array([1, 1, 2]),
    ...     leaf=np.array([-1, 0, 1]),
    ...     values=np.array([[1.0, 3.0], [5.0, 7.0]]),
    ... )
    >>> stump.predict(np.array([[0.5], [0.6]]))
    array([[1., 3.],
           [5., 7.]])
    """

    n_inputs: int
    depth: int
    """Steps from a root to the farthest leaf."""
    root: Ints
    """(T,): the first node of each tree."""
    feature: Ints
    """(N,) of each node."""
    threshold: Floats
    """(N,) of each node."""
    child: Ints
    """(N,): the child of smaller inputs; the other one is next."""
    leaf: Ints
    """(N,): where the values of a leaf stand, -1 for other nodes."""
    values: Floats
    """(L, K): the predicted reward of each action in each leaf, over the number of trees."""

    @property
    def n_actions(self) -> int:
        """The number K of actions when the trees were grown."""
        return int(self.values.shape[1])

    def predict(self, x: Floats) -> Floats:
        """(n, K) predictions for the inputs (n, p)."""
        predictions = np.zeros((len(x), self.n_actions))
        step = max(1, _PLACES_AT_ONCE // max(len(self.root), self.n_actions))
        for start in range(0, len(x), step):
            part = slice(start, start + step)
            leaves = self.leaves(x[part])
            if len(leaves[0]) == 1:  # one call instead of one per tree, in the same order
                predictions[start] = np.add.accumulate(self.values[leaves[:, 0]], axis=0)[-1]
                continue
            for places in leaves:
                predictions[part] += self.values[places]
        return predictions

    def leaves(self, x: Floats) -> Ints:
        """(T, n): where the values of the leaf that a row (n, p) reaches in each tree stand."""
        inputs = np.ascontiguousarray(x).ravel()
        first = np.arange(0, inputs.size, self.n_inputs)
        nodes = np.repeat(self.root[:, np.newaxis], len(x), axis=1)
        for _ in range(self.depth):
            own = self.feature.take(nodes)
            own += first
            nodes = self.child.take(nodes) + (inputs.take(own) > self.threshold.take(nodes))
        return self.leaf.take(nodes)

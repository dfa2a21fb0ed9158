"""A distribution on an interval, in pieces that can be divided where functions switch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.policies.kernel_policy import Scorer
from gyrfalcon.environments.population.quadrature import closest, peak, pieces, switches

Table = Callable[[Contexts], Floats]
"""(n, K) numbers of n contexts: scores, probabilities, errors."""


@dataclass(frozen=True, slots=True)
class Interval:
    """One feature between break points, its density (None is uniform) and the true means of all actions.

    >>> interval = Interval(lambda x: np.stack([x, 1.0 - x], axis=1), (0.0, 1.0), order=4, density=None)
    >>> 0.5 in interval.cut([interval.means]).breaks
    True
    """

    truth: Callable[[Floats], Floats]
    breaks: tuple[float, ...]
    order: int
    density: Callable[[Floats], Floats] | None

    def nodes(self) -> tuple[Floats, Floats]:
        """Nodes (n,) and the share of the interval that each stands for, (n,)."""
        x, shares = pieces(self.breaks, self.order)
        return x.ravel(), shares.ravel()

    def means(self, contexts: Contexts) -> Floats:
        """True means of all actions, (n, K)."""
        return self.truth(contexts.shared[:, 0])

    def squared_errors(self, model: Scorer) -> Table:
        """Squared errors (f - f*)^2 of a model as a table."""
        return lambda contexts: (model.scores(contexts) - self.means(contexts)) ** 2

    def cut(self, tables: Sequence[Table]) -> Interval:
        """The interval with breaks at and around every point where the largest column of a table changes.

        Between two nodes with the same largest column, the point is looked at where another comes closest.
        """
        nodes, _ = self.nodes()
        found = np.concatenate(
            [np.zeros(0), *(switches(_largest(table), _with_near_ties(table, nodes)) for table in tables)]
        )
        return replace(self, breaks=tuple(np.union1d(self.breaks, self._around(found)).tolist()))

    def peak(self, table: Table) -> float:
        """The largest entry of a table anywhere on the interval, one-sided limits at breaks included."""
        nodes, _ = pieces(self.breaks, self.order)
        return peak(lambda x: table(_contexts(x)).max(axis=1), nodes)

    def _around(self, points: Floats) -> Floats:
        """The points, and others that close in on them from both sides down to rounding.

        A kernel with a large gamma changes fast next to a switch: on pieces that shrink towards it, each a
        quarter of the one before, any 1 / (K + gamma gap) is smooth.
        """
        low, high = self.breaks[0], self.breaks[-1]
        steps = np.ldexp(high - low, -2 * np.arange(1, 27))
        around: Floats = np.add.outer(points, np.concatenate([[0.0], steps, -steps])).ravel()
        return around[(around > low) & (around < high)]


def _largest(table: Table) -> Callable[[Floats], Ints]:
    return lambda x: np.asarray(table(_contexts(x)).argmax(axis=1))


def _with_near_ties(table: Table, nodes: Floats) -> Floats:
    """The nodes, and between those with the same largest column the point where another comes closest."""
    largest = _largest(table)(nodes)
    quiet = np.flatnonzero(largest[:-1] == largest[1:])
    own = largest[quiet]

    def lead(x: Floats, gap: Ints) -> Floats:
        """Largest of the other columns less the column that is largest in the gap, (n,)."""
        values = table(_contexts(x)).copy()
        rows = np.arange(len(x))
        mine = values[rows, own[gap]]
        values[rows, own[gap]] = -np.inf
        return np.asarray(values.max(axis=1) - mine)

    return np.union1d(nodes, closest(lead, nodes[quiet], nodes[quiet + 1]))


def _contexts(x: Floats) -> Contexts:
    return Contexts(x[:, np.newaxis])

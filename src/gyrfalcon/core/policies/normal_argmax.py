"""Which of independent normal scores is the largest: (K, n) means and deviations -> (K, n) probabilities.

"Score a is the largest, at z" has density F(z) pdf_a(z) / cdf_a(z), where F is the product of all cdfs. It is
integrated over panels with Gauss-Legendre nodes, in one upward pass per row. The pass begins at the highest
of the lower ends m - 8 s: below it some score is larger with a probability of 1 - 6e-16. Every score's range
has begun there, so from there on ranges only end, and a panel no wider than a few of the smallest deviation
whose range goes on sees smooth functions alone, whatever the deviations' ratios. The place z is kept as
x = (z - m) / s, in every score's own deviations, so that none loses digits to the scale of another.

A deviation of 0 is an atom, whose lower end is the atom itself; of equal atoms at the top the lowest index
wins. An action that may not win is an atom at minus infinity. All is elementwise over rows, and sums and
products are sequential: a row has the same bits alone and in any batch.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache, reduce

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints

_REACH = 8.0
_N_NODES = 24
_NEGLIGIBLE = 1e-14  # where the largest score lies this rarely there is nothing to integrate
_CHUNK = 2**16  # floats in an array over nodes, actions and rows: larger ones leave the cache


def larger_of_two(means: Floats, deviations: Floats) -> Floats:
    """Phi(gap / sqrt(s^2 + s'^2)) for the two actions of each row whose means are finite.

    >>> larger_of_two(np.array([[0.6], [0.5]]), np.array([[0.1], [0.2]])).round(8).ravel().tolist()
    [0.67263958, 0.32736042]
    """
    from scipy.special import ndtr

    playing, rows = means > -np.inf, np.arange(means.shape[1])
    first = playing.argmax(axis=0), rows
    second = len(means) - 1 - playing[::-1].argmax(axis=0), rows
    gap = means[first] - means[second]
    spread = np.hypot(deviations[first], deviations[second])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        loses = ndtr(-np.where(spread > 0.0, np.abs(gap) / spread, np.inf))
    shares = np.zeros_like(means)
    shares[first] = np.where(gap >= 0.0, 1.0 - loses, loses)
    shares[second] = np.where(gap >= 0.0, loses, 1.0 - loses)
    return shares


def largest_of_many(means: Floats, deviations: Floats) -> Floats:
    """P(the score of the action is the largest), within 1e-12, for any number of actions.

    >>> largest_of_many(np.array([[0.6], [0.5], [0.4]]), np.array([[0.1], [0.2], [0.3]])).round(8).tolist()
    [[0.51240764], [0.26790508], [0.21968728]]
    """
    shares = np.empty_like(means)
    size = max(1, _CHUNK // (_N_NODES * len(means)))
    for start in range(0, means.shape[1], size):
        rows = slice(start, start + size)
        shares[:, rows] = _chunk(means[:, rows], deviations[:, rows])
    return shares


def _chunk(means: Floats, deviations: Floats) -> Floats:
    from scipy.special import ndtr

    leader, edges = _beginning(means, deviations)
    shares = np.zeros_like(means)
    # What lies below the beginning is an atom's, or next to nothing.
    shares[leader, np.arange(len(leader))] = reduce(np.multiply, ndtr(edges))
    for rows, lower, widths in _panels(edges, deviations):
        matter = reduce(np.multiply, ndtr(lower + widths)) > _NEGLIGIBLE
        shares[:, rows[matter]] += _integral(lower[:, matter], widths[:, matter])
    # The errors of all actions in a panel have much in common; the rest of the row would add them up.
    shares /= reduce(np.add, shares)
    return shares


def _beginning(means: Floats, deviations: Floats) -> tuple[Ints, Floats]:
    """The action with the highest lower end, (n,), and where that end is in each action's deviations.

    Ends are compared by differences: those of tiny deviations would all be rounded to the mean.
    """
    leader = np.zeros(means.shape[1], dtype=np.int64)
    top, spread = means[0], deviations[0]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for action in range(1, len(means)):
            higher = means[action] - top > _REACH * (deviations[action] - spread)
            leader[higher] = action
            top = np.where(higher, means[action], top)
            spread = np.where(higher, deviations[action], spread)
        edges = (top - means - _REACH * spread) / deviations
    return leader, np.where(deviations > 0.0, edges, np.inf)


def _panels(edges: Floats, deviations: Floats) -> Iterator[tuple[Ints, Floats, Floats]]:
    """Rows, lower edges and widths, in each action's deviations, of one panel per row that still goes on."""
    rows = np.arange(edges.shape[1])
    widest = _widest(len(edges))
    while True:
        going = (edges < _REACH).any(axis=0)
        rows, edges, deviations = rows[going], edges[:, going], deviations[:, going]
        if not len(rows):
            return
        running = edges < _REACH
        smallest = np.where(running, deviations, np.inf).min(axis=0)
        width = widest[np.count_nonzero(running, axis=0)]
        with np.errstate(divide="ignore", over="ignore"):
            widths = np.where(running, width * (smallest / deviations), 0.0)
        yield rows, edges, widths
        edges = edges + widths


def _integral(lower: Floats, widths: Floats) -> Floats:
    """Integral of each action's density over one panel per row."""
    from scipy.special import ndtr

    nodes, weights = _rule()
    x = lower + widths * nodes
    below = ndtr(x)
    everyone = reduce(np.multiply, np.moveaxis(below, 1, 0))
    with np.errstate(over="ignore", under="ignore"):
        density = np.exp(-0.5 * (x * x))
    density /= below
    density *= (everyone * weights)[:, np.newaxis]
    total: Floats = reduce(np.add, density) * widths
    return total


@cache
def _rule() -> tuple[Floats, Floats]:
    """Gauss-Legendre on [0, 1]: nodes (N, 1, 1), and weights (N, 1) over the root of 2 pi."""
    nodes, weights = np.polynomial.legendre.leggauss(_N_NODES)
    scale = 0.5 / math.sqrt(2.0 * math.pi)
    return 0.5 * (1.0 + nodes)[:, np.newaxis, np.newaxis], scale * weights[:, np.newaxis]


@cache
def _widest(n_actions: int) -> Floats:
    """How many of the smallest deviation a panel may span while k = 0..K ranges go on.

    The maximum of k scores is steeper than any of them, by about the root of log k. With 24 nodes the
    constants keep errors near 1e-13 for 3 to 200 actions.
    """
    return np.array([15.0 / (1.0 + math.log1p(k)) for k in range(n_actions + 1)])

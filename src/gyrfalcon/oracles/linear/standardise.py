"""The change of columns that gives features mean 0 and scale 1 over all rows."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.oracles.features.design import Design, Layout
from gyrfalcon.oracles.solvers.moments import Moments


def standardisation(design: Design, pooled: Moments) -> Floats:
    """T with z = T phi over the rows behind these moments, (d, d); the identity without rows."""
    change: Floats = standardisations(design, pooled, 1)[0]
    return change


def standardisations(design: Design, pooled: Moments, n_groups: int) -> Floats:
    """The same for each of R equal shares of the blocks, (R, d, d)."""
    d = design.block_width
    change = np.zeros((n_groups, d, d))
    n = pooled.weight.reshape(n_groups, -1).sum(axis=1)
    gram = pooled.gram.reshape(n_groups, -1, d, d).sum(axis=1) / np.where(n > 0.0, n, 1.0)[:, None, None]
    mean = np.zeros((n_groups, d))
    if design.intercept and design.layout is not Layout.HYBRID:
        mean[:, 1:] = gram[:, 0, 1:]
    second = _second_moments(design, gram)
    variance = second - mean**2
    # A constant column keeps its scale: dividing by rounding noise would make features of it.
    scale = np.sqrt(np.where(variance > 1e-14 * second, variance, 1.0))
    change[:, np.arange(d), np.arange(d)] = 1.0 / scale
    change[:, 1:, 0] -= mean[:, 1:] / scale[:, 1:]
    return change


def _second_moments(design: Design, gram: Floats) -> Floats:
    """The mean square of each column; an action's own columns (hybrid) are pooled over the actions."""
    second = np.diagonal(gram, axis1=1, axis2=2).copy()
    if design.layout is Layout.HYBRID:
        own = second[:, design.n_joint :].reshape(len(gram), design.n_actions, design.n_own)
        own[:] = own.sum(axis=1, keepdims=True)
    return second

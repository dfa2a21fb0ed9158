"""Terms that a linear class lacks, and that a specification test adds: powers, products, indicators."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints

ROWS_PER_TERM = 15
"""Rows of a block for each term that is added to it; more terms would be tested with little power."""
FEWEST_TERMS = 2
_NEGLIGIBLE = 1e-7
"""Share of a term that must be left once the class's own columns are taken out of it."""


def added_terms(
    points: Floats, fitted: Floats | None, actions: Ints, effective: float, *, shared: bool
) -> Floats:
    """Standardised terms of the rows of one block, (n, q), as many groups of them as the rows bear.

    Groups come in this order: indicators of the actions where they share coefficients; squares, cubes and
    pairwise products of the features; second and third powers of fitted values. One that the rows do not bear
    is left out whole.

    Parameters
    ----------
    points
        Features of the context and of the action in units of their spread, (n, p).
    fitted
        Fitted values, (n,); None leaves their powers out.
    actions
        Positions of the actions, (n,).
    effective
        Effective number of rows.
    shared
        Whether the block's coefficients are shared by several actions.
    """
    groups = []
    if shared:
        present = np.unique(actions)[1:]
        groups.append((actions[:, np.newaxis] == present).astype(np.float64))
    groups += [points**2, points**3, _products(points, int(effective / ROWS_PER_TERM))]
    if fitted is not None:
        z = _standardised(fitted[:, np.newaxis])
        groups.append(np.concatenate([z**2, z**3], axis=1))
    most, taken, n_taken = max(effective / ROWS_PER_TERM, FEWEST_TERMS), [], 0
    for group in groups:
        if group.shape[1] and n_taken + group.shape[1] <= most:
            taken.append(group)
            n_taken += group.shape[1]
    return _standardised(np.concatenate([np.empty((len(points), 0)), *taken], axis=1))


def independent_part(terms: Floats, own: Floats) -> Floats:
    """Orthonormal columns that span what orthonormal `own` columns leave of the terms, (n, rank)."""
    size = np.linalg.norm(terms, axis=0)
    left = terms - own @ (own.T @ terms)
    left -= own @ (own.T @ left)  # once more: the first time leaves rounding of large terms
    kept = np.linalg.norm(left, axis=0) > _NEGLIGIBLE * np.where(size > 0.0, size, np.inf)
    if not kept.any():
        return np.empty((len(terms), 0))
    left = left[:, kept] / np.linalg.norm(left[:, kept], axis=0)
    basis, values, _ = np.linalg.svd(left, full_matrices=False)
    return np.asarray(basis[:, values > _NEGLIGIBLE * values[0]])


def _products(points: Floats, most: int) -> Floats:
    """Products of each pair of features, or none if there are more than `most`."""
    d = points.shape[1]
    if d * (d - 1) // 2 > most:
        return np.empty((len(points), 0))
    pairs = list(combinations(range(d), 2))
    return np.stack([points[:, i] * points[:, j] for i, j in pairs], axis=1) if pairs else points[:, :0]


def _standardised(columns: Floats) -> Floats:
    """Columns of mean 0 and spread 1; 0 where they are constant up to rounding."""
    spread, size = columns.std(axis=0), np.abs(columns).max(axis=0, initial=0.0)
    varied = spread > 1e-10 * size
    return np.where(varied, (columns - columns.mean(axis=0)) / np.where(varied, spread, 1.0), 0.0)

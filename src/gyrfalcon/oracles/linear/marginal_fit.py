"""Ridge fits of a linear class with penalties by marginal likelihood, and confidence widths or inverses."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.oracles.linear.centring import Centring
from gyrfalcon.oracles.linear.half_whitening import penalised_columns
from gyrfalcon.oracles.linear.linear import LinearOracle
from gyrfalcon.oracles.linear.models import LinearModel, OptimisticModel
from gyrfalcon.oracles.linear.penalties import PenalisedFit, Penalties
from gyrfalcon.oracles.solvers.least_squares import LinearFit, residual_squares, ridge_fit
from gyrfalcon.oracles.solvers.moments import Moments

_MIRRORED = 48
"""Columns of an inverse whose triangle is mirrored at a time."""


def marginal_fit(
    oracle: LinearOracle, rows: Moments, penalties: Penalties, information: float = 1.0, n_steps: int = 1
) -> tuple[OptimisticModel, LinearFit, Penalties]:
    """The fit with its confidence widths and without a bonus, the fit itself, and the next penalties.

    Penalties act on columns that are standardised and half whitened. `information` is what a row is worth,
    in rows of rewards that are not rare. The fit is that of the last of `n_steps` steps of the penalties.
    """
    change, following = penalised_columns(oracle, rows), penalties
    for _ in range(n_steps):
        penalties, center = following, centring(oracle, following)
        fit, factors = ridge_fit(center.less(rows).transformed(change), penalties.of_columns)
        squares = float(np.sum(fit.residual_squares))
        solved = PenalisedFit(fit.coefficients, np.square(factors).sum(axis=1), squares)
        following = penalties.updated(solved, rows, oracle.design, information)
    model = oracle.model_of(center.above(fit.coefficients @ change), rows).eagerly()
    widths = np.ascontiguousarray(factors @ change)
    return OptimisticModel(model, oracle.design, widths, 0.0), fit, following


def inverse_fit(
    oracle: LinearOracle, rows: Moments, penalties: Penalties
) -> tuple[LinearModel, Floats, Penalties]:
    """The fit of columns as they are, the inverses (B, d, d) of its penalised Gram matrices, next penalties.

    Its columns have scales of about 1 and its penalties are at least 1, so that a Cholesky factor has all the
    digits that a prediction needs, at a fraction of the cost of confidence factors.
    """
    center = centring(oracle, penalties)
    centred = center.less(rows)
    inverses = np.empty(centred.gram.shape)
    for own, inverse in zip(centred.gram, inverses, strict=True):
        inverse[...] = inverse_of(_penalised(own, penalties))
    coefficients = np.einsum("bij,bj->bi", inverses, centred.cross)
    residual = float(residual_squares(centred, coefficients).sum())
    solved = PenalisedFit(coefficients, np.diagonal(inverses, axis1=1, axis2=2), residual)
    model = oracle.model_of(center.above(coefficients), rows).eagerly()
    return model, inverses, penalties.updated(solved, rows, oracle.design)


def quick_fit(oracle: LinearOracle, rows: Moments, penalties: Penalties) -> LinearModel:
    """The fit of `inverse_fit` alone, at a third of its cost."""
    from scipy.linalg.lapack import dposv

    center = centring(oracle, penalties)
    centred = center.less(rows)
    coefficients = np.empty(centred.cross.shape)
    for own, cross, theta in zip(centred.gram, centred.cross, coefficients, strict=True):
        # Transposed, a symmetric matrix is as LAPACK has it, and nothing is copied.
        _, theta[...], info = dposv(_penalised(own, penalties).T, cross, overwrite_a=1)
        if info != 0:
            return inverse_fit(oracle, rows, penalties)[0]
    return oracle.model_of(center.above(coefficients), rows).eagerly()


def _penalised(gram: Floats, penalties: Penalties) -> Floats:
    """A Gram matrix with the penalties on its diagonal; one at a time, as new memory costs more than sums."""
    matrix = gram.copy()
    np.einsum("ii->i", matrix)[...] += penalties.of_columns
    return matrix


def centring(oracle: LinearOracle, penalties: Penalties) -> Centring:
    """Centring of rewards at what intercepts are shrunk to."""
    return Centring(np.array([penalties.center]), oracle.design.constant)


def inverse_of(matrix: Floats) -> Floats:
    """The exactly symmetric inverse of a positive definite matrix.

    >>> inverse_of(np.array([[2.0, 1.0], [1.0, 1.0]])).round(12).tolist()
    [[1.0, -1.0], [-1.0, 2.0]]
    """
    from scipy.linalg.lapack import dpotrf, dpotri

    triangle, info = dpotrf(matrix.T)  # transposed, it is as LAPACK has it; below the triangle are zeros
    if info != 0 or not np.isfinite(triangle[-1, -1]):
        raise ValueError(
            "Features or rewards are not finite, or too large for a fit by their products (up to "
            f"{np.abs(matrix).max():.1e}); drop such rows, or standardise the features first."
        )
    inverse: Floats = dpotri(triangle, overwrite_c=1)[0].T
    # Mirrored some columns at a time: a pass over whole columns would miss the cache at every number.
    for start in range(0, len(inverse), _MIRRORED):
        stop = start + _MIRRORED
        corner = inverse[start:stop, start:stop]
        corner += np.tril(corner, -1).T
        inverse[start:stop, stop:] = inverse[stop:, start:stop].T
    return inverse

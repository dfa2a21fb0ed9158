"""Ridge fits of a linear class with penalties by marginal likelihood, and confidence widths or inverses."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.oracles.linear.centring import Centring
from gyrfalcon.oracles.linear.linear import LinearOracle
from gyrfalcon.oracles.linear.models import LinearModel, OptimisticModel
from gyrfalcon.oracles.linear.penalties import PenalisedFit, Penalties
from gyrfalcon.oracles.solvers.least_squares import LinearFit, residual_squares, ridge_fit
from gyrfalcon.oracles.solvers.moments import Moments


def marginal_fit(
    oracle: LinearOracle, rows: Moments, penalties: Penalties, information: float = 1.0
) -> tuple[OptimisticModel, LinearFit, Penalties]:
    """The fit with its confidence widths and without a bonus, the fit itself, and the next penalties.

    Columns are standardised, and penalties act on standardised columns. `information` is what a row is worth,
    in rows of rewards that are not rare.
    """
    change, center = oracle.standardisation(rows), centring(oracle, penalties)
    fit, factors = ridge_fit(center.less(rows).transformed(change), penalties.of_columns)
    model = oracle.model_of(center.above(fit.coefficients @ change), rows).eagerly()
    widths = np.ascontiguousarray(factors @ change)
    solved = PenalisedFit(
        fit.coefficients, np.square(factors).sum(axis=1), float(np.sum(fit.residual_squares))
    )
    return (
        OptimisticModel(model, oracle.design, widths, 0.0),
        fit,
        penalties.updated(solved, rows, oracle.design, information),
    )


def inverse_fit(
    oracle: LinearOracle, rows: Moments, penalties: Penalties
) -> tuple[LinearModel, Floats, Penalties]:
    """The fit of columns as they are, the inverses (B, d, d) of its penalised Gram matrices, next penalties.

    Its columns have scales of about 1 and its penalties are at least 1, so that a Cholesky factor has all the
    digits that a prediction needs, at a fraction of the cost of confidence factors.
    """
    center = centring(oracle, penalties)
    centred = center.less(rows)
    inverses = np.stack([inverse_of(own) for own in centred.gram + np.diag(penalties.of_columns)])
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
    penalised = centred.gram + np.diag(penalties.of_columns)
    solved = [dposv(own, cross) for own, cross in zip(penalised, centred.cross, strict=True)]
    if any(info != 0 for *_, info in solved):
        return inverse_fit(oracle, rows, penalties)[0]
    coefficients = np.stack([theta for _, theta, _ in solved])
    return oracle.model_of(center.above(coefficients), rows).eagerly()


def centring(oracle: LinearOracle, penalties: Penalties) -> Centring:
    """Centring of rewards at what intercepts are shrunk to."""
    return Centring(np.array([penalties.center]), oracle.design.constant)


def inverse_of(matrix: Floats) -> Floats:
    """The exactly symmetric inverse of a positive definite matrix.

    >>> inverse_of(np.array([[2.0, 1.0], [1.0, 1.0]])).round(12).tolist()
    [[1.0, -1.0], [-1.0, 2.0]]
    """
    from scipy.linalg.lapack import dpotrf, dpotri

    triangle, info = dpotrf(matrix, clean=0)
    if info != 0 or not np.isfinite(triangle[-1, -1]):
        raise ValueError(
            "Features or rewards are not finite, or too large for a fit by their products (up to "
            f"{np.abs(matrix).max():.1e}); drop such rows, or standardise the features first."
        )
    upper = np.triu(dpotri(triangle)[0])
    return np.asarray(upper + np.triu(upper, 1).T)

"""B0: the mean squared error of the best in-class model, noise included: MSE* = b + sigma^2."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.records import Log
from gyrfalcon.core.types import Bools, Floats
from gyrfalcon.estimates.crossfit import cross_fitted
from gyrfalcon.estimates.passive import folds, passive_rows
from gyrfalcon.estimates.result import NotEstimableError
from gyrfalcon.estimates.smoothers import Smoother
from gyrfalcon.oracles.linear import LinearOracle
from gyrfalcon.oracles.oracle import AnyOracle


@dataclass(frozen=True, slots=True)
class RiskEstimate:
    """MSE*, which no estimate of b may exceed by much, and its standard error."""

    value: float
    standard_error: float
    n_rows: int


def best_risk(log: Log, oracle: AnyOracle, *, n_folds: int = 5) -> RiskEstimate:
    """The risk E(r - fhat*)^2 of the best in-class model under uniform play, from passive rows.

    For linear classes the mean of e^2 / (1 - h), unbiased to first order whatever the noise and however wrong
    the class: the fitted rows' own error is too small by the share that leaving each out is too large. For
    others, the error on rows that the fit has not seen, less what noise in the fit adds to it.
    """
    rows = passive_rows(log)
    if isinstance(oracle, LinearOracle):
        squares = _leverage_corrected(Smoother.of(oracle, rows), rows)
        excess = 0.0
    else:
        check_rows_for_folds(rows, n_folds)
        fit = cross_fitted(oracle, rows, folds(rows, n_folds))
        squares, excess = fit.residuals**2, fit.excess
    error = float(np.std(squares, ddof=1)) / math.sqrt(len(squares))
    return RiskEstimate(max(float(np.mean(squares)) - excess, 0.0), error, len(squares))


def identified(leverages: Floats) -> Bools:
    """(n,): which rows are not fitted exactly whatever their reward is."""
    return leverages < 1.0 - 1e-8


def check_rows_for_folds(rows: Log, n_folds: int) -> None:
    """Refuse fewer than two rows a fold, or too few in all."""
    least = max(2 * n_folds, 20)
    if len(rows) < least:
        raise NotEstimableError(
            f"there are {len(rows)} usable passive rows for {n_folds} folds; wait for at least {least}."
        )


def _leverage_corrected(smoother: Smoother, rows: Log) -> Floats:
    leverages = smoother.leverages
    usable = identified(leverages)
    if np.count_nonzero(usable) < 2:
        raise NotEstimableError(
            f"the class fits the {len(rows)} passive rows exactly, as it has as many coefficients; "
            "wait for more rows, or choose a smaller class or a ridge."
        )
    residuals = smoother.residuals(rows.reward)
    return np.asarray(residuals[usable] ** 2 / (1.0 - leverages[usable]))

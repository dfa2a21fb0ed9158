"""B0: the mean squared error of the best in-class model, noise included: MSE* = b + sigma^2."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.records import Log
from gyrfalcon.estimates.misspecification.passive_rows import folds, passive_rows
from gyrfalcon.estimates.misspecification.result import NotEstimableError, quantile
from gyrfalcon.estimates.misspecification.smoother import Smoother
from gyrfalcon.oracles.linear.linear import LinearOracle
from gyrfalcon.oracles.protocol import AnyOracle, Summary


@dataclass(frozen=True, slots=True)
class CrossFit:
    """Residuals of rows under fits of the other folds, and what noise in those fits adds to their squares."""

    residuals: Floats
    excess: float
    """How far the fits' mean squared error is above the best in-class model's."""


def cross_fitted(oracle: AnyOracle, log: Log, fold: Ints) -> CrossFit:
    """What each fold's rows leave of the fit of all others.

    With p degrees of freedom a fit of n rows is p MSE / n worse than the best, MSE being that on rows which
    it has not seen: exactly so for Gaussian features, and up to 1 / n^2 for others.
    """
    n_folds = int(fold.max()) + 1
    summaries = [oracle.summarise(log.where(fold == one)) for one in range(n_folds)]
    residuals = np.empty(len(log))
    for one in range(n_folds):
        model, _ = oracle.fit(_sum_without(oracle, summaries, one), oracle.empty())
        rows = np.flatnonzero(fold == one)
        scores = model.scores(log.contexts.take(rows))
        residuals[rows] = log.reward[rows] - scores[np.arange(len(rows)), log.action[rows]]
    n_train = len(log) * (n_folds - 1) / n_folds
    degrees = degrees_of(oracle, log)
    if isinstance(oracle, LinearOracle) and 2.0 * degrees > n_train:
        raise NotEstimableError(
            f"fits of {n_train:.0f} rows have {degrees:.0f} degrees of freedom, more than half as many; "
            "wait for more rows, or choose a smaller class or a ridge."
        )
    return CrossFit(residuals, degrees * float(np.mean(residuals**2)) / n_train)


def degrees_of(oracle: AnyOracle, log: Log) -> float:
    """Degrees of freedom of the fit of these rows; other than linear classes say it of themselves."""
    if isinstance(oracle, LinearOracle):
        return Smoother.of(oracle, log).degrees
    rows = oracle.summarise(log)
    return float(oracle.noise(oracle.passive_risk(rows), oracle.empty(), rows).degrees)


def _sum_without(oracle: AnyOracle, summaries: list[Summary], left_out: int) -> Summary:
    total: Summary = oracle.empty()
    for number, summary in enumerate(summaries):
        if number != left_out:
            total = total + summary
    return total


@dataclass(frozen=True, slots=True)
class RiskEstimate:
    """MSE* = b + sigma^2, an upper bound of b, and its standard error."""

    value: float
    standard_error: float
    n_rows: int

    def upper(self, level: float) -> float:
        """The upper end of its two-sided interval, by Student's t."""
        return self.value + quantile(level, self.n_rows - 1) * self.standard_error


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

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


def cross_fitted(oracle: AnyOracle, log: Log, fold: Ints, weights: Floats | None = None) -> CrossFit:
    """What each fold's rows leave of the fit of all others.

    With p degrees of freedom a fit of n rows is p MSE / n worse than the best, MSE being that on rows which
    it has not seen: exactly so for Gaussian features, and up to 1 / n^2 for others. With weights, which make
    noise unequal, the noise in a linear fit is that of each row.
    """
    n_folds = int(fold.max()) + 1
    summaries = [
        oracle.summarise(log.where(fold == one), None if weights is None else weights[fold == one])
        for one in range(n_folds)
    ]
    residuals = np.empty(len(log))
    for one in range(n_folds):
        model, _ = oracle.fit(_sum_without(oracle, summaries, one), oracle.empty())
        rows = np.flatnonzero(fold == one)
        scores = model.scores(log.contexts.take(rows))
        residuals[rows] = log.reward[rows] - scores[np.arange(len(rows)), log.action[rows]]
    kept = (n_folds - 1) / n_folds
    n_train = len(log) * kept if weights is None else effective_number(weights) * kept
    degrees = degrees_of(oracle, log, weights)
    if isinstance(oracle, LinearOracle) and 2.0 * degrees > n_train:
        raise NotEstimableError(
            f"fits of {n_train:.0f} rows have {degrees:.0f} degrees of freedom, more than half as many; "
            "wait for more rows, or choose a smaller class or a ridge."
        )
    if weights is None:
        return CrossFit(residuals, degrees * float(np.mean(residuals**2)) / n_train)
    if isinstance(oracle, LinearOracle):
        noise = Smoother.of(oracle, log, weights=weights).fit_noise(weights * residuals**2)
        return CrossFit(residuals, noise / float(weights.sum()) / kept)
    spread = float(np.mean((weights * residuals) ** 2)) / float(np.mean(weights)) ** 2
    return CrossFit(residuals, degrees * spread / (len(log) * kept))


def effective_number(weights: Floats) -> float:
    """Effective number of weighted rows, (sum w)^2 / sum w^2.

    >>> effective_number(np.array([2.0, 2.0])), effective_number(np.array([1.0, 0.0]))
    (2.0, 1.0)
    """
    return float(weights.sum()) ** 2 / float(weights @ weights)


def degrees_of(oracle: AnyOracle, log: Log, weights: Floats | None = None) -> float:
    """Degrees of freedom of the fit of these rows; other than linear classes say it of themselves."""
    if isinstance(oracle, LinearOracle):
        return Smoother.of(oracle, log, weights=weights).degrees
    rows = oracle.summarise(log, weights)
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


def best_risk(
    log: Log, oracle: AnyOracle, *, n_folds: int = 5, weights: Floats | None = None
) -> RiskEstimate:
    """The risk E(r - fhat*)^2 of the best in-class model under uniform play, from passive rows.

    For linear classes the mean of e^2 / (1 - h), unbiased to first order whatever the noise and however wrong
    the class: the fitted rows' own error is too small by the share that leaving each out is too large. For
    others, the error on rows that the fit has not seen, less what noise in the fit adds to it. With weights,
    all rows count, by their weight.
    """
    rows = passive_rows(log) if weights is None else log
    if isinstance(oracle, LinearOracle):
        squares = _leverage_corrected(Smoother.of(oracle, rows, weights=weights), rows, weights)
        excess = 0.0
    else:
        check_rows_for_folds(rows, n_folds)
        fit = cross_fitted(oracle, rows, folds(rows, n_folds), weights)
        squares, excess = fit.residuals**2, fit.excess
        squares = squares if weights is None else weights * squares / float(weights.mean())
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
            f"there are {len(rows)} usable rows for {n_folds} folds; wait for at least {least}."
        )


def _leverage_corrected(smoother: Smoother, rows: Log, weights: Floats | None) -> Floats:
    leverages = smoother.leverages
    usable = identified(leverages)
    if np.count_nonzero(usable) < 2:
        raise NotEstimableError(
            f"the class fits the {len(rows)} passive rows exactly, as it has as many coefficients; "
            "wait for more rows, or choose a smaller class or a ridge."
        )
    if weights is None:
        residuals = smoother.residuals(rows.reward)
        return np.asarray(residuals[usable] ** 2 / (1.0 - leverages[usable]))
    residuals = smoother.residuals(np.sqrt(weights) * rows.reward)
    return np.asarray(residuals[usable] ** 2 / (1.0 - leverages[usable]) / weights[usable].mean())

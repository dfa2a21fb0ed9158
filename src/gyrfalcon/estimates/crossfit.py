"""Predictions of rows by models that have not seen them, for any model class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.records import Log
from gyrfalcon.core.types import Floats, Ints
from gyrfalcon.estimates.result import NotEstimableError
from gyrfalcon.estimates.smoothers import Smoother
from gyrfalcon.oracles.linear import LinearOracle
from gyrfalcon.oracles.oracle import AnyOracle, Summary


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

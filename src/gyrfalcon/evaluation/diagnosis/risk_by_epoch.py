"""Excess risk under uniform play of the fit to all rows so far, and its multiplier, epoch by epoch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.fit_report import FitReport
from gyrfalcon.core.records import Log
from gyrfalcon.estimates.misspecification.crossfit import effective_number
from gyrfalcon.estimates.misspecification.smoother import Smoother
from gyrfalcon.oracles.linear.linear import LinearOracle
from gyrfalcon.oracles.solvers.constrained import constrained_fits

MOST_EPOCHS = 12
"""Epochs that are shown; of more, some are left out evenly."""
CONFIDENCE = 0.95
"""Probability with which the slack admits the best in-class model."""
FEWEST_SPARE = 10


@dataclass(frozen=True, slots=True)
class EpochRisk:
    """The fit to all rows up to the end of an epoch, and what uniform play says of it.

    Attributes
    ----------
    epoch : int
        Number of the epoch, or of a tenth of the log where there is only one.
    n_rows : int
        Rows up to its end.
    n_uniform : float
        Passive rows up to its end, or the effective number of weighted rows.
    excess : float
        Mean squared error under uniform play of the fit to all rows, above that of the best fit in the class,
        in squared reward units.
    slack : float
        What the excess of the best in-class model stays below with probability 0.95, from noise alone.
    multiplier : float
        Multiplier of the constraint that the excess is within the slack; 0 where it does not bind.
    reported : bool
        Whether the numbers are those of the epoch's stored report, in the learner's own unit of rewards.
    """

    epoch: int
    n_rows: int
    n_uniform: float
    excess: float
    slack: float
    multiplier: float
    reported: bool = False

    @property
    def binding(self) -> bool:
        """Whether a constraint would change the fit."""
        return self.multiplier > 0.0


def risks_by_epoch(
    log: Log,
    oracle: LinearOracle,
    uniform: Ints,
    weights: Floats | None,
    reports: Mapping[int, FitReport] | None = None,
) -> tuple[EpochRisk, ...]:
    """The risk of each epoch whose rows determine the class.

    Parameters
    ----------
    log
        All rows, in order.
    oracle
        The oracle of the linear class.
    uniform
        Places of the rows that stand for uniform play, in ascending order.
    weights
        Their weights, (len(uniform),), or None for passive rows.
    reports
        Reports of stored epochs by their number, in place of fits made anew.
    """
    found = []
    for epoch, stop in _ends(log):
        report = None if reports is None else reports.get(epoch)
        if report is not None and report.n_passive > 0.0:
            numbers = report.n_passive, report.excess, report.slack, report.multiplier
            found.append(EpochRisk(epoch, stop, *numbers, reported=True))
            continue
        n = int(np.searchsorted(uniform, stop))
        rows = log.take(uniform[:n])
        risk = _risk(epoch, log.take(slice(0, stop)), rows, None if weights is None else weights[:n], oracle)
        if risk is not None:
            found.append(risk)
    return tuple(found)


def _risk(
    epoch: int, before: Log, uniform: Log, weights: Floats | None, oracle: LinearOracle
) -> EpochRisk | None:
    """Excess of the plain fit, slack that noise calls for, and multiplier; None of too few rows."""
    n_effective = len(uniform) if weights is None else effective_number(weights) if len(uniform) else 0.0
    if n_effective < oracle.n_parameters + FEWEST_SPARE or not np.ptp(uniform.reward) > 0.0:
        return None
    smoother = Smoother.of(oracle, uniform, weights=weights)
    slack = noise_slack(smoother, uniform.reward, weights)
    active, passive = oracle.summarise(before), oracle.summarise(uniform, weights)
    change = oracle.standardisation(active.rootless() + passive.rootless())
    free, bound = constrained_fits(
        active.transformed(change), passive.transformed(change), [math.inf, slack], oracle.settings.ridge
    )
    excess = free.excess if free.excess > 1e-12 * free.alpha else 0.0  # rounding
    return EpochRisk(epoch, len(before), n_effective, excess, slack, bound.multiplier)


def noise_slack(smoother: Smoother, reward: Floats, weights: Floats | None) -> float:
    """What noise puts the best in-class model above the fit of these rows by, at most, in 19 of 20 logs.

    The expected excess is the noise in fitted values; its quantile is that of a chi-square with as many
    degrees as the fit has coefficients.
    """
    from scipy.special import chdtri

    given = np.ones(len(reward)) if weights is None else weights
    left = smoother.residuals(np.sqrt(given) * reward)
    squares = left**2 / np.maximum(1.0 - smoother.leverages, 0.05)
    expected = smoother.fit_noise(squares) / float(given.sum())
    degrees = max(smoother.degrees, 1.0)
    return expected * float(chdtri(degrees, 1.0 - CONFIDENCE)) / degrees


def _ends(log: Log) -> list[tuple[int, int]]:
    """Numbers of epochs and the place after their last row; tenths of the log where there is one epoch."""
    epochs = log.epoch
    if len(np.unique(epochs)) > 1:
        last = {int(epoch): place + 1 for place, epoch in enumerate(epochs.tolist())}
        ends = sorted(last.items(), key=lambda one: one[1])
    else:
        ends = [(tenth, len(log) * tenth // 10) for tenth in range(1, 11)]
    places = np.unique(np.linspace(0, len(ends) - 1, MOST_EPOCHS).round().astype(int))
    return [ends[place] for place in places]

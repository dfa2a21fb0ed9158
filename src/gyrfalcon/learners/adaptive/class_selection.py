"""Which model class is active: the one with the highest predictive log-likelihood, one block ahead.

A class that has not been active can't be compared by its value: no data have ever corrected the actions that
it would take. Its predictions of the rewards of other classes' actions can be compared fairly if its own
uncertainty counts: an error where it has little data is to be expected. So the score of a row is the
log-density that a class gave to its reward, with the noise and the uncertainty that the class itself
estimates: what a class gains in fit is weighed against what its variance costs, and neither a small nor a
large class has a privilege.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.records import Log
from gyrfalcon.learners.reward_scale import COIN, RewardScale

_BEYOND = 0.5
"""How far estimates may lie beyond the rewards seen before they are compared, in multiples of their range."""
_MOST_SURPRISE = 25.0
"""Squared errors over their predicted variance count up to this: one absurd reward decides nothing."""
_LEAST_CHANCE = 0.1
"""Least chance of either of two rewards, in multiples of its share so far."""
_MIN_Z, _MIN_ROWS = 1.0, 20.0
"""Standard errors by which, and rows on which, another class must have predicted better."""
_WORTHWHILE = 1e-3
"""Log-likelihood per row: a class that surely gains less over the active one is not worth its time."""


@dataclass(frozen=True, slots=True)
class Predictions:
    """Predictions of a class for some rows, made before it was fitted to them."""

    estimates: Floats
    """(n,): estimated rewards of the actions that were taken."""
    leverages: Floats
    """(n,): phi'P phi of these actions, in units of the noise."""
    noise: float
    """The variance of rewards around its estimates, as the class estimates it."""
    two_valued: bool = False
    """Whether the class knows that rewards have two values."""


def log_scores(predictions: Sequence[Predictions], log: Log, scale: RewardScale) -> Floats:
    """(C, n): the log-density that each of C fits gave to the rewards of rows that it has not seen.

    The scale is that of all rows, these too. While rewards are known to have two values, all fits are judged
    by the chances that they gave to these.
    """
    if any(one.two_valued for one in predictions):
        return np.stack([_log_chances(one, log, scale) for one in predictions])
    beyond = _BEYOND * (scale.high - scale.low)
    bounds = scale.low - beyond, scale.high + beyond
    errors = np.stack([log.reward - one.estimates.clip(*bounds) for one in predictions]) ** 2
    variances = np.stack([one.noise * (1.0 + one.leverages) for one in predictions])
    return np.asarray(-0.5 * np.log(variances) - 0.5 * np.minimum(errors / variances, _MOST_SURPRISE))


def _log_chances(given: Predictions, log: Log, scale: RewardScale) -> Floats:
    """(n,): log-likelihoods of rewards that are the least or the largest seen, by their estimated chances."""
    span, mean = scale.high - scale.low, (scale.mean - scale.low) / (scale.high - scale.low)
    estimates, successes = (given.estimates - scale.low) / span, (log.reward - scale.low) / span
    chances = mean_within(estimates, np.sqrt(given.noise * given.leverages) / span)
    chances = chances.clip(_LEAST_CHANCE * mean, 1.0 - _LEAST_CHANCE * (1.0 - mean))
    return np.asarray(successes * np.log(chances) + (1.0 - successes) * np.log1p(-chances))


def mean_within(means: Floats, deviations: Floats) -> Floats:
    """(n,): means of normal variables that are clipped to [0, 1].

    >>> mean_within(np.array([0.25, -9.0, 0.0]), np.array([0.0, 1.0, 0.01])).round(4).tolist()
    [0.25, 0.0, 0.004]
    """
    from scipy.special import ndtr

    deviations = np.maximum(deviations, 1e-12)
    low, high = -means / deviations, (1.0 - means) / deviations
    densities = np.exp(-0.5 * low**2) - np.exp(-0.5 * high**2)
    inside = means * (ndtr(high) - ndtr(low)) + deviations * densities / math.sqrt(2.0 * math.pi)
    return np.asarray(inside + ndtr(-high))


@dataclass(frozen=True, slots=True)
class ClassComparison:
    """Pairwise comparison of C classes; a row is weighted by the number of rows before it."""

    log_score_gap: Floats
    """(C, C): sums of the log-score of class j less that of class i, at place i, j."""
    log_score_gap_squares: Floats
    """(C, C): sums of their squares."""
    weights: Floats
    """(C, C): sums of the weights of rows on which both predicted."""
    n_rows: Floats
    """(C, C): numbers of these rows."""

    @staticmethod
    def none(n_classes: int) -> ClassComparison:
        """The comparison before the first row."""
        pairs = np.zeros((n_classes, n_classes))
        return ClassComparison(pairs, pairs, pairs, pairs)

    def widened(self, n_classes: int) -> ClassComparison:
        """The comparison with room for more classes, which have not been compared."""
        room = (0, n_classes - len(self.weights))
        sums = (self.log_score_gap, self.log_score_gap_squares, self.weights, self.n_rows)
        return ClassComparison(*(np.pad(one, (room, room)) for one in sums))

    def scaled(self, factor: float) -> ClassComparison:
        """The comparison with every row's weight times a factor."""
        return ClassComparison(
            factor * self.log_score_gap,
            factor**2 * self.log_score_gap_squares,
            factor * self.weights,
            factor * self.n_rows,
        )

    @property
    def z(self) -> Floats:
        """(C, C): log-score gaps in standard errors; 0 where two classes have not been compared."""
        error = np.sqrt(self.log_score_gap_squares)
        return np.divide(self.log_score_gap, error, out=np.zeros_like(error), where=error > 0.0)

    def hopeless(self, active: int) -> Bools:
        """(C,): whether a class can surely gain next to nothing over the active one."""
        weights, likely = self.weights[active], self.log_score_gap[active].copy()
        likely += 2.0 * np.sqrt(self.log_score_gap_squares[active])
        found: Bools = (weights > 0.0) & (likely < _WORTHWHILE * weights)
        return found

    def updated(
        self,
        predictions: Sequence[Predictions | None],
        log: Log,
        n_rows: float,
        scale: RewardScale = COIN,
    ) -> ClassComparison:
        """The comparison after rows that no fit has seen; None for a class without predictions.

        The scale is that of all rows, these too.
        """
        compared = [place for place, one in enumerate(predictions) if one is not None]
        if len(compared) < 2 or len(log) == 0 or scale.variance == 0.0:
            return self
        scores = log_scores([one for one in predictions if one is not None], log, scale)
        gaps = n_rows * (scores[np.newaxis] - scores[:, np.newaxis])  # at i, j: j's score above i's
        here = np.ix_(compared, compared)
        total, squares = self.log_score_gap.copy(), self.log_score_gap_squares.copy()
        weights, counts = self.weights.copy(), self.n_rows.copy()
        total[here] += gaps.sum(axis=2)
        squares[here] += np.einsum("ijn,ijn->ij", gaps, gaps)
        weights[here] += n_rows * len(log)
        counts[here] += len(log)
        return ClassComparison(total, squares, weights, counts)

    def best(self, active: int, among: Sequence[int]) -> int:
        """The class to be active next: the active one, unless one `among` the others predicts better.

        By one standard error or more, and the one with the highest likelihood of those.
        """
        z, best = self.z[active], active
        for place in among:
            if place == active or z[place] <= _MIN_Z or self.n_rows[active, place] < _MIN_ROWS:
                continue
            if best == active or self.log_score_gap[best, place] > 0.0:
                best = place
        return best

    def report_lines(
        self,
        names: Sequence[str],
        active: int,
        has_data: Sequence[bool],
        excluded: Sequence[bool] | None = None,
    ) -> tuple[str, ...]:
        """Report lines: each class's predictive log-likelihood against the active one's, per row."""
        lines, z = [], self.z[active]
        for place, name in enumerate(names):
            weight = self.weights[active, place]
            if excluded is not None and excluded[place]:
                lines.append(f"{name}: excluded, of no use for these features or rewards, or too large")
            elif place == active:
                lines.append(f"active class: {name}")
            elif not has_data[place]:
                lines.append(f"{name}: too few rows")
            elif weight == 0.0:
                lines.append(f"{name}: not compared with {names[active]} yet")
            else:
                gap = self.log_score_gap[active, place] / weight
                lines.append(
                    f"{name}: {'higher' if gap > 0 else 'lower'} predictive log-likelihood than "
                    f"{names[active]}, by {abs(gap):.4f} per row (z = {z[place]:+.1f})"
                )
        return tuple(lines)

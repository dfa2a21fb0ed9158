"""Calibration of propensities: how often actions were taken, beside how often they were predicted to be."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.inputs.messages import short_repr

_LEAST_VARIANCE = 5.0
"""Below this variance of a count its standard score is no normal variable, and is not judged."""


@dataclass(frozen=True, slots=True)
class CalibrationGroup:
    """Predictions of one kind beside what came of them.

    Parameters
    ----------
    label
        The action, or the range of predicted propensities.
    n
        Number of predictions: of rows in which the action, or an action in this range, was eligible.
    predicted
        Mean of the predicted propensities.
    observed
        Share of these actions that were taken.
    z
        Difference in standard errors.
    mean_weight
        Mean of 1{taken} / propensity, which is 1 where propensities are right.
    z_weight
        Its difference to 1 in standard errors.
    variance
        Variance of the number of actions taken, which small groups are known by.
    """

    label: Hashable
    n: int
    predicted: float
    observed: float
    z: float
    mean_weight: float
    z_weight: float
    variance: float


@dataclass(frozen=True, slots=True)
class PropensityCalibration:
    """Calibration of propensities by action and by decile of the predicted propensity.

    Parameters
    ----------
    by_action
        A group for each action that was eligible.
    by_decile
        A group for each tenth of all predictions, from the smallest propensities to the largest.
    """

    by_action: tuple[CalibrationGroup, ...]
    by_decile: tuple[CalibrationGroup, ...]

    def faults(self, alpha: float = 0.01) -> tuple[str, ...]:
        """Sentences on groups that differ by more than chance.

        Parameters
        ----------
        alpha
            Probability of any sentence where propensities are right; it is divided by the number of tests.
        """
        groups = [one for one in (*self.by_action, *self.by_decile) if one.variance >= _LEAST_VARIANCE]
        limit = float(norm.isf(alpha / max(2 * len(groups), 1) / 2.0))
        return tuple(_sentences(groups, limit))

    @property
    def is_calibrated(self) -> bool:
        """Whether no group differs by more than chance, at a level of 0.01 for all together."""
        return not self.faults()


def propensity_calibration(
    probabilities: Floats, action: Ints, eligible: Bools, labels: tuple[Hashable, ...]
) -> PropensityCalibration:
    """How well probabilities of all actions predict which ones were taken.

    Parameters
    ----------
    probabilities
        Predicted or logged probabilities of all actions, (n, K).
    action
        Positions of the actions that were taken, (n,).
    eligible
        Which actions could be taken, (n, K).
    labels
        Labels of the K actions.

    Returns
    -------
    PropensityCalibration
        Predicted and observed shares, mean weights and their standard scores.
    """
    taken = np.zeros(probabilities.shape, dtype=np.bool_)
    taken[np.arange(len(action)), action] = True
    by_action = []
    for place, label in enumerate(labels):
        own = np.zeros(probabilities.shape, dtype=np.bool_)
        own[:, place] = eligible[:, place]
        if own.any():
            by_action.append(_group(label, probabilities, taken, own))
    return PropensityCalibration(tuple(by_action), tuple(_deciles(probabilities, taken, eligible)))


def _deciles(probabilities: Floats, taken: Bools, eligible: Bools) -> Iterator[CalibrationGroup]:
    cuts = np.quantile(probabilities[eligible], np.linspace(0.0, 1.0, 11))
    edges = np.unique(cuts)
    if len(edges) == 1:
        yield _group(_range(edges[0], edges[0]), probabilities, taken, eligible)
    for place in range(len(edges) - 1):
        low, high = edges[place], edges[place + 1]
        is_last = place == len(edges) - 2
        own = (
            eligible
            & (probabilities >= low)
            & ((probabilities <= high) if is_last else (probabilities < high))
        )
        if own.any():
            yield _group(_range(low, high), probabilities, taken, own)


def _range(low: float, high: float) -> str:
    return f"{low:.4g} to {high:.4g}"


def _group(label: Hashable, probabilities: Floats, taken: Bools, own: Bools) -> CalibrationGroup:
    """Counts of the cells `own`; those of one row exclude each other."""
    shares = np.where(own, probabilities, 0.0)
    n, in_row = int(own.sum()), shares.sum(axis=1)
    variance = float((in_row * (1.0 - in_row)).clip(0.0).sum())
    n_taken = int((taken & own).sum())
    with np.errstate(divide="ignore"):
        weights = np.where(own, 1.0 / probabilities, 0.0)
    # Of a row's m cells together, the variance of the sum of 1{taken} / p is sum(1 / p) - m^2.
    squares = float((weights.sum(axis=1) - own.sum(axis=1) ** 2.0).clip(0.0).sum())
    total = float(weights[taken & own].sum())
    return CalibrationGroup(
        label,
        n,
        float(shares.sum()) / n,
        n_taken / n,
        _score(n_taken - float(shares.sum()), variance),
        total / n,
        _score(total - n, squares),
        variance,
    )


def _score(difference: float, variance: float) -> float:
    if variance > 0.0:
        return difference / math.sqrt(variance)
    return 0.0 if abs(difference) < 1e-9 else math.copysign(math.inf, difference)


def _sentences(groups: list[CalibrationGroup], limit: float) -> Iterator[str]:
    for one in groups:
        what = (
            f"propensities of {one.label}" if " to " in str(one.label) else f"action {short_repr(one.label)}"
        )
        if abs(one.z) > limit:
            yield (
                f"{what}: taken in {one.observed:.3g} of {one.n} cases, and predicted in {one.predicted:.3g} "
                f"(z = {one.z:.1f})"
            )
        elif abs(one.z_weight) > limit:
            yield f"{what}: the mean weight is {one.mean_weight:.3g} instead of 1 (z = {one.z_weight:.1f})"

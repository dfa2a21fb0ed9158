"""What an estimator of a policy's value returns: the value, and the influence of each row on it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Estimate:
    """The estimated value of a policy, and the influence of each row of the log on it.

    Intervals need nothing else: to first order the error of `value` is the mean of independent, or of
    martingale, terms, of which `influence` holds estimates.

    Parameters
    ----------
    value
        Estimated expected reward of the policy, in the units of the rewards.
    influence
        Influence of each row in the order of the log, (n,). Its mean is 0 up to rounding.

    Examples
    --------
    >>> estimate = Estimate.of_contributions(np.array([1.0, 0.0, 0.0, 1.0]))
    >>> estimate.value, estimate.influence.tolist(), estimate.standard_error
    (0.5, [0.5, -0.5, -0.5, 0.5], 0.25)
    """

    value: float
    influence: Floats

    def __repr__(self) -> str:
        error = f"standard error {self.standard_error:.4g}"
        return f"Estimate({self.value:.6g}, {error}, {len(self.influence)} rows)"

    @staticmethod
    def of_contributions(contributions: Floats) -> Estimate:
        """The mean of one contribution for each row, as an estimate.

        Parameters
        ----------
        contributions
            Estimates of the policy's value from one row each, (n,).

        Returns
        -------
        Estimate
            Their mean, influenced by each row with its distance to the mean.
        """
        value = float(contributions.mean())
        return Estimate(value, contributions - value)

    @staticmethod
    def of_own_contributions(contributions: Floats) -> Estimate:
        """The mean of contributions (n,) in an array that nobody else has: it becomes the influence."""
        value = float(contributions.mean())
        contributions -= value
        return Estimate(value, contributions)

    @property
    def contributions(self) -> Floats:
        """The value plus each row's influence, (n,): numbers whose mean is the value."""
        return np.asarray(self.value + self.influence)

    @property
    def standard_error(self) -> float:
        """Root of the mean squared influence over n: no correction for the degree of freedom of the mean."""
        n = len(self.influence)
        return math.sqrt(float(np.dot(self.influence, self.influence))) / n


def contrast(first: Estimate, second: Estimate) -> Estimate:
    """The difference in value between two policies that were evaluated on the same rows.

    What both policies would have done alike cancels row by row, and with it most of the noise: the standard
    error is that of the differences, not the root of two summed squares.

    Parameters
    ----------
    first
        Estimate of the policy in question.
    second
        Estimate of the baseline from the same rows in the same order, by the same estimator.

    Returns
    -------
    Estimate
        Value of the first less that of the second.

    Examples
    --------
    >>> first = Estimate.of_contributions(np.array([1.0, 0.0, 0.0, 1.0]))
    >>> second = Estimate.of_contributions(np.array([0.5, 0.0, 0.0, 0.5]))
    >>> contrast(first, second)
    Estimate(0.25, standard error 0.125, 4 rows)
    """
    n_first, n_second = len(first.influence), len(second.influence)
    if n_first != n_second:
        raise ValueError(
            f"the estimates are of {n_first} and {n_second} rows; evaluate both policies on the same rows, "
            "in the same order."
        )
    return Estimate(first.value - second.value, first.influence - second.influence)

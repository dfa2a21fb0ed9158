"""Weights of each row that depend on its context, for scores of adaptively collected rows.

Zhan, Hadad, Hirshberg and Athey (2021), "Off-policy evaluation via adaptive weighting with data from
contextual bandits", section 3.
"""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.validation import check_choice, check_level
from gyrfalcon.evaluation.intervals.epoch_policies import EpochPolicies
from gyrfalcon.evaluation.intervals.interval import Interval
from gyrfalcon.evaluation.intervals.normal import normal_quantile
from gyrfalcon.evaluation.intervals.validation import checked_column


def contextual_interval(
    contributions: Floats, policies: EpochPolicies, level: float = 0.95, *, weights: str = "min_var"
) -> Interval:
    """Normal interval of doubly robust scores (n,) whose weights depend on their contexts.

    The weight of row t in a context x is h_t(x) over the sum of all rows' h_s(x), where h is 1 / phi
    (MinVar) or 1 / sqrt(phi) (StableVar), and phi = sum_a pi(a)^2 / e(a). It takes O(n K) for each epoch. On
    logs whose policies differ much by context it is narrower than `weighted_interval`, and may be too narrow
    where policies learned fast: coverage fell to 0.37 in logs of `AdaptiveFalcon`. Prefer weights of
    `past_means` there.

    Parameters
    ----------
    contributions : array (n,)
        Doubly robust scores in order of time, of a model fitted to earlier rows.
    policies : EpochPolicies
        What every epoch's policy would have done in every row.
    level : float
        The probability of covering.
    weights : {"min_var", "stable_var"}
        The least variance, or equal variances of all weighted scores.

    Examples
    --------
    >>> scores, target = np.array([0.75, -1.375, 0.34375, 1.25]), np.tile([0.25, 0.75], (4, 1))
    >>> one, other = np.full((4, 2), 0.5), np.tile([0.8, 0.2], (4, 1))
    >>> policies = EpochPolicies.of([one, other], np.array([0, 1, 1, 0]), np.array([0, 1, 0, 1]), target)
    >>> contextual_interval(scores, policies)
    Interval(-0.218942, 1.30385, level=0.95, method='contextual MinVar')
    """
    check_level(level)
    value, errors = contextual_errors(contributions, policies, weights=weights)
    name = "MinVar" if weights == "min_var" else "StableVar"
    radius = normal_quantile(level) * float(np.linalg.norm(errors))
    return Interval.around(value, radius, level, f"contextual {name}")


def contextual_errors(
    contributions: Floats, policies: EpochPolicies, *, weights: str = "min_var"
) -> tuple[float, Floats]:
    """The value of `contextual_interval`, and the error of each row in it, (n,)."""
    check_choice("weights", weights, ("min_var", "stable_var"))
    column = checked_column(contributions)
    if len(column) != len(policies.epoch):
        raise ValueError(
            f"there are {len(column)} contributions, and policies of {len(policies.epoch)} rows; give both "
            "of the same rows."
        )
    shares = _shares(policies, 1.0 if weights == "min_var" else 0.5)
    terms = shares[policies.epoch, np.arange(len(column))] * column
    return float(terms.sum()), terms - (shares @ terms)[policies.epoch]


def _shares(policies: EpochPolicies, power: float) -> Floats:
    """The share that a row of each epoch would have in each row's context, (n_epochs, n).

    A contrast has a proxy of 0 under every epoch where both policies do alike, and there all rows share
    alike: the scores are 0.
    """
    alike = policies.proxies == 0.0
    weights = np.where(alike, 1.0, np.where(alike, 1.0, policies.proxies) ** -power)
    return np.asarray(weights / (policies.n_rows_of_epochs @ weights))

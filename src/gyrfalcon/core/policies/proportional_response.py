"""Proportional response: actions are played by how long they stay in ever smaller sets around the best one.

The action selection kernel of RAPR (Krishnamurthy, Zhan, Athey, Brunskill 2023). An action is in the set of
risk b, C(x, b), if b <= width / max(gap, width). The policy draws b uniformly from (0, 1), and then uniformly
from C(x, min(b, 1/2)): a finite sum after sorting.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.policies.action_columns import (
    best_and_gaps,
    blank,
    by_action,
    n_eligible,
    rest_to_best,
    rows_of,
)
from gyrfalcon.core.validation import is_number

LARGEST_RISK = 0.5
"""The risk of the smallest set: larger ones share it."""


def proportional_response(scores: ArrayLike, width: float, eligible: ArrayLike | None = None) -> Floats:
    """Uniform play in the set of actions that are near enough to the best, averaged over what is near enough.

    An action at a gap of `width` or less is in every set, and one at a gap of `width` / b in those of risk b
    or less, of which there are those of (0, 1/2).

    Parameters
    ----------
    scores : array_like
        (n, K) or (K,) scores of the actions.
    width : float
        How far scores may be off: 0 is greedy, infinite is uniform.
    eligible : array_like, optional
        Mask of the scores' shape; False marks actions that may not be chosen.

    Examples
    --------
    >>> proportional_response([[0.7, 0.4, 0.1]], width=0.1).round(8).tolist()
    [[0.80555556, 0.13888889, 0.05555556]]
    >>> proportional_response([0.7, 0.4, 0.1], width=0.1, eligible=[True, False, True]).round(8).tolist()
    [0.91666667, 0.0, 0.08333333]
    """
    _check_width(width)
    columns, mask = by_action(scores, eligible)
    best, gaps = best_and_gaps(columns, mask)
    risks = _risks(gaps, width)
    blank(risks, mask)
    capped = np.minimum(risks, LARGEST_RISK)
    order = np.argsort(-capped, axis=0, kind="stable")
    descending = np.take_along_axis(capped, order, axis=0)
    n_in_set = np.arange(1.0, len(columns) + 1.0).reshape(-1, *[1] * (columns.ndim - 1))
    steps = descending.copy()
    steps[:-1] -= descending[1:]
    steps /= n_in_set
    # From the largest set to the smallest, in the order of risks, so that a row has its bits in any batch.
    sums = np.cumsum(steps[::-1], axis=0)[::-1]
    weights = np.empty_like(sums)
    np.put_along_axis(weights, order, sums, axis=0)
    smallest = risks >= LARGEST_RISK
    weights += (1.0 - LARGEST_RISK) * smallest / n_eligible(columns, smallest)
    return rows_of(rest_to_best(weights, best, mask))


@dataclass(frozen=True, slots=True)
class ProportionalResponse:
    """The kernel of RAPR: see `proportional_response`.

    Parameters
    ----------
    width : float
        How far scores may be off: 0 is greedy, infinite is uniform.
    """

    width: float

    def __post_init__(self) -> None:
        _check_width(self.width)

    def probabilities(self, scores: Floats, eligible: Bools | None) -> Floats:
        """Probabilities of actions for these scores: see `proportional_response`."""
        return proportional_response(scores, self.width, eligible)


def _risks(gaps: Floats, width: float) -> Floats:
    """The largest risk at which each action is in its set, min(1, width / gap)."""
    near = gaps <= width
    return np.divide(width, gaps, out=np.ones_like(gaps), where=~near)


def _check_width(width: float) -> None:
    if not (is_number(width) and width >= 0.0):
        raise ValueError(
            f"width is {width}; give a number of at least 0 (0 is greedy, infinity is uniform play)."
        )

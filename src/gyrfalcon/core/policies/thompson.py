"""Thompson sampling with exact propensities: the probability that an action's sampled score is the largest.

Independent normal scores are integrated. Correlated ones are drawn a fixed number of times beforehand, and an
action's probability is its share of the draws. Either way an action is drawn with the probability that is
logged.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.policies.action_columns import by_action, rest_to_best
from gyrfalcon.core.policies.kernels import mixture, uniform
from gyrfalcon.core.policies.normal_argmax import larger_of_two, largest_of_many
from gyrfalcon.core.validation import check_share

_CHUNK = 2**20  # scores drawn at a time
_HUGE = 2.0**1000


class Posterior(Protocol):
    """Posterior of the score of each action, independently of the others."""

    def means(self, contexts: Contexts) -> Floats:
        """The expected scores, (n, K)."""
        ...

    def widths(self, contexts: Contexts) -> Floats:
        """Standard deviations of the scores in units of the policy's scale, (n, K)."""
        ...


class Draws(Protocol):
    """Scores under M coefficient vectors, drawn once and kept."""

    def draws(self, contexts: Contexts) -> Floats:
        """(M, n, K), the same M draws for all contexts."""
        ...


def best_probabilities(means: ArrayLike, deviations: ArrayLike, eligible: ArrayLike | None = None) -> Floats:
    """P(the score of the action is the largest), (n, K), for independent scores N(mean, deviation^2).

    Two eligible actions have a closed form; more are integrated, within 1e-12. A deviation of 0 is a certain
    score; of equal certain scores at the top the lowest index wins, as in greedy play. The likeliest action
    takes the rest of its row.

    >>> best_probabilities([[0.6, 0.5, 0.4]], [[0.1, 0.2, 0.3]]).round(8).tolist()
    [[0.51240764, 0.26790508, 0.21968728]]
    >>> best_probabilities([[0.6, 0.5, 0.5]], [[0.1, 0.0, 0.0]], [[False, True, True]]).tolist()
    [[0.0, 1.0, 0.0]]
    """
    centres, mask = by_action(means, eligible)
    spreads = np.ascontiguousarray(np.transpose(np.asarray(deviations, dtype=np.float64)))
    _check_deviations(spreads if mask is None else spreads[mask])
    centres, spreads = _playing(centres, spreads, mask)
    pair = np.count_nonzero(centres > -np.inf, axis=0) == 2
    weights = np.empty_like(centres)
    weights[:, pair] = larger_of_two(centres[:, pair], spreads[:, pair])
    weights[:, ~pair] = largest_of_many(centres[:, ~pair], spreads[:, ~pair])
    return np.transpose(rest_to_best(weights, weights.argmax(axis=0), mask))


@dataclass(frozen=True, slots=True)
class ThompsonPolicy:
    """Each action as often as its sampled score is the largest, mixed with a share of uniform play.

    The score of an action has the deviation `scale` times its width; scale 0 is greedy play.

    >>> from types import SimpleNamespace
    >>> means, widths = np.array([[0.6, 0.5]]), np.array([[1, 2]])
    >>> posterior = SimpleNamespace(means=lambda _: means, widths=lambda _: widths)
    >>> ThompsonPolicy(posterior, scale=0.1).probabilities(Contexts(np.zeros((1, 0)))).round(8).tolist()
    [[0.67263958, 0.32736042]]
    """

    scorer: Posterior
    scale: float
    mixing: float = 0.0

    def __post_init__(self) -> None:
        if not (self.scale >= 0.0 and math.isfinite(self.scale)):
            raise ValueError(f"scale is {self.scale}; give a finite number of at least 0 (0 is greedy play).")
        check_share("mixing", self.mixing)

    def probabilities(self, contexts: Contexts) -> Floats:
        """Probabilities that each action is best: see `best_probabilities`."""
        deviations = self.scale * self.scorer.widths(contexts)
        shares = best_probabilities(self.scorer.means(contexts), deviations, contexts.eligible)
        return _mixed(shares, self.mixing, contexts.eligible)


@dataclass(frozen=True, slots=True)
class SampledPolicy:
    """Each action as often as it is the best of a stored draw, mixed with a share of uniform play.

    Scores of a draw may be correlated in any way. Ties within a draw go to the lowest index.

    >>> from types import SimpleNamespace
    >>> coins = SimpleNamespace(draws=lambda contexts: np.array([[[0.2, 0.1]], [[0.1, 0.3]]]))
    >>> SampledPolicy(coins, mixing=0.1).probabilities(Contexts(np.zeros((1, 0)))).tolist()
    [[0.5, 0.5]]
    """

    scorers: Draws
    mixing: float = 0.0

    def __post_init__(self) -> None:
        check_share("mixing", self.mixing)

    def probabilities(self, contexts: Contexts) -> Floats:
        """Shares of the draws, (n, K)."""
        shares = np.concatenate(list(self._parts(contexts)))
        return _mixed(shares, self.mixing, contexts.eligible)

    def _parts(self, contexts: Contexts) -> Iterator[Floats]:
        """Shares of a bounded number of scores at a time; how many a row has is seen in the first one."""
        start, stop = 0, 1
        while start < max(1, len(contexts)):
            part = contexts.take(slice(start, stop))
            scores = self.scorers.draws(part)
            yield _shares(scores, part.eligible)
            start, stop = stop, stop + max(1, _CHUNK // (scores.shape[0] * scores.shape[2]))


def _shares(scores: Floats, eligible: Bools | None) -> Floats:
    """How often each action has the largest of (M, n, K) scores, (n, K)."""
    columns, mask = by_action(scores, eligible)
    best = (columns if mask is None else np.where(mask, columns, -np.inf)).argmax(axis=0)
    counts = [np.count_nonzero(best == action, axis=0) for action in range(len(columns))]
    return np.stack(counts, axis=1) / len(scores)


def _mixed(shares: Floats, mixing: float, eligible: Bools | None) -> Floats:
    """A share of uniform play mixed in; the likeliest action takes the rest of its row."""
    n, n_actions = shares.shape
    mixed = mixture([shares, uniform(n_actions, n, eligible)], [1.0 - mixing, mixing])
    columns = np.ascontiguousarray(np.transpose(mixed))
    return np.transpose(rest_to_best(columns, columns.argmax(axis=0), None))


def _playing(means: Floats, deviations: Floats, mask: Bools | None) -> tuple[Floats, Floats]:
    """Means and deviations in which an ineligible action is a certain score of minus infinity."""
    if mask is not None:
        means, deviations = np.where(mask, means, 0.0), np.where(mask, deviations, 0.0)
    # Probabilities do not depend on the unit; in this one eight deviations are still a number.
    peak = np.maximum(np.abs(means), deviations).max(axis=0)
    unit = np.where(peak > _HUGE, 2.0**-16, 1.0)
    means, deviations = means * unit, deviations * unit
    return means if mask is None else np.where(mask, means, -np.inf), deviations


def _check_deviations(deviations: Floats) -> None:
    fine = (deviations >= 0.0) & (deviations < np.inf)
    if not fine.all():
        raise ValueError(f"a deviation is {deviations[~fine][0]}; give finite numbers of at least 0.")

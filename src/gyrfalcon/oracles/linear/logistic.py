"""Logistic reward models of rewards with two values, and their recursive fit without any rows kept.

The likelihood of earlier rows is a Gaussian in the coefficients: the second-order expansion at the estimates
of the refit that they came in with (online Laplace approximation). It is a weighted least squares of working
responses, so that sums of rows are `Moments` as for linear classes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import Log
from gyrfalcon.core.settings import shapes_repr
from gyrfalcon.oracles.linear.models import PerActionModel, fill_unknown
from gyrfalcon.oracles.linear.penalties import Penalties
from gyrfalcon.oracles.solvers.moments import Moments

_MOST_STEPS, _CONVERGED = 25, 1e-8
"""Newton steps of a refit at most, and the change of log-odds at which they end."""
_LONGEST_STEP = 4.0
"""Change of a row's log-odds in a Newton step at most, so that steps can't overshoot for good."""
_MOST_LOG_ODDS = 30.0
"""Log-odds at which a row's weight is computed at most: a weight of 0 has no working response."""
_PRIOR_DEGREES = 0.5
"""Degrees of freedom with which prior variances are held up, as those of linear classes are."""
_FIRST_COLUMNS = 5.0


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """Estimates low + (high - low) / (1 + exp(-z)), with log-odds z linear in the features."""

    log_odds: PerActionModel
    low: float
    high: float
    known: Bools | None
    eager: bool = True
    origin: float = 0.0
    unit: float = 1.0

    __repr__ = shapes_repr

    def scores(self, contexts: Contexts) -> Floats:
        """(n, K); an action without data scores about as the best of the others, so that it is tried."""
        columns = np.ascontiguousarray(self._rewards(self.log_odds.scores(contexts)).T)
        if self.known is not None:
            fill_unknown(columns, self.known, contexts.eligible, self.eager)
        return columns.T

    def estimates_of(self, log: Log) -> Floats:
        """Estimates of the actions that were taken, (n,)."""
        return self._rewards(self.log_odds.estimates_of(log))

    def restored(self) -> LogisticModel:
        """The model whose scores are rewards in the log's units."""
        low, high = self.origin + self.unit * self.low, self.origin + self.unit * self.high
        return replace(self, low=low, high=high, origin=0.0, unit=1.0)

    def reindexed(self, source: Ints) -> LogisticModel:
        """The model in which action k scores as action source[k] did, and a new one (-1) is unknown."""
        kept = source >= 0
        known = kept if self.known is None else kept & self.known[source]
        odds = self.log_odds
        moved = replace(odds, weights=odds.weights[source], intercepts=odds.intercepts[source])
        return replace(self, log_odds=moved, known=None if known.all() else known)

    def _rewards(self, log_odds: Floats) -> Floats:
        from scipy.special import expit

        return np.asarray(self.low + (self.high - self.low) * expit(log_odds))


def expanded(phi: Floats, successes: Bools, blocks: Ints, coefficients: Floats) -> Moments:
    """Moments of the working responses of rows at these coefficients (B, d)."""
    from scipy.special import expit

    log_odds = np.einsum("nd,nd->n", phi, coefficients[blocks])
    chances = expit(log_odds.clip(-_MOST_LOG_ODDS, _MOST_LOG_ODDS))
    weights = chances * (1.0 - chances)
    responses = log_odds + (successes - chances) / weights
    return Moments.of(
        phi, responses, blocks=blocks, n_blocks=len(coefficients), weights=weights, keep_root=False
    )


def posterior(rows: Moments, penalties: Penalties) -> tuple[Floats, Floats]:
    """Means (B, d) and covariances (B, d, d) of the coefficients, intercepts shrunk to the centre."""
    penalty = penalties.of_columns
    covariances = np.linalg.inv(rows.gram + np.diag(penalty))
    covariances = 0.5 * (covariances + covariances.mT)
    cross = rows.cross.copy()
    cross[:, 0] += penalty[0] * penalties.center
    return np.einsum("bij,bj->bi", covariances, cross), covariances


def updated_rows(
    rows: Moments, phi: Floats, successes: Bools, blocks: Ints, penalties: Penalties, start: Floats
) -> tuple[Moments, Floats]:
    """Moments with new rows, expanded at the mode of the posterior of all, and that mode (B, d).

    Newton's steps start at the coefficients `start`.
    """
    penalty, coefficients = penalties.of_columns, start
    for _ in range(_MOST_STEPS):
        new = expanded(phi, successes, blocks, coefficients)
        cross = rows.cross + new.cross
        cross[:, 0] += penalty[0] * penalties.center
        precisions = rows.gram + new.gram + np.diag(penalty)
        steps = np.linalg.solve(precisions, cross[:, :, np.newaxis])[:, :, 0] - coefficients
        change = np.abs(np.einsum("nd,nd->n", phi, steps[blocks]))
        longest = np.zeros(len(steps))
        np.maximum.at(longest, blocks, change)
        coefficients = (
            coefficients + steps * np.minimum(1.0, _LONGEST_STEP / longest.clip(1e-300))[:, np.newaxis]
        )
        if longest.max() < _CONVERGED:
            break
    return rows + expanded(phi, successes, blocks, coefficients), coefficients


def updated_prior(
    penalties: Penalties, rows: Moments, coefficients: Floats, covariances: Floats
) -> Penalties:
    """Penalties, inverse prior variances, after one step towards the largest marginal likelihood."""
    seen = rows.weight > 0.0
    if not seen.any():
        return penalties
    n_groups = len(penalties.values)
    sizes = np.bincount(penalties.groups, minlength=n_groups)
    degrees = (1.0 - penalties.of_columns * np.diagonal(covariances, axis1=1, axis2=2)[seen]).clip(0.0)
    squares = coefficients[seen].copy()
    squares[:, 0] -= penalties.center
    used, explained = (
        np.bincount(penalties.groups, weights=sums.sum(axis=0), minlength=n_groups)
        for sums in (degrees, squares**2)
    )
    held_at = np.minimum(4.0 / (sizes + _FIRST_COLUMNS), len(seen) / rows.n)
    held_at[0] = 1.0
    variances = (explained + _PRIOR_DEGREES * held_at) / (used + _PRIOR_DEGREES)
    values = np.clip(1.0 / variances, penalties.least, 1e9)
    return replace(penalties, values=values, center=float(coefficients[seen, 0].mean()))

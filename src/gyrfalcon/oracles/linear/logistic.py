"""Logistic reward models of rewards with two values, and their recursive fit, for which no rows are kept.

The log-likelihood of earlier rows is a quadratic function of the coefficients: its expansion at the mode of
the refit that they came in with (online Laplace approximation). That is a weighted least squares of working
responses, so that sums of rows are `Moments`, as those of linear classes are.
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

_MOST_STEPS, _CONVERGED = 200, 1e-9
"""Newton steps of a refit at most, and the largest change of a row's log-odds at which they end."""
_MOST_LOG_ODDS = 30.0
"""Log-odds at which a row's weight is computed at most: a weight of 0 has no working response."""
_PRIOR_DEGREES = 0.5
"""Degrees of freedom with which prior variances are held up, as those of linear classes are."""
_FIRST_VARIANCE, _FIRST_COLUMNS = 4.0, 5.0
"""Before any row, the log-odds of all columns of a group together have this prior variance at most, and that
of one is this over the group's number of columns and 5."""
_FIRST_INTERCEPT = 1.0
"""Prior variance that intercepts are held up to."""
_LARGEST = 1e9


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """Estimates low + (high - low) / (1 + exp(-z)), with log-odds z linear in the features."""

    log_odds: PerActionModel
    low: float
    high: float
    known: Bools | None  # (K,) actions with data; None: all
    origin: float = 0.0  # a score s stands for the reward origin + unit s, in the log's units
    unit: float = 1.0

    __repr__ = shapes_repr

    def scores(self, contexts: Contexts) -> Floats:
        """(n, K); an action without data scores just above the best of the others, so that it is tried."""
        columns = np.ascontiguousarray(self._rewards(self.log_odds.scores(contexts)).T)
        if self.known is not None:
            fill_unknown(columns, self.known, contexts.eligible, eager=True)
        return columns.T

    def estimates_of(self, log: Log) -> Floats:
        """Estimates of the actions that were taken, (n,); those of actions without data are the prior's."""
        return self._rewards(self.log_odds.estimates_of(log))

    def restored(self) -> LogisticModel:
        """The model whose scores are rewards in the log's units."""
        low, high = self.origin + self.unit * self.low, self.origin + self.unit * self.high
        return replace(self, low=low, high=high, origin=0.0, unit=1.0)

    def _rewards(self, log_odds: Floats) -> Floats:
        from scipy.special import expit

        return np.asarray(self.low + (self.high - self.low) * expit(log_odds))


@dataclass(frozen=True, slots=True)
class LogisticPosterior:
    """Normal posterior of the coefficients, and the sums of rows that it is made of."""

    rows: Moments
    """Sums of working responses; weights are the information of rows, p (1 - p)."""
    means: Floats
    """(B, d): the mode, where the rows of the latest refit were expanded."""
    covariances: Floats
    """(B, d, d)."""

    @staticmethod
    def of(rows: Moments, penalties: Penalties) -> LogisticPosterior:
        """The posterior of these sums, with the prior that penalties and their centre say."""
        covariances = np.linalg.inv(_precisions(rows, penalties))
        covariances = 0.5 * (covariances + covariances.mT)
        means = np.einsum("bij,bj->bi", covariances, _cross(rows, penalties))
        return LogisticPosterior(rows, means, covariances)

    def with_rows(
        self, phi: Floats, successes: Bools, blocks: Ints, penalties: Penalties
    ) -> LogisticPosterior:
        """The posterior with rows (n, d), expanded at the mode of all, which Newton's steps find.

        A step is shortened to log(1 + c) / c where it changes a row's log-odds by c: then none goes too far
        (Sun and Tran-Dinh 2019, generalised self-concordant functions).
        """
        means = self.means
        for _ in range(_MOST_STEPS):
            rows = self.rows + working_responses(phi, successes, blocks, means)
            gradient = _cross(rows, penalties)[:, :, np.newaxis]
            steps = np.linalg.solve(_precisions(rows, penalties), gradient)[:, :, 0] - means
            largest = np.zeros(len(steps))
            np.maximum.at(largest, blocks, np.abs(np.einsum("nd,nd->n", phi, steps[blocks])))
            shares = np.divide(np.log1p(largest), largest, out=np.ones_like(largest), where=largest > 0.0)
            means = means + shares[:, np.newaxis] * steps
            if largest.max(initial=0.0) < _CONVERGED:
                break
        return LogisticPosterior.of(self.rows + working_responses(phi, successes, blocks, means), penalties)

    def variances_of(self, phi: Floats, blocks: Ints) -> Floats:
        """(n,): posterior variances of the log-odds of rows (n, d)."""
        variances = np.empty(len(phi))
        for block in np.unique(blocks).tolist():
            own = blocks == block
            variances[own] = np.einsum("nd,nd->n", phi[own] @ self.covariances[block], phi[own])
        return variances.clip(0.0)

    def updated_prior(self, penalties: Penalties) -> Penalties:
        """Penalties, inverse prior variances, after a step towards the largest marginal likelihood."""
        seen = self.rows.weight > 0.0
        if not seen.any():
            return penalties
        n_groups = len(penalties.values)
        sizes = np.bincount(penalties.groups, minlength=n_groups)
        shrinkage = penalties.of_columns * np.diagonal(self.covariances, axis1=1, axis2=2)[seen]
        squares = self.means[seen].copy()
        squares[:, 0] -= penalties.center
        used, explained = (
            np.bincount(penalties.groups, weights=sums.sum(axis=0), minlength=n_groups)
            for sums in ((1.0 - shrinkage).clip(0.0), squares**2)
        )
        held_at = np.minimum(_FIRST_VARIANCE / (sizes + _FIRST_COLUMNS), len(seen) / self.rows.n)
        held_at[0] = _FIRST_INTERCEPT
        variances = (explained + _PRIOR_DEGREES * held_at) / (used + _PRIOR_DEGREES)
        values = np.clip(1.0 / variances, penalties.least, _LARGEST)
        return replace(penalties, values=values, center=float(self.means[seen, 0].mean()))

    def scaled(self, factor: float, penalties: Penalties) -> LogisticPosterior:
        """The posterior with every row's weight times a factor."""
        return LogisticPosterior.of(self.rows.scaled(factor), penalties)

    def reindexed(self, source: Ints, penalties: Penalties) -> LogisticPosterior:
        """The posterior when block k was block source[k] before, -1 if it is new, which has the prior."""
        means, covariances, is_new = self.means[source], self.covariances[source], source < 0
        means[is_new] = 0.0
        means[is_new, 0] = penalties.center
        covariances[is_new] = np.diag(1.0 / penalties.of_columns)
        return LogisticPosterior(self.rows.take(source), means, covariances)


def first_prior(sizes: tuple[int, ...], share: float, least: float) -> Penalties:
    """Inverse prior variances before any row, for groups of these numbers of columns, the intercept's first.

    Intercepts are shrunk to the log-odds of a share of successes.
    """
    variances = [_FIRST_INTERCEPT, *(_FIRST_VARIANCE / (size + _FIRST_COLUMNS) for size in sizes[1:])]
    start = Penalties.start(sizes, least)
    values = np.maximum(1.0 / np.array(variances), least)
    return replace(start, values=values, center=float(np.log(share / (1.0 - share))))


def working_responses(phi: Floats, successes: Bools, blocks: Ints, coefficients: Floats) -> Moments:
    """Moments of the working responses of rows at coefficients (B, d), weighted by their information."""
    from scipy.special import expit

    log_odds = np.einsum("nd,nd->n", phi, coefficients[blocks])
    chances = expit(log_odds.clip(-_MOST_LOG_ODDS, _MOST_LOG_ODDS))
    weights = chances * (1.0 - chances)
    responses = log_odds + (successes - chances) / weights
    return Moments.of(
        phi, responses, blocks=blocks, n_blocks=len(coefficients), weights=weights, keep_root=False
    )


def _precisions(rows: Moments, penalties: Penalties) -> Floats:
    return rows.gram + np.diag(penalties.of_columns)


def _cross(rows: Moments, penalties: Penalties) -> Floats:
    """Cross products with the prior's, whose mean is the centre for intercepts and 0 else."""
    cross = rows.cross.copy()
    cross[:, 0] += penalties.values[0] * penalties.center
    return cross

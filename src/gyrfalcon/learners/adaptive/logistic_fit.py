"""Fit of the logistic class, for rewards that have two values: a candidate beside the linear class."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.records import Log
from gyrfalcon.learners import action_changes
from gyrfalcon.learners.adaptive.class_selection import Predictions
from gyrfalcon.learners.adaptive.model_classes import Candidate
from gyrfalcon.oracles.features.bases import FeatureMap
from gyrfalcon.oracles.linear.logistic import LogisticModel, LogisticPosterior, first_prior
from gyrfalcon.oracles.linear.models import PerActionModel
from gyrfalcon.oracles.linear.penalties import Penalties
from gyrfalcon.oracles.solvers.moments import Moments

_REFIT_RATIO = 1.1
"""How many times as many rows there are when the class is refitted."""
_MAX_WAITING = 4096
"""Rows that wait for the next refit at most, also while the class is deferred."""
_LEAST_PENALTY = 0.25
"""Least penalty over the setting `ridge`: the information of a row is at most that of a coin."""
_FIRST_STEPS = 3
"""Steps of the prior variances before the first fit."""
_MOST_COMMON = 0.1
"""Share of the rarer reward, and mean variance of rewards, from which on the class is left out: where both
are common it may well predict better, and still earn less than the mixed class."""
_MOST_WORK = 1 << 26
"""The largest K d^3 for d columns of K actions, which a Newton step costs."""


@dataclass(frozen=True, slots=True)
class LogisticFit:
    """Logistic regression of each action's rewards on the inputs."""

    basis: FeatureMap
    low: float
    high: float
    """The two values of rewards, in units of fits."""
    penalties: Penalties
    """Inverse prior variances, what intercepts are shrunk to, and the mean variance of rewards."""
    posterior: LogisticPosterior
    n_fitted: float = 0.0
    """Rows in the latest fit, or the sum of their weights."""
    waiting: tuple[Log, ...] = ()
    """Rows since then, which come in at the next refit, together."""

    @staticmethod
    def start(candidate: Candidate, n_actions: int, ridge: float, rows: Log) -> LogisticFit | None:
        """The fit of these rows; None unless their rewards have two values, one of them rare."""
        if n_actions * candidate.n_columns**3 > _MOST_WORK:
            return None
        values = np.unique(rows.reward)
        if len(values) != 2:
            return None
        low, high = values.tolist()
        if min(np.mean(rows.reward == low), np.mean(rows.reward == high)) > _MOST_COMMON:
            return None
        share = (float((rows.reward == high).sum()) + 0.5) / (len(rows) + 1.0)
        penalties = first_prior(candidate.sizes, share, _LEAST_PENALTY * ridge)
        none = Moments.zeros(n_actions, candidate.n_columns)
        for _ in range(_FIRST_STEPS):
            posterior = LogisticPosterior.of(none, penalties)
            fit = LogisticFit(candidate.basis, low, high, penalties, posterior, waiting=(rows,))._fitted()
            penalties = fit.penalties
        return fit

    @property
    def n(self) -> float:
        """The number of rows, or the sum of their weights."""
        return self.n_fitted + sum(map(len, self.waiting))

    @property
    def model(self) -> LogisticModel:
        """Estimates of the latest fit."""
        means, seen = self.posterior.means, self.posterior.rows.weight > 0.0
        weights, intercepts = np.ascontiguousarray(means[:, 1:]), np.ascontiguousarray(means[:, :1])
        odds = PerActionModel(self.basis, None, weights, intercepts, None)
        return LogisticModel(odds, self.low, self.high, None if seen.all() else seen)

    def with_rows(self, log: Log) -> LogisticFit | None:
        """The fit with the rows of a log; None where a reward has a third value, or both are common."""
        if self.posterior.rows.n > _MOST_COMMON * self.n_fitted > 0.0:
            return None
        if not np.isin(log.reward, (self.low, self.high)).all():
            return None
        after = replace(self, waiting=(*self.waiting, log)) if len(log) else self
        return after._fitted() if sum(map(len, after.waiting)) > _MAX_WAITING else after

    def refitted(self) -> LogisticFit:
        """The fit of all its rows, where these are a tenth more than in the latest one."""
        return self._fitted() if self.waiting and self.n >= _REFIT_RATIO * self.n_fitted else self

    def _fitted(self) -> LogisticFit:
        """The fit of all its rows, and the penalties of the next."""
        if not self.waiting:
            return self
        log, penalties = Log.concat(list(self.waiting), len(self.posterior.means)), self.penalties
        successes = log.reward == self.high
        posterior = self.posterior.with_rows(self._columns(log), successes, log.action, penalties)
        noise = posterior.rows.n / self.n * (self.high - self.low) ** 2
        penalties = replace(posterior.updated_prior(penalties), noise=noise)
        return replace(self, penalties=penalties, posterior=posterior, n_fitted=self.n, waiting=())

    def predictions(self, log: Log) -> Predictions:
        """Predictions of the latest fit: chances moderated by their uncertainty (MacKay 1992)."""
        from scipy.special import expit

        span = self.high - self.low
        variances = self.posterior.variances_of(self._columns(log), log.action)
        log_odds = self.model.log_odds.estimates_of(log)
        chances = expit(log_odds / np.sqrt(1.0 + math.pi / 8.0 * variances))
        estimates = self.low + span * chances
        return Predictions(estimates, np.zeros(len(log)), self.penalties.noise, two_valued=True)

    def scaled(self, factor: float) -> LogisticFit:
        """The fit with every row's weight times a factor; rows that wait are fitted before."""
        fit = self._fitted()
        return replace(
            fit, posterior=fit.posterior.scaled(factor, fit.penalties), n_fitted=factor * fit.n_fitted
        )

    def reindexed(self, source: Ints) -> LogisticFit:
        """The fit when action k was action source[k] before, -1 if it is new; nothing is refitted."""
        posterior, before = self.posterior.reindexed(source, self.penalties), self.posterior.rows.n
        return replace(
            self,
            posterior=posterior,
            n_fitted=self.n_fitted * (posterior.rows.n / before if before > 0.0 else 0.0),
            waiting=tuple(action_changes.renumbered(log, source) for log in self.waiting),
        )

    def _columns(self, log: Log) -> Floats:
        x = self.basis.expand(log.contexts.shared)
        return np.concatenate([np.ones((len(x), 1)), x], axis=1)

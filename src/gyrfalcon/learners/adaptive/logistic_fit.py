"""Fit of the logistic class, for rewards that have two values: a candidate beside the linear class."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.records import Log
from gyrfalcon.learners.adaptive.class_selection import Predictions
from gyrfalcon.learners.adaptive.model_classes import Candidate
from gyrfalcon.oracles.features.bases import FeatureMap
from gyrfalcon.oracles.linear.logistic import LogisticModel, posterior, updated_prior, updated_rows
from gyrfalcon.oracles.linear.models import PerActionModel
from gyrfalcon.oracles.linear.penalties import Penalties
from gyrfalcon.oracles.solvers.moments import Moments

_REFIT_RATIO = 1.1
"""How many times as many rows there are when the class is refitted."""
_LEAST_PENALTY = 0.25
"""Least penalty over the setting `ridge`: the information of a row is at most that of a coin."""
_LEAST_VARIANCE = 1e-4
"""Least predicted variance of a reward, over the squared distance of its two values."""
_MOST_COMMON = 0.1
"""Share of the rarer value, and mean variance of rewards, from which on the class is left out: its variances
of each row make it win comparisons with wide classes, whose noise is one for all rows, that it should lose."""
_FIRST_STEPS = 3
"""Steps of the prior variances at the first fit."""


@dataclass(frozen=True, slots=True)
class LogisticFit:
    """Logistic regression of each action's rewards on the inputs."""

    basis: FeatureMap
    rows: Moments
    """Sums of working responses, weighted by their information, over all rows but those that wait."""
    penalties: Penalties
    """Inverse prior variances, what intercepts are shrunk to, and the mean variance of rewards."""
    low: float
    high: float
    """The two values of rewards, in units of fits."""
    n_fitted: float = 0.0
    """Rows in the latest fit."""
    model: LogisticModel | None = None
    """Estimates of the latest fit; None before the first."""
    coefficients: Floats | None = None
    """(K, d): means of the posterior."""
    covariances: Floats | None = None
    """(K, d, d): covariances of the posterior."""
    waiting: tuple[Log, ...] = ()
    """Rows since then, which come in at the next refit, together."""

    @staticmethod
    def start(candidate: Candidate, n_actions: int, ridge: float, rows: Log) -> LogisticFit | None:
        """The fit of these rows; None but for two values of which one is rare."""
        values = np.unique(rows.reward)
        if len(values) != 2:
            return None
        low, high = values.tolist()
        if min(np.mean(rows.reward == low), np.mean(rows.reward == high)) > _MOST_COMMON:
            return None
        share = (float((rows.reward == high).sum()) + 0.5) / (len(rows) + 1.0)
        penalties = Penalties.start(candidate.sizes, _LEAST_PENALTY * ridge)
        first = np.maximum([1.0, 0.25 * (candidate.sizes[1] + 5.0)], penalties.least)
        penalties = replace(penalties, values=first, center=float(np.log(share / (1.0 - share))))
        none = Moments.zeros(n_actions, candidate.n_columns)
        fit = LogisticFit(candidate.basis, none, penalties, low, high, waiting=(rows,))
        for _ in range(_FIRST_STEPS):
            made = fit.refitted()
            fit = replace(fit, penalties=made.penalties, coefficients=made.coefficients)
        return fit.refitted()

    @property
    def n(self) -> float:
        """The number of rows, or the sum of their weights."""
        return self.n_fitted + sum(map(len, self.waiting))

    def with_rows(self, log: Log) -> LogisticFit | None:
        """The fit with the rows of a log; None where a reward has a third value, or both are common."""
        if self.rows.n > _MOST_COMMON * self.n_fitted > 0.0:
            return None
        if not np.isin(log.reward, (self.low, self.high)).all():
            return None
        return replace(self, waiting=(*self.waiting, log)) if len(log) else self

    def refitted(self) -> LogisticFit:
        """The fit of all its rows, where these are a tenth more than in the latest one."""
        if not self.waiting or (self.model is not None and self.n < _REFIT_RATIO * self.n_fitted):
            return self
        return self._fitted()

    def _fitted(self) -> LogisticFit:
        """The fit of all its rows."""
        log = Log.concat(list(self.waiting), len(self.rows.weight))
        phi, start = self._columns(log), self.coefficients
        if start is None:
            start = np.zeros(self.rows.cross.shape)
            start[:, 0] = self.penalties.center
        successes = log.reward == self.high
        rows, _ = updated_rows(self.rows, phi, successes, log.action, self.penalties, start)
        means, covariances = posterior(rows, self.penalties)
        penalties = updated_prior(self.penalties, rows, means, covariances)
        penalties = replace(penalties, noise=rows.n / self.n * (self.high - self.low) ** 2)
        seen = rows.weight > 0.0
        odds = PerActionModel(
            self.basis, None, np.ascontiguousarray(means[:, 1:]), np.ascontiguousarray(means[:, :1]), None
        )
        model = LogisticModel(odds, self.low, self.high, None if seen.all() else seen)
        return replace(
            self,
            rows=rows,
            penalties=penalties,
            n_fitted=self.n,
            model=model,
            coefficients=means,
            covariances=covariances,
            waiting=(),
        )

    def predictions(self, log: Log) -> Predictions | None:
        """Predictions of the latest fit; None before the first."""
        if self.model is None or self.covariances is None or self.coefficients is None:
            return None
        from scipy.special import expit

        phi, span = self._columns(log), self.high - self.low
        variances = np.empty(len(log))
        for action in np.unique(log.action).tolist():
            own = log.action == action
            variances[own] = np.einsum("nd,nd->n", phi[own] @ self.covariances[action], phi[own])
        log_odds = self.model.log_odds.estimates_of(log)
        chances = expit(log_odds / np.sqrt(1.0 + np.pi / 8.0 * variances.clip(0.0)))
        spread = np.maximum(chances * (1.0 - chances), _LEAST_VARIANCE) * span**2
        return Predictions(self.low + span * chances, np.zeros(len(log)), spread)

    def scaled(self, factor: float) -> LogisticFit:
        """The fit with every row's weight times a factor; rows that wait are fitted before."""
        fit = self._fitted() if self.waiting else self
        return replace(fit, rows=fit.rows.scaled(factor), n_fitted=factor * fit.n_fitted)

    def reindexed(self, source: Ints) -> LogisticFit:
        """The fit when action k was action source[k] before, -1 if it is new."""
        fit = self._fitted() if self.waiting else self
        assert fit.model is not None
        assert fit.coefficients is not None
        assert fit.covariances is not None
        is_new, penalties = source < 0, fit.penalties
        coefficients, covariances = fit.coefficients[source], fit.covariances[source]
        coefficients[is_new] = 0.0
        coefficients[is_new, 0] = penalties.center
        covariances[is_new] = np.diag(1.0 / penalties.of_columns)
        return replace(
            fit,
            rows=fit.rows.take(source),
            model=fit.model.reindexed(source),
            coefficients=coefficients,
            covariances=covariances,
        )

    def _columns(self, log: Log) -> Floats:
        x = self.basis.expand(log.contexts.shared)
        return np.concatenate([np.ones((len(x), 1)), x], axis=1)

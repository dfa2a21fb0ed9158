"""Fit of a model class beside the linear one: sums of rows, penalties by marginal likelihood, estimates."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.records import Log
from gyrfalcon.learners.adaptive.class_selection import Predictions
from gyrfalcon.learners.adaptive.model_classes import Candidate
from gyrfalcon.oracles.features.bases import FeatureMap, Identity, PolynomialMap
from gyrfalcon.oracles.features.design import Design, Layout
from gyrfalcon.oracles.linear.linear import Linear, LinearOracle
from gyrfalcon.oracles.linear.marginal_fit import inverse_fit, quick_fit
from gyrfalcon.oracles.linear.models import LinearModel, PerActionModel
from gyrfalcon.oracles.linear.penalties import Penalties
from gyrfalcon.oracles.solvers.moments import Moments

_REFIT_RATIO, _INVERSE_RATIO = 1.1, 1.2
"""How many times as many rows there are when a class is refitted, and when its penalties and leverages are
computed anew, too: a wide fit costs more than it gains from a few rows."""
_MAX_WAITING, _WAITING_NUMBERS = 1 << 14, 1 << 16
"""Rows wait for the next refit until they are this many, or their features more numbers than the sums of the
class and than this: expanding them all takes a tenth of a second, and memory stays what sums take."""
_MAX_OFFSETS = 300
"""Actions with features have an offset each where there are at most this many of them."""


@dataclass(frozen=True, slots=True)
class ClassFit:
    """Ridge regression of each action's rewards on the columns of a class."""

    oracle: LinearOracle
    rows: Moments
    """Sums over all rows but those that wait."""
    penalties: Penalties
    model: LinearModel | None = None
    """Estimates of the latest fit; None before the first."""
    inverses: Floats | None = None
    """(K, d, d): inverses of the penalised Gram matrices of the latest fit that computed them."""
    n_fitted: float = 0.0
    """Rows in the latest fit."""
    n_inverted: float = 0.0
    """Rows in these inverses."""
    waiting: tuple[Log, ...] = ()
    """Rows since then, which are summed at the next refit, together."""

    @staticmethod
    def start(candidate: Candidate, n_actions: int, ridge: float, n_action_features: int = 0) -> ClassFit:
        """The fit of a class without any rows; its own ridge takes precedence over the one given."""
        penalties = Penalties.start(candidate.sizes, candidate.ridge or ridge)
        if not n_action_features:
            return ClassFit.of(candidate.basis, n_actions, penalties)
        return ClassFit._of_items(candidate.basis, n_actions, penalties, n_action_features)

    @staticmethod
    def of(basis: FeatureMap, n_actions: int, penalties: Penalties) -> ClassFit:
        """The fit of a class with coefficients of each action on this feature map, without any rows."""
        none = np.zeros(0)
        design = Design(Layout.PER_ACTION, n_actions, basis, np.zeros(basis.n_features), none, True, True)
        oracle = LinearOracle(_settings(design), design)
        return ClassFit(oracle, oracle.empty(), penalties)

    @staticmethod
    def _of_items(basis: FeatureMap, n_actions: int, penalties: Penalties, q: int) -> ClassFit:
        """The fit on this map of features of context and action together, with an offset of each action."""
        p, offsets = basis.n_inputs - q, n_actions <= _MAX_OFFSETS
        nothing = PolynomialMap(np.zeros(p), np.ones(p), np.zeros((0, 1), dtype=np.int64))
        layout = Layout.HYBRID if offsets else Layout.SHARED
        design = Design(layout, n_actions, nothing, np.zeros(0), np.zeros(q), True, True, basis)
        groups = penalties.groups[1:]
        groups = np.concatenate([groups, np.zeros(n_actions)] if offsets else [np.zeros(1), groups])
        oracle = LinearOracle(_settings(design), design)
        return ClassFit(oracle, oracle.empty(), replace(penalties, groups=groups.astype(np.int64)))

    @property
    def n_columns(self) -> int:
        """The number d of columns."""
        return self.oracle.design.block_width

    @property
    def n(self) -> float:
        """The number of rows, or the sum of their weights."""
        return self.rows.n + sum(len(log) for log in self.waiting)

    def with_rows(self, log: Log) -> ClassFit:
        """The fit with the rows of a log; nothing is refitted."""
        if not len(log):
            return self
        after = replace(self, waiting=(*self.waiting, log))
        return after.summed() if sum(map(len, after.waiting)) > self._most_waiting(log) else after

    def _most_waiting(self, log: Log) -> int:
        """The number of rows like these that may wait."""
        own = log.contexts.actions
        width: int = log.contexts.shared.shape[1] + (0 if own is None else math.prod(own.shape[1:]))
        numbers: int = max(self.rows.gram.size, _WAITING_NUMBERS)
        return min(numbers // max(width, 1), _MAX_WAITING)

    def summed(self) -> ClassFit:
        """The fit with no rows that wait."""
        if not self.waiting:
            return self
        rows = Log.concat(list(self.waiting), self.oracle.design.n_actions)
        return replace(self, rows=self.oracle.sums(rows, onto=self.rows), waiting=())

    def with_columns(self, columns: Floats, log: Log) -> ClassFit:
        """The fit with the rows of a log in its sums, with columns (n, d) that are given."""
        n_actions = self.oracle.design.n_actions
        sums = Moments.of(columns, log.reward, blocks=log.action, n_blocks=n_actions, keep_root=False)
        return replace(self, rows=self.rows + sums)

    def refitted(self) -> ClassFit:
        """The fit of all its rows, where these are a tenth more than in the latest one."""
        if self.model is not None and self.n < _REFIT_RATIO * self.n_fitted:
            return self
        fit = self.summed()
        rows, n = fit.rows, fit.rows.n
        if self.inverses is not None and n < _INVERSE_RATIO * self.n_inverted:
            return replace(fit, model=quick_fit(self.oracle, rows, self.penalties), n_fitted=n)
        model, inverses, penalties = inverse_fit(self.oracle, rows, self.penalties)
        return ClassFit(self.oracle, rows, penalties, model, inverses, n_fitted=n, n_inverted=n)

    def predictions(self, log: Log) -> Predictions | None:
        """Predictions of the latest fit; None before the first."""
        if self.model is None or self.inverses is None or self.penalties.noise == 0.0:
            return None
        phi, blocks = self.oracle.design.rows(log)
        leverages = np.empty(len(log))
        for block in [0] if blocks is None else np.unique(blocks).tolist():
            own = slice(None) if blocks is None else blocks == block
            leverages[own] = np.einsum("nd,nd->n", phi[own] @ self.inverses[block], phi[own])
        # The columns of a class are not centred.
        columns = phi[:, 1:] if isinstance(self.model, PerActionModel) else phi
        estimates = self.model.estimates_at(columns, log.action)
        return Predictions(estimates, leverages.clip(0.0), self.penalties.noise)

    def scaled(self, factor: float) -> ClassFit:
        """The fit with every row's weight times a factor, in sums only."""
        fit = self.summed()
        return replace(
            fit,
            rows=fit.rows.scaled(factor),
            n_fitted=factor * fit.n_fitted,
            n_inverted=factor * fit.n_inverted,
        )

    def reindexed(self, source: Ints) -> ClassFit:
        """The fit when action k was action source[k] before, -1 if it is new; nothing is refitted."""
        before, after, fit = self.oracle, self.oracle.reindexed(len(source)), self.summed()
        penalties = self.penalties.reindexed(before.design, after.design)
        moved = replace(
            fit,
            oracle=after,
            rows=before.reindexed_summary(fit.rows, source),
            penalties=penalties,
            model=None if self.model is None else after.reindexed_model(self.model, source),
        )
        if self.inverses is None or before.design.layout is Layout.SHARED:
            return moved
        if before.design.layout is Layout.HYBRID:  # no predictions to compare until the next refit
            return replace(moved, inverses=None, n_fitted=0.0)
        inverses = self.inverses[source]
        inverses[source < 0] = np.diag(1.0 / penalties.of_columns)
        return replace(moved, inverses=inverses)


def _settings(design: Design) -> Linear:
    """Settings of a class whose columns are as they are, which no other value shares a part of."""
    return Linear(layout=design.layout.value, basis=Identity(), standardise=False)

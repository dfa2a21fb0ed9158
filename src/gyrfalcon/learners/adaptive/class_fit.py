"""Fit of a model class beside the linear one: sums of its rows, penalties by marginal likelihood, estimates."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.records import Log
from gyrfalcon.learners.adaptive.class_selection import Predictions
from gyrfalcon.learners.adaptive.model_classes import Candidate
from gyrfalcon.oracles.features.bases import FeatureMap
from gyrfalcon.oracles.features.design import Design, Layout
from gyrfalcon.oracles.linear.linear import Linear, LinearOracle
from gyrfalcon.oracles.linear.marginal_fit import inverse_fit
from gyrfalcon.oracles.linear.models import PerActionModel
from gyrfalcon.oracles.linear.penalties import Penalties
from gyrfalcon.oracles.solvers.moments import Moments

_REFIT_RATIO = 1.1
"""How many times as many rows there are when a class is refitted: a wide fit costs more than it gains from a
few rows."""
_UNSCALED = Linear(layout="per_action", standardise=False)
"""Columns have been standardised by their feature map."""


@dataclass(frozen=True, slots=True)
class ClassFit:
    """Ridge regression of each action's rewards on the columns of a class."""

    oracle: LinearOracle
    rows: Moments
    """Sums over all rows."""
    penalties: Penalties
    model: PerActionModel | None = None
    """Estimates of the latest fit; None before the first."""
    inverses: Floats | None = None
    """(K, d, d): inverses of the penalised Gram matrices of the latest fit."""
    n_fitted: float = 0.0
    """Rows in the latest fit."""

    @staticmethod
    def start(candidate: Candidate, n_actions: int, ridge: float) -> ClassFit:
        """The fit of a class without any rows; its own ridge takes precedence over the one given."""
        penalties = Penalties.start(candidate.sizes, candidate.ridge or ridge)
        return ClassFit.of(candidate.basis, n_actions, penalties)

    @staticmethod
    def of(basis: FeatureMap, n_actions: int, penalties: Penalties) -> ClassFit:
        """The fit of a class with this feature map, without any rows."""
        none = np.zeros(0)
        design = Design(Layout.PER_ACTION, n_actions, basis, np.zeros(basis.n_features), none, True, True)
        oracle = LinearOracle(_UNSCALED, design)
        return ClassFit(oracle, oracle.empty(), penalties)

    @property
    def n_columns(self) -> int:
        """The number d of columns."""
        return self.oracle.design.block_width

    def with_rows(self, log: Log) -> ClassFit:
        """The fit with the rows of a log in its sums; nothing is refitted."""
        return self if len(log) == 0 else replace(self, rows=self.rows + self.oracle.sums(log))

    def with_columns(self, columns: Floats, log: Log) -> ClassFit:
        """The fit with the rows of a log in its sums, by these columns (n, d) in place of its own."""
        n_actions = self.oracle.design.n_actions
        sums = Moments.of(columns, log.reward, blocks=log.action, n_blocks=n_actions, keep_root=False)
        return replace(self, rows=self.rows + sums)

    def refitted(self, *, always: bool = False) -> ClassFit:
        """The fit of all its rows, where these are more than a tenth more than in the latest one."""
        if not always and self.model is not None and self.rows.n < _REFIT_RATIO * self.n_fitted:
            return self
        model, inverses, penalties = inverse_fit(self.oracle, self.rows, self.penalties)
        assert isinstance(model, PerActionModel)
        return replace(self, model=model, inverses=inverses, penalties=penalties, n_fitted=self.rows.n)

    def predictions(self, log: Log) -> Predictions | None:
        """Predictions of the latest fit; None before the first."""
        if self.model is None or self.inverses is None or self.penalties.noise == 0.0:
            return None
        phi, leverages = self.oracle.design.own_rows(log.contexts.shared), np.empty(len(log))
        for action in np.unique(log.action):
            own = log.action == action
            leverages[own] = np.einsum("nd,nd->n", phi[own] @ self.inverses[action], phi[own])
        return Predictions(
            np.asarray(self.model.scores(log.contexts)), leverages.clip(0.0), self.penalties.noise
        )

    def scaled(self, factor: float) -> ClassFit:
        """The fit with every row's weight times a factor, in sums only."""
        return replace(self, rows=self.rows.scaled(factor), n_fitted=factor * self.n_fitted)

    def reindexed(self, source: Ints) -> ClassFit:
        """The fit when action k was action source[k] before, -1 if it is new; nothing is refitted."""
        before, after = self.oracle, self.oracle.reindexed(len(source))
        moved = replace(self, oracle=after, rows=before.reindexed_summary(self.rows, source))
        if self.model is None or self.inverses is None:
            return moved
        model = before.reindexed_model(self.model, source)
        assert isinstance(model, PerActionModel)
        inverses = self.inverses[source]
        inverses[source < 0] = np.diag(1.0 / self.penalties.of_columns)
        return replace(moved, model=model, inverses=inverses)

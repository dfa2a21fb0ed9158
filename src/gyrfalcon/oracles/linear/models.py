"""Linear reward models: contexts -> scores (n, K), the same bits for a row alone and in any batch."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import Log
from gyrfalcon.core.settings import shapes_repr
from gyrfalcon.oracles.features.bases import FeatureMap
from gyrfalcon.oracles.features.design import Design, Layout
from gyrfalcon.oracles.features.pairs import PairScores
from gyrfalcon.oracles.linalg.batch_invariant import inner_products, weighted_norms


@dataclass(frozen=True, slots=True)
class PerActionModel:
    """Coefficients of each action on shared features: the model of most decisions, so its path is short."""

    basis: FeatureMap
    center: Floats | None  # subtracted first where means dwarf scales, else folded into the intercepts
    weights: Floats  # (K, D)
    intercepts: Floats  # (K, 1)
    known: Bools | None  # (K,) actions with data; None: all
    eager: bool = False  # whether actions without data score just above or just below the best of the others
    origin: float = 0.0  # a score s stands for the reward origin + unit s, in the log's units
    unit: float = 1.0

    __repr__ = shapes_repr

    def scores(self, contexts: Contexts) -> Floats:
        """(n, K); an action without data scores about as the best of the others, so that it is tried."""
        x = self.basis.expand(contexts.shared)
        if self.center is not None:
            x = x - self.center
        columns = inner_products(self.weights, x)
        columns += self.intercepts
        if self.known is not None:
            fill_unknown(columns, self.known, contexts.eligible, self.eager)
        return columns.T

    def estimates_of(self, log: Log) -> Floats:
        """Estimates of the actions that were taken, (n,); those of actions without data are what fits say."""
        x = self.basis.expand(log.contexts.shared)
        return self.estimates_at(x if self.center is None else x - self.center, log.action)

    def estimates_at(self, x: Floats, action: Ints) -> Floats:
        """Estimates (n,) for expanded features (n, D), centred where the model has a centre."""
        slopes = np.einsum("nd,nd->n", x, self.weights[action])
        return np.asarray(slopes + self.intercepts[action, 0])

    def rescaled(
        self, center: float, spread: float, anchor: float = 0.0, unit: float = 1.0
    ) -> PerActionModel:
        """The model of scores above a centre in multiples of a spread; rewards were anchor + unit score."""
        return replace(
            self,
            weights=self.weights / spread,
            intercepts=(self.intercepts - center) / spread,
            origin=anchor + unit * center,
            unit=unit * spread,
        )

    def restored(self) -> PerActionModel:
        """The model whose scores are rewards in the log's units."""
        return replace(self.rescaled(-self.origin / self.unit, 1.0 / self.unit), origin=0.0, unit=1.0)

    def eagerly(self) -> PerActionModel:
        """The model in which an action without data scores just above the best of the others."""
        return replace(self, eager=True)


@dataclass(frozen=True, slots=True)
class JointModel:
    """Linear in phi(x, a), where actions have features or share coefficients."""

    design: Design
    joint: Floats  # (K, n_joint), or (n_joint,) where actions share coefficients
    own: Floats | None  # (K, n_own) in the hybrid layout
    known: Bools | None
    eager: bool = False
    origin: float = 0.0
    unit: float = 1.0

    __repr__ = shapes_repr

    def scores(self, contexts: Contexts) -> Floats:
        """(n, K); an action without data scores about as the best of the others, so that it is tried."""
        columns = self._joint_scores(contexts)
        if self.own is not None:
            columns += inner_products(self.own, self.design.own(self.design.shared(contexts)))
        if self.known is not None:
            fill_unknown(columns, self.known, contexts.eligible, self.eager)
        return np.transpose(columns)

    def estimates_of(self, log: Log) -> Floats:
        """Estimates of the actions that were taken, (n,); those of actions without data are what fits say."""
        rows, _ = self.design.rows(log)
        return self.estimates_at(rows, log.action)

    def estimates_at(self, rows: Floats, action: Ints) -> Floats:
        """Estimates (n,) for rows of the regression, (n, block_width)."""
        if self.joint.ndim == 2:
            return np.asarray(np.einsum("nd,nd->n", rows, self.joint[action]))
        own = np.zeros(0) if self.own is None else self.own.ravel()
        return np.asarray(rows @ np.concatenate([self.joint, own]))

    def _joint_scores(self, contexts: Contexts) -> Floats:
        """(K, n): what the joint columns contribute."""
        basis = self.design.joint_basis
        if basis is not None and contexts.actions is not None:
            intercept, weights = self.joint[: -basis.n_features].sum(), self.joint[-basis.n_features :]
            pairs = PairScores.of(basis, weights, contexts.shared.shape[1])
            return np.ascontiguousarray((pairs.scores(contexts.shared, contexts.actions) + intercept).T)
        cube = self.design.cube(contexts)
        n, n_actions, width = cube.shape
        if self.joint.ndim == 1:
            flat = inner_products(self.joint[np.newaxis], cube.reshape(n * n_actions, width))
            return np.ascontiguousarray(flat.reshape(n, n_actions).T)
        return inner_products(self.joint[:, np.newaxis], cube.swapaxes(0, 1))[:, 0]

    def rescaled(self, center: float, spread: float, anchor: float = 0.0, unit: float = 1.0) -> JointModel:
        """The model of scores above a centre, which is 0 without an intercept, in multiples of a spread."""
        joint, own = self.joint.copy(), None if self.own is None else self.own.copy()
        if center != 0.0:  # the first column is the intercept, of each action in the hybrid layout
            (joint if own is None else own)[..., 0] -= center
        return replace(
            self,
            joint=joint / spread,
            own=None if own is None else own / spread,
            origin=anchor + unit * center,
            unit=unit * spread,
        )

    def restored(self) -> JointModel:
        """The model whose scores are rewards in the log's units."""
        return replace(self.rescaled(-self.origin / self.unit, 1.0 / self.unit), origin=0.0, unit=1.0)

    def eagerly(self) -> JointModel:
        """The model in which an action without data scores just above the best of the others."""
        return replace(self, eager=True)


@dataclass(frozen=True, slots=True)
class OptimisticModel:
    """A reward model plus `bonus` times the width of its ridge confidence ellipsoid."""

    model: PerActionModel | JointModel
    design: Design
    factors: Floats  # (B, d, d): |F phi|^2 = phi' (Gram + ridge)^-1 phi
    bonus: float | Floats  # one for all actions, or (K,)
    bounds: tuple[float, float] | None = None  # rewards that are possible: estimates are kept within them

    __repr__ = shapes_repr

    @property
    def known(self) -> Bools | None:
        """Which actions have data, (K,); None for all."""
        return self.model.known

    def scores(self, contexts: Contexts) -> Floats:
        """Estimates plus bonus times ||phi||, (n, K)."""
        return self.means(contexts) + self.bonus * self.widths(contexts)

    def means(self, contexts: Contexts) -> Floats:
        """The estimates alone, (n, K)."""
        means = self.model.scores(contexts)
        return means if self.bounds is None else means.clip(*self.bounds)

    def widths(self, contexts: Contexts) -> Floats:
        """||phi(x, a)|| in the inverse of the regularised Gram matrix, (n, K)."""
        if self.design.layout is Layout.PER_ACTION and contexts.actions is None:
            phi = self.design.own_rows(contexts.shared)
            return np.transpose(weighted_norms(self.factors, phi))
        cube = self.design.cube(contexts)
        n, n_actions, width = cube.shape
        if self.design.layout is Layout.SHARED:
            return weighted_norms(self.factors, cube.reshape(n * n_actions, width)).reshape(n, n_actions)
        factors, phi = self.factors, cube.swapaxes(0, 1)
        if self.design.layout is Layout.HYBRID:
            own = self.design.own(self.design.shared(contexts))
            own = np.broadcast_to(own, (n_actions, *own.shape))
            factors, phi = self._hybrid_factors(), np.concatenate([phi, own], axis=2)
        return np.transpose(weighted_norms(factors[:, np.newaxis], phi)[:, 0])

    def restored(self) -> OptimisticModel:
        """The model whose scores and bonus are in the log's units of reward."""
        origin, unit = self.model.origin, self.model.unit
        bounds = self.bounds and (origin + unit * self.bounds[0], origin + unit * self.bounds[1])
        return replace(self, model=self.model.restored(), bonus=self.bonus * unit, bounds=bounds)

    def widths_of(self, contexts: Contexts, action: Ints) -> Floats:
        """||phi(x, a)|| of one action for each row, (n,), as `widths` has it."""
        if not (self.design.layout is Layout.PER_ACTION and contexts.actions is None):
            return self.widths(contexts)[np.arange(len(action)), action]
        phi, widths = self.design.own_rows(contexts.shared), np.empty(len(action))
        for k in np.unique(action).tolist():
            rows = action == k
            widths[rows] = weighted_norms(self.factors[k : k + 1], phi[rows])[0]
        return widths

    def _hybrid_factors(self) -> Floats:
        """The factor's columns of joint coefficients and of each action's own, (K, d, n_joint + n_own)."""
        joint, own = np.split(self.factors[0], [self.design.n_joint], axis=1)
        n_actions = self.design.n_actions
        blocks = own.reshape(len(own), n_actions, self.design.n_own).swapaxes(0, 1)
        return np.concatenate([np.broadcast_to(joint, (n_actions, *joint.shape)), blocks], axis=2)


def fill_unknown(columns: Floats, known: Bools, eligible: Bools | None, eager: bool = False) -> None:
    """Give unknown actions a score next to the best known eligible one: a model of 0 could freeze them out.

    Just below it, inverse gap weighting gives them 1 / K; optimists need it just above, as a small bonus
    alone may not do.
    """
    seen = columns[known]
    if eligible is not None:
        seen = np.where(eligible.T[known], seen, -np.inf)
    best = seen.max(axis=0, initial=-np.inf)
    beside = np.nextafter(best, np.inf if eager else -np.inf)
    columns[~known] = np.where(np.isfinite(best), beside, 0.0)


LinearModel = PerActionModel | JointModel
FOLD_BELOW = 1e3


def linear_model(
    design: Design, coefficients: Floats, seen: Bools | None, previous: LinearModel | None = None
) -> LinearModel:
    """The model of coefficients (B, d); unseen actions keep `previous` ones or are unknown."""
    if design.layout is Layout.PER_ACTION and len(design.action_center) == 0:
        return _per_action_model(design, coefficients, seen, previous)
    if design.layout is Layout.PER_ACTION:
        kept = previous if isinstance(previous, JointModel) else None
        if seen is not None and kept is not None:
            coefficients = np.where(seen[:, np.newaxis], coefficients, kept.joint)
            seen = _either(seen, kept.known)
        return JointModel(design, np.ascontiguousarray(coefficients), None, seen)
    joint, own = coefficients[0, : design.n_joint], None
    if design.layout is Layout.HYBRID:
        own = np.ascontiguousarray(coefficients[0, design.n_joint :].reshape(design.n_actions, design.n_own))
        if seen is not None and isinstance(previous, JointModel) and previous.own is not None:
            own = np.where(seen[:, np.newaxis], own, previous.own)
            seen = _either(seen, previous.known)
    return JointModel(design, np.ascontiguousarray(joint), own, seen)


def _per_action_model(
    design: Design, coefficients: Floats, seen: Bools | None, previous: LinearModel | None
) -> PerActionModel:
    first = int(design.intercept)
    weights = np.ascontiguousarray(coefficients[:, first:])
    intercepts = coefficients[:, :first].sum(axis=1, keepdims=True)
    center: Floats | None = design.center
    # Folding the centre into the intercepts saves a pass per decision, but cancels digits where means dwarf
    # the range over which predictions move.
    steepest = np.abs(weights).max(axis=0, initial=0.0)
    if np.all(np.abs(design.center) * steepest <= FOLD_BELOW):
        intercepts = intercepts - inner_products(weights, design.center[np.newaxis])
        center = None
    if seen is not None and isinstance(previous, PerActionModel):
        weights, intercepts = _keep_previous(seen, previous, center, weights, intercepts)
        seen = _either(seen, previous.known)
    return PerActionModel(design.basis, center, weights, intercepts, seen)


def _keep_previous(
    seen: Bools, previous: PerActionModel, center: Floats | None, weights: Floats, intercepts: Floats
) -> tuple[Floats, Floats]:
    """New coefficients where there is data, previous ones elsewhere, moved to the new centre."""
    moved = np.zeros(weights.shape[1])
    moved += 0.0 if center is None else center
    moved -= 0.0 if previous.center is None else previous.center
    old = previous.intercepts + inner_products(previous.weights, moved[np.newaxis])
    rows = seen[:, np.newaxis]
    return np.where(rows, weights, previous.weights), np.where(rows, intercepts, old)


def _either(seen: Bools, known: Bools | None) -> Bools | None:
    both = np.ones_like(seen) if known is None else seen | known
    return None if both.all() else both

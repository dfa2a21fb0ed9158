"""Linear fits of many replications as one array program, with the bits that each would have alone.

R replications of K actions are R K blocks of the same least-squares problem. What a fit decides together for
the actions of a replication, like whether its Gram matrices have enough digits, is decided for each
replication; those that need more than the quick path are named, and left to the ordinary oracle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.oracles.features.bases import IdentityMap
from gyrfalcon.oracles.features.design import Design, Layout
from gyrfalcon.oracles.linalg.batch_invariant import inner_products, weighted_norms
from gyrfalcon.oracles.linalg.conditioning import GRAM_CONDITION, Triangles, blocks_suffice, equilibrated
from gyrfalcon.oracles.linear.centring import Centring
from gyrfalcon.oracles.linear.linear import LinearOracle
from gyrfalcon.oracles.linear.models import FOLD_BELOW, OptimisticModel, PerActionModel
from gyrfalcon.oracles.solvers.least_squares import penalty_of, triangular_factors
from gyrfalcon.oracles.solvers.moments import Moments, Rows


@dataclass(frozen=True, slots=True)
class StackedModels:
    """Linear models of R replications; contexts are the rows of one replication after the other."""

    weights: Floats  # (R, K, D)
    intercepts: Floats  # (R, K, 1)
    known: None = None  # every action has data
    origins: Floats | None = None  # (R,): a score s stands for the reward origin + unit s
    units: Floats | None = None  # (R,)

    def scores(self, contexts: Contexts) -> Floats:
        """Scores of all actions, (R n, K)."""
        n_replications, _, width = self.weights.shape
        x = contexts.shared.reshape(n_replications, len(contexts) // n_replications, width)
        columns = inner_products(self.weights, x)
        columns += self.intercepts
        return _rows_of(columns)

    def rescaled(self, centers: Floats, spreads: Floats, anchors: Floats, units: Floats) -> StackedModels:
        """The models of scores above each replication's centre in multiples of its spread, (R,) each."""
        over = spreads[:, np.newaxis, np.newaxis]
        intercepts = (self.intercepts - centers[:, np.newaxis, np.newaxis]) / over
        return StackedModels(
            self.weights / over, intercepts, origins=anchors + units * centers, units=units * spreads
        )

    def alone(self, replication: int, basis: IdentityMap) -> PerActionModel:
        """The model of one replication."""
        model = PerActionModel(basis, None, self.weights[replication], self.intercepts[replication], None)
        if self.origins is None or self.units is None:
            return model
        origin, unit = float(self.origins[replication]), float(self.units[replication])
        return replace(model, origin=origin, unit=unit)


@dataclass(frozen=True, slots=True)
class StackedOptimist:
    """Reward models with the widths of their confidence ellipsoids; see `OptimisticModel`."""

    model: StackedModels
    design: Design  # of the first replication; the others differ in their centres
    centers: Floats  # (R, D)
    factors: Floats  # (R, K, d, d)
    bonus: float | Floats  # one for all, or (R, K)

    def scores(self, contexts: Contexts) -> Floats:
        """Estimates plus bonus times ||phi||, (R n, K)."""
        bonus = self.bonus
        if isinstance(bonus, np.ndarray):
            bonus = np.repeat(bonus, len(contexts) // len(bonus), axis=0)
        return self.model.scores(contexts) + bonus * self.widths(contexts)

    def means(self, contexts: Contexts) -> Floats:
        """The estimates alone, (R n, K)."""
        return self.model.scores(contexts)

    def widths(self, contexts: Contexts) -> Floats:
        """||phi(x, a)|| in the inverse of the regularised Gram matrix, (R n, K)."""
        n_replications, width = self.centers.shape
        x = contexts.shared.reshape(n_replications, len(contexts) // n_replications, width)
        phi = stacked_features(self.design, self.centers, x)
        return _rows_of(weighted_norms(self.factors, phi))

    def alone(self, replication: int) -> OptimisticModel:
        """The model of one replication, without bonus."""
        basis = IdentityMap(self.centers.shape[1])
        design = Design(
            Layout.PER_ACTION,
            self.design.n_actions,
            basis,
            self.centers[replication],
            self.design.action_center,
            self.design.intercept,
            self.design.interactions,
        )
        model = self.model.alone(replication, basis).eagerly()
        return OptimisticModel(model, design, self.factors[replication], 0.0)


AnyOptimist = OptimisticModel | StackedOptimist


@dataclass(frozen=True, slots=True)
class StackedFit:
    """Fits of R replications; those that are not quick have to be fitted alone."""

    models: StackedModels
    factors: Floats | None  # (R, K, d, d) where widths are wanted
    conditions: Floats  # (R,)
    quick: Bools  # (R,)

    def take(self, places: Sequence[int]) -> StackedFit:
        """The fits of some of the replications."""
        if list(places) == list(range(len(self.quick))):
            return self
        index = list(places)
        given = self.models
        models = StackedModels(
            given.weights[index],
            given.intercepts[index],
            origins=None if given.origins is None else given.origins[index],
            units=None if given.units is None else given.units[index],
        )
        factors = None if self.factors is None else self.factors[index]
        return StackedFit(models, factors, self.conditions[index], self.quick[index])


@dataclass(frozen=True, slots=True)
class StackedOracle:
    """The oracles of R replications of one problem; `settings` and layout are theirs in common."""

    oracle: LinearOracle  # of the first replication
    centers: Floats  # (R, D)

    @staticmethod
    def of(oracles: Sequence[LinearOracle]) -> StackedOracle:
        """The oracles together; each must be stackable."""
        return StackedOracle(oracles[0], np.stack([oracle.design.center for oracle in oracles]))

    def summed(self, shared: Floats, action: Ints, reward: Floats, onto: Moments) -> tuple[Moments, Bools]:
        """Moments of R K blocks with (R, n) new rows added, and which replications are well conditioned."""
        design, n_replications = self.oracle.design, len(self.centers)
        features = stacked_features(design, self.centers, shared)
        blocks = action + design.n_actions * np.arange(n_replications)[:, np.newaxis]
        rows = Rows.of(
            features.reshape(-1, features.shape[-1]),
            reward.reshape(-1),
            blocks=blocks.reshape(-1),
            n_blocks=n_replications * design.n_actions,
        )
        total = onto + rows.moments()
        enough = blocks_suffice(self._penalised(total)).reshape(n_replications, -1)
        return total, np.asarray(enough.all(axis=1))

    def _penalised(self, moments: Moments) -> Floats:
        """Gram matrices of the columns as they are, with the ridge that acts on standardised ones."""
        ridge = self.oracle.settings.ridge
        if ridge == 0.0:
            return moments.gram
        back = np.linalg.inv(self._standardisations(moments))
        penalties = ridge * (back @ back.mT)
        return moments.gram + np.repeat(penalties, self.oracle.design.n_actions, axis=0)

    def fit(self, moments: Moments, *, widths: bool) -> StackedFit:
        """The ordinary ridge regression of each replication."""
        shape = len(self.centers), self.oracle.design.n_actions, self.oracle.design.block_width
        change = self._standardisations(moments)
        center = Centring.of(moments, self.oracle.design, shape[0])
        standardised = center.less(moments).transformed(change)
        penalty = penalty_of(self.oracle.settings.ridge, shape[2])
        scaled, scale = equilibrated(standardised.gram + np.diag(penalty))
        triangles = Triangles.of(scaled)
        if triangles is None:
            return self._none(shape)
        basis = triangles.inverse * scale[:, :, None]
        target = np.einsum("bij,bi->bj", basis, standardised.cross)
        theta = np.einsum("bij,bj->bi", basis, target)
        uncentered = np.einsum("rbi,rij->rbj", theta.reshape(shape), change)
        coefficients = center.above(uncentered.reshape(-1, shape[2])).reshape(shape)
        models, folded = self._models(coefficients)
        conditions = triangles.conditions.reshape(shape[:2]).max(axis=1)
        factors = None
        if widths:
            stretched = triangular_factors(triangles, scale)
            factors = np.ascontiguousarray(stretched.reshape(*shape, shape[2]) @ change[:, np.newaxis])
        return StackedFit(models, factors, conditions, folded & (conditions <= GRAM_CONDITION))

    def _models(self, coefficients: Floats) -> tuple[StackedModels, Bools]:
        """The models with their centres folded into the intercepts, and where that costs no digits."""
        first = int(self.oracle.design.intercept)
        weights = np.ascontiguousarray(coefficients[:, :, first:])
        intercepts = coefficients[:, :, :first].sum(axis=2, keepdims=True)
        steepest = np.abs(weights).max(axis=1, initial=0.0)
        folded = np.all(np.abs(self.centers) * steepest <= FOLD_BELOW, axis=1)
        return StackedModels(
            weights, intercepts - inner_products(weights, self.centers[:, np.newaxis])
        ), folded

    def _none(self, shape: tuple[int, int, int]) -> StackedFit:
        """No fit at all: some matrix is not positive definite."""
        models = StackedModels(np.zeros((*shape[:2], self.centers.shape[1])), np.zeros((*shape[:2], 1)))
        return StackedFit(models, None, np.full(shape[0], np.inf), np.zeros(shape[0], dtype=np.bool_))

    def _standardisations(self, moments: Moments) -> Floats:
        """(R, d, d): the change of columns of each replication."""
        n_replications = len(self.centers)
        if not self.oracle.settings.standardise:
            return np.tile(np.eye(self.oracle.design.block_width), (n_replications, 1, 1))
        return self.oracle.design.standardisations(moments.weight, moments.gram, n_replications)


def _rows_of(columns: Floats) -> Floats:
    """(R, K, n) as (R n, K), actions first in memory as kernels want them."""
    return np.transpose(np.moveaxis(columns, 1, 0).reshape(columns.shape[1], -1))


def stackable(oracle: object) -> bool:
    """Whether fits of this oracle can be stacked: coefficients per action on the features as they are."""
    return (
        isinstance(oracle, LinearOracle)
        and oracle.design.layout is Layout.PER_ACTION
        and isinstance(oracle.design.basis, IdentityMap)
        and len(oracle.design.action_center) == 0
    )


def stacked_features(design: Design, centers: Floats, shared: Floats) -> Floats:
    """[1, x - centre] of (R, n, D) features, (R, n, d)."""
    features = np.empty((*shared.shape[:2], design.n_own))
    first = int(design.intercept)
    features[:, :, :first] = 1.0
    np.subtract(shared, centers[:, np.newaxis], out=features[:, :, first:])
    return features

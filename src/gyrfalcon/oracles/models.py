"""Linear reward models: contexts -> scores (n, K), the same bits for a row alone and in any batch."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.types import Bools, Floats
from gyrfalcon.oracles.bases import FeatureMap
from gyrfalcon.oracles.contractions import lengths, lines
from gyrfalcon.oracles.features import Design, Layout


@dataclass(frozen=True, slots=True)
class PerActionModel:
    """One line per action on shared features: the model behind most decisions, so its path is short."""

    basis: FeatureMap
    center: Floats | None  # subtracted first where means dwarf scales, else folded into the intercepts
    weights: Floats  # (K, D)
    intercepts: Floats  # (K, 1)
    known: Bools | None  # (K,) actions with data; None: all
    eager: bool = False  # whether actions without data score just above or just below the best of the others

    def scores(self, contexts: Contexts) -> Floats:
        """(n, K); an action without data scores about as the best of the others, so that it is tried."""
        x = self.basis.expand(contexts.shared)
        if self.center is not None:
            x = x - self.center
        columns = lines(self.weights, x)
        columns += self.intercepts
        if self.known is not None:
            fill_unknown(columns, self.known, contexts.eligible, self.eager)
        return columns.T

    def eagerly(self) -> PerActionModel:
        """The same model, in which an action without data scores just above the best of the others."""
        return replace(self, eager=True)


@dataclass(frozen=True, slots=True)
class JointModel:
    """Linear in phi(x, a), where actions have features or share coefficients."""

    design: Design
    joint: Floats  # (K, n_joint), or (n_joint,) where actions share coefficients
    own: Floats | None  # (K, n_own) in the hybrid layout
    known: Bools | None
    eager: bool = False

    def scores(self, contexts: Contexts) -> Floats:
        """(n, K); an action without data scores about as the best of the others, so that it is tried."""
        form = "nkf,kf->kn" if self.joint.ndim == 2 else "nkf,f->kn"
        columns = np.einsum(form, self.design.cube(contexts), self.joint)
        if self.own is not None:
            columns += np.einsum("kf,nf->kn", self.own, self.design.own(self.design.shared(contexts)))
        if self.known is not None:
            fill_unknown(columns, self.known, contexts.eligible, self.eager)
        return np.transpose(columns)

    def eagerly(self) -> JointModel:
        """The same model, in which an action without data scores just above the best of the others."""
        return replace(self, eager=True)


@dataclass(frozen=True, slots=True)
class OptimisticModel:
    """A reward model plus `bonus` times the width of its ridge confidence ellipsoid."""

    model: PerActionModel | JointModel
    design: Design
    factors: Floats  # (B, d, d): |F phi|^2 = phi' (Gram + ridge)^-1 phi
    bonus: float | Floats  # one for all actions, or (K,)

    def scores(self, contexts: Contexts) -> Floats:
        """Estimates plus bonus times ||phi||, (n, K)."""
        return self.model.scores(contexts) + self.bonus * self.widths(contexts)

    def means(self, contexts: Contexts) -> Floats:
        """The estimates alone, (n, K)."""
        return self.model.scores(contexts)

    def widths(self, contexts: Contexts) -> Floats:
        """||phi(x, a)|| in the inverse of the regularised Gram matrix, (n, K)."""
        if self.design.layout is Layout.PER_ACTION and contexts.actions is None:
            phi = self.design.own_rows(contexts.shared)
            return np.transpose(lengths(self.factors, phi))
        cube, joint = self.design.cube(contexts), self.factors[:, :, : self.design.n_joint]
        form = "kij,nkj->kni" if len(joint) > 1 else "kij,naj->ani"
        stretched = np.einsum(form, np.ascontiguousarray(joint), cube)
        if self.design.layout is Layout.HYBRID:
            x = self.design.own(self.design.shared(contexts))
            stretched += np.einsum("kij,nj->kni", self._own_factors(), x)
        squares: Floats = np.einsum("kni,kni->kn", stretched, stretched)
        return np.transpose(np.sqrt(squares))

    def _own_factors(self) -> Floats:
        """The factor's columns of each action's own coefficients (hybrid), (K, d, n_own)."""
        own = self.factors[0, :, self.design.n_joint :]
        blocks = own.reshape(len(own), self.design.n_actions, self.design.n_own)
        return np.ascontiguousarray(np.moveaxis(blocks, 1, 0))


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

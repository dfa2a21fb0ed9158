"""How phi(x, a) is laid out: one block of coefficients per action, one shared by all, or both (hybrid)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import Log
from gyrfalcon.oracles.features.bases import FeatureMap


class Layout(Enum):
    """Which coefficients an action has."""

    PER_ACTION = "per_action"  # its own for [1, x, v]
    SHARED = "shared"  # the same for all, on [1, x, v, x v]
    HYBRID = "hybrid"  # its own for [1, x], and shared ones on [v, x v]


@dataclass(frozen=True, slots=True)
class Design:
    """phi(x, a) for shared features x, expanded by a basis, and features v of the action itself.

    x and v are centred by the means of early rows, fixed for good: sums of squares of a raw timestamp would
    lose all their digits. `interactions` adds the products x v, without which shared features could not
    change which action is best.
    """

    layout: Layout
    n_actions: int
    basis: FeatureMap
    center: Floats  # (D,) early means of the expanded shared features
    action_center: Floats  # (q,) early means of the action features; q = 0 without any
    intercept: bool
    interactions: bool
    joint_basis: FeatureMap | None = None  # of [x, v] together, in place of [v, x v] in the hybrid layout

    @property
    def n_own(self) -> int:
        """Columns of an action's own block in the hybrid layout: [1, x]."""
        return int(self.intercept) + len(self.center)

    @property
    def n_joint(self) -> int:
        """Columns of phi(x, a) that are built for every action alike."""
        if self.joint_basis is not None:
            return self.joint_basis.n_features + (self.layout is Layout.SHARED)
        p, q = len(self.center), len(self.action_center)
        products = p * q if self.interactions else 0
        if self.layout is Layout.PER_ACTION:
            return self.n_own + q
        return q + products + (0 if self.layout is Layout.HYBRID else self.n_own)

    @property
    def offsets(self) -> Floats:
        """What centring takes from each joint column, (n_joint,); products of centred ones lose nothing."""
        if self.joint_basis is not None:
            return np.zeros(self.n_joint)
        own = [] if self.layout is Layout.HYBRID else [np.zeros(int(self.intercept)), self.center]
        taken = np.concatenate([*own, self.action_center])
        return np.concatenate([taken, np.zeros(self.n_joint - len(taken))])

    @property
    def constant(self) -> Floats:
        """(block_width,): coefficients with which every row has the estimate 1; 0 without an intercept."""
        found = np.zeros(self.block_width)
        if self.intercept:
            found[self.n_joint :: self.n_own] = self.layout is Layout.HYBRID
            found[:1] = self.layout is not Layout.HYBRID
        return found

    @property
    def n_blocks(self) -> int:
        """The number of independent least-squares problems."""
        return self.n_actions if self.layout is Layout.PER_ACTION else 1

    @property
    def block_width(self) -> int:
        """Number of coefficients in each least-squares problem."""
        return self.n_joint + (self.n_actions * self.n_own if self.layout is Layout.HYBRID else 0)

    @property
    def n_parameters(self) -> int:
        """All coefficients: the paper's d."""
        return self.n_blocks * self.block_width

    def standardisations(self, weight: Floats, gram: Floats, n_groups: int = 1) -> Floats:
        """T with z = T phi of mean 0 and scale 1 over rows with these sums, (R, d, d).

        `weight` (B,) and `gram` (B, d, d) are sums over the rows of each block; each of R equal shares of the
        blocks is standardised by itself. Without rows it is the identity.
        """
        d = gram.shape[-1]
        n = weight.reshape(n_groups, -1).sum(axis=1)
        mean_gram = gram.reshape(n_groups, -1, d, d).sum(axis=1) / np.where(n > 0.0, n, 1.0)[:, None, None]
        mean = np.zeros((n_groups, d))
        if self.intercept and self.layout is not Layout.HYBRID:
            mean[:, 1:] = mean_gram[:, 0, 1:]
        second = np.diagonal(mean_gram, axis1=1, axis2=2).copy()
        if self.layout is Layout.HYBRID:  # an action's own columns are pooled over the actions
            own = second[:, self.n_joint :].reshape(n_groups, self.n_actions, self.n_own)
            own[:] = own.sum(axis=1, keepdims=True)
        variance = second - mean**2
        # A constant column keeps its scale: dividing by rounding noise would make features of it.
        scale = np.sqrt(np.where(variance > 1e-14 * second, variance, 1.0))
        change = np.zeros((n_groups, d, d))
        change[:, np.arange(d), np.arange(d)] = 1.0 / scale
        change[:, 1:, 0] -= mean[:, 1:] / scale[:, 1:]
        return change

    def columns_from(self, source: Ints) -> Ints:
        """Where a block's columns come from when action k was action source[k] of this design, -1 if new."""
        joint = np.arange(self.n_joint)
        if self.layout is not Layout.HYBRID:
            return joint
        own = self.n_joint + source[:, np.newaxis] * self.n_own + np.arange(self.n_own)
        return np.concatenate([joint, np.where(source[:, np.newaxis] < 0, -1, own).ravel()])

    def shared(self, contexts: Contexts) -> Floats:
        """(n, D) expanded and centred shared features."""
        return self.basis.expand(contexts.shared) - self.center

    def rows(self, log: Log) -> tuple[Floats, Ints | None]:
        """The regression rows of a log, (n, block_width), and their blocks."""
        features = features_of(log.contexts, log.action)
        v = features - self.action_center
        if self.layout is Layout.PER_ACTION:
            own = self.own_rows(log.contexts.shared)
            return (np.concatenate([own, v], axis=1) if v.shape[1] else own), log.action
        x = self.shared(log.contexts)
        if self.layout is Layout.SHARED:
            return self._joint(x, v) if self.joint_basis is None else self._expanded(
                log.contexts.shared, features
            ), None
        own = np.zeros((len(log), self.n_actions, self.n_own))
        own[np.arange(len(log)), log.action] = self.own(x)
        joint = (
            self._joint(x, v) if self.joint_basis is None else self._expanded(log.contexts.shared, features)
        )
        return np.concatenate([joint, own.reshape(len(log), self.n_actions * self.n_own)], axis=1), None

    def cube(self, contexts: Contexts) -> Floats:
        """The joint columns of every action, (n, K, n_joint)."""
        if self.joint_basis is not None and contexts.actions is not None:
            return self._expanded(contexts.shared[:, np.newaxis], contexts.actions)
        x = self.shared(contexts)
        spread = np.broadcast_to(x[:, np.newaxis, :], (len(x), self.n_actions, x.shape[1]))
        v = (
            np.empty((len(x), self.n_actions, 0))
            if contexts.actions is None
            else contexts.actions - self.action_center
        )
        return np.ascontiguousarray(self._joint(spread, v))

    def own(self, x: Floats) -> Floats:
        """[1, x] of centred shared features, (n, n_own)."""
        return np.concatenate([np.ones((len(x), int(self.intercept))), x], axis=1)

    def own_rows(self, shared: Floats) -> Floats:
        """[1, x] of shared features as they are given, (n, n_own), written at once: most rows are these."""
        first = int(self.intercept)
        rows = np.empty((len(shared), first + len(self.center)))
        rows[:, :first] = 1.0
        np.subtract(self.basis.expand(shared), self.center, out=rows[:, first:])
        return rows

    def _expanded(self, shared: Floats, actions: Floats) -> Floats:
        """The joint basis of shared features (..., p) and those of actions (..., q)."""
        assert self.joint_basis is not None
        spread = np.broadcast_to(shared, (*actions.shape[:-1], shared.shape[-1]))
        inputs = np.concatenate([spread, actions], axis=-1)
        columns = self.joint_basis.expand(inputs.reshape(-1, inputs.shape[-1]))
        if self.layout is Layout.SHARED:
            columns = self.own(columns)
        return columns.reshape(*inputs.shape[:-1], columns.shape[-1])

    def _joint(self, x: Floats, v: Floats) -> Floats:
        parts = [v]
        if self.layout is not Layout.HYBRID:
            parts = [np.ones((*x.shape[:-1], int(self.intercept))), x, v]
        if self.layout is not Layout.PER_ACTION and self.interactions:
            products = x[..., :, np.newaxis] * v[..., np.newaxis, :]
            parts.append(products.reshape(*x.shape[:-1], x.shape[-1] * v.shape[-1]))
        return np.concatenate(parts, axis=-1)


def features_of(contexts: Contexts, action: Ints) -> Floats:
    """Features of one action in each context, (n, q)."""
    if contexts.actions is None:
        return np.empty((len(contexts), 0))
    return contexts.actions[np.arange(len(contexts)), action]

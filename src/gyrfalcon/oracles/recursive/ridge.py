"""Recursive ridge regression per action: rank-k updates of the inverse Gram matrix, batch by batch.

The state is the inverse P = (A + ridge)^-1 of an action's regularised Gram matrix, and coefficients that are
moved by the errors of new rows alone. Rounding errors do not accumulate: what earlier rows left in P and
theta shrinks in the directions of new ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import Log
from gyrfalcon.oracles.features.bases import FeatureMap
from gyrfalcon.oracles.linalg.batch_invariant import inner_products, quadratic_forms
from gyrfalcon.oracles.linear.models import fill_unknown
from gyrfalcon.oracles.recursive.inverses import GrowingInverses, no_rows, shrunken

N_PREFIX = 128
_ROWS_AT_ONCE = 1 << 12
"""Rows whose features are held at a time, to bound the memory that a long log needs."""


@dataclass(frozen=True, slots=True)
class RecursiveRidge:
    """Ridge regression of the rewards of each of K actions on phi = [1, basis(x)], d columns.

    It minimises sum (r - phi'theta)^2 + ridge |theta|^2. Features of actions are ignored. Columns should have
    scales of about 1, which `StandardisedMap` gives them: the ridge acts on unscaled columns.

    >>> from gyrfalcon.oracles.features.bases import IdentityMap
    >>> empty = RecursiveRidge.start(IdentityMap(3), n_actions=2)
    >>> empty.n_columns, empty.n, empty.model(bonus=1.0).widths(Contexts(np.zeros((1, 3)))).tolist()
    (4, 0.0, [[1.0, 1.0]])
    """

    basis: FeatureMap
    ridge: float
    inverses: Floats
    """(K, d, d): (A_k + ridge)^-1."""
    prefix_inverses: Floats | None
    """(K, q, q): inverses for the first q columns alone, for cheaper widths; None if q = d."""
    coefficients: Floats
    """(K, d)."""
    cross: Floats
    """(K, d): sums of phi r."""
    squares: Floats
    """(K,): sums of r^2."""
    weights: Floats
    """(K,): numbers of rows, the sum of their weights after `scaled`."""

    @staticmethod
    def start(
        basis: FeatureMap, n_actions: int, ridge: float = 1.0, n_prefix: int = N_PREFIX
    ) -> RecursiveRidge:
        """A regression without any rows."""
        if not (ridge > 0.0 and math.isfinite(ridge)):
            raise ValueError(f"ridge is {ridge}; a recursive fit needs a finite number above 0, such as 1.")
        if n_prefix < 1:
            raise ValueError(f"n_prefix is {n_prefix}; widths need at least 1 column, the intercept.")
        d = 1 + basis.n_features
        return RecursiveRidge(
            basis=basis,
            ridge=float(ridge),
            inverses=no_rows(n_actions, d, ridge),
            prefix_inverses=no_rows(n_actions, n_prefix, ridge) if n_prefix < d else None,
            coefficients=np.zeros((n_actions, d)),
            cross=np.zeros((n_actions, d)),
            squares=np.zeros(n_actions),
            weights=np.zeros(n_actions),
        )

    @property
    def n_actions(self) -> int:
        """The number K of actions."""
        return len(self.weights)

    @property
    def n_columns(self) -> int:
        """The number d of columns of phi."""
        return int(self.coefficients.shape[1])

    @property
    def n(self) -> float:
        """The number of rows, or the sum of their weights."""
        return float(self.weights.sum())

    @property
    def known(self) -> Bools | None:
        """(K,): actions with data; None if all have some."""
        known = self.weights > 0.0
        return None if known.all() else known

    @property
    def degrees_of_freedom(self) -> float:
        """Effective number of parameters: the trace of A (A + ridge)^-1 over all actions."""
        undetermined = self.ridge * float(np.einsum("kii->", self.inverses))
        return max(self.coefficients.size - undetermined, 0.0)

    @property
    def residual_variance(self) -> float:
        """The mean squared error of the fit on its own rows; 0 without any."""
        fitted = np.einsum("kd,kd->", self.coefficients, self.cross + self.ridge * self.coefficients)
        return max(float(self.squares.sum()) - float(fitted), 0.0) / max(self.n, 1e-300)

    def with_rows(self, log: Log) -> RecursiveRidge:
        """The regression with the rows of a log added; ValueError where these are not finite or too large."""
        return self.updated(log)[0]

    def updated(self, log: Log, phi: Floats | None = None) -> tuple[RecursiveRidge, Floats]:
        """The regression with new rows, and the leverages (n,) that these had before the update.

        `phi` are the columns of the log's contexts, if they are at hand.
        """
        leverages = np.empty(len(log))
        if len(log) == 0:
            return self, leverages
        after = self._copied()
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            for start, part in _parts(log):
                here = slice(start, start + len(part))
                made = columns_of(self.basis, part.contexts) if phi is None else phi[here]
                leverages[here] = after._add(made, part)
        if not np.isfinite(after.squares).all():
            raise ValueError(
                "Rewards are not finite, or too large for sums of squares; drop such rows first."
            )
        return after, leverages

    def _add(self, phi: Floats, log: Log) -> Floats:
        """Add rows in place, to a fresh copy, and return the leverages that they had before."""
        order, played = by_action(log.action)
        phi, reward = phi[order], log.reward[order]
        leverages = np.empty(len(log))
        inverses = [GrowingInverses(own) for own in (self.inverses, self.prefix_inverses) if own is not None]
        for action, part in played:
            f, r = phi[part], reward[part]
            errors = r - f @ self.coefficients[action]
            change, leverages[order[part]] = inverses[0].updated(action, f, errors)
            self.coefficients[action] += change
            for prefix in inverses[1:]:
                prefix.updated(action, f[:, : prefix.width], errors)
            self.cross[action] += r @ f
            self.squares[action] += r @ r
            self.weights[action] += len(r)
        return leverages

    def predicted(self, log: Log) -> tuple[Floats, Floats]:
        """Estimate theta_a'phi and leverage phi'P_a phi of the action that was taken, (n,) each."""
        values, leverages = np.empty(len(log)), np.empty(len(log))
        for start, some in _parts(log):
            order, played = by_action(some.action)
            made = columns_of(self.basis, some.contexts)[order]
            for action, part in played:
                f, where = made[part], start + order[part]
                values[where] = f @ self.coefficients[action]
                leverages[where] = np.einsum("nd,nd->n", f @ self.inverses[action], f)
        return values, np.maximum(leverages, 0.0, out=leverages)

    def model(self, bonus: float = 0.0, bounds: tuple[float, float] | None = None) -> RecursiveModel:
        """Scores: estimates clipped to bounds, plus `bonus` times their widths."""
        matrices = self.inverses if self.prefix_inverses is None else self.prefix_inverses
        return RecursiveModel(self.basis, self.coefficients, matrices, float(bonus), bounds, self.known)

    def scaled(self, factor: float) -> RecursiveRidge:
        """The regression with every row's weight times a factor of at least 0, for discounting.

        Exact, and without the Gram matrix: where A has the eigenvalue a, P has 1 / (a + ridge), and
        1 / (factor a + ridge) comes from P (factor + (1 - factor) ridge P)^-1, whose second part has
        eigenvalues between factor and 1. It costs an inverse of each action's matrix.
        """
        if not (factor >= 0.0 and math.isfinite(factor)):
            raise ValueError(f"factor is {factor}; weights stay weights only under a factor of at least 0.")
        if factor == 0.0:
            return self.reindexed(np.full(self.n_actions, -1))
        inverses, changes = shrunken(self.inverses, factor, self.ridge)
        prefix = self.prefix_inverses
        return replace(
            self,
            inverses=inverses,
            prefix_inverses=None if prefix is None else shrunken(prefix, factor, self.ridge)[0],
            coefficients=factor * np.einsum("kij,kj->ki", changes, self.coefficients),
            cross=factor * self.cross,
            squares=factor * self.squares,
            weights=factor * self.weights,
        )

    def reindexed(self, source: Ints) -> RecursiveRidge:
        """The regression when action k was action source[k] before, -1 if it is new."""
        return replace(
            self,
            inverses=_taken(self.inverses, source, np.eye(self.n_columns) / self.ridge),
            prefix_inverses=None
            if self.prefix_inverses is None
            else _taken(self.prefix_inverses, source, np.eye(self.prefix_inverses.shape[1]) / self.ridge),
            coefficients=_taken(self.coefficients, source, 0.0),
            cross=_taken(self.cross, source, 0.0),
            squares=_taken(self.squares, source, 0.0),
            weights=_taken(self.weights, source, 0.0),
        )

    def _copied(self) -> RecursiveRidge:
        """A copy whose arrays can be changed in place."""
        return replace(
            self,
            inverses=self.inverses.copy(),
            prefix_inverses=None if self.prefix_inverses is None else self.prefix_inverses.copy(),
            coefficients=self.coefficients.copy(),
            cross=self.cross.copy(),
            squares=self.squares.copy(),
            weights=self.weights.copy(),
        )


@dataclass(frozen=True, slots=True)
class RecursiveModel:
    """Estimates of a recursive regression, clipped to `bounds`, plus `bonus` times their widths."""

    basis: FeatureMap
    coefficients: Floats  # (K, d)
    matrices: Floats  # (K, q, q): widths are those of the first q columns
    bonus: float
    bounds: tuple[float, float] | None
    known: Bools | None  # (K,) actions with data; None: all

    def scores(self, contexts: Contexts) -> Floats:
        """Estimates plus bonus times widths, (n, K)."""
        phi = columns_of(self.basis, contexts)
        columns = self._means(phi, contexts.eligible)
        if self.bonus != 0.0:
            columns += self.bonus * self._widths(phi)
        return columns.T

    def means(self, contexts: Contexts) -> Floats:
        """The estimates alone, (n, K); an action without data has just more than the best of the others."""
        return self._means(columns_of(self.basis, contexts), contexts.eligible).T

    def widths(self, contexts: Contexts) -> Floats:
        """The length of phi in the inverse of the regularised Gram matrix, (n, K)."""
        return self._widths(columns_of(self.basis, contexts)).T

    def _means(self, phi: Floats, eligible: Bools | None) -> Floats:
        columns = inner_products(self.coefficients, phi)
        if self.bounds is not None:
            np.clip(columns, *self.bounds, out=columns)
        if self.known is not None:
            fill_unknown(columns, self.known, eligible, eager=True)
        return columns

    def _widths(self, phi: Floats) -> Floats:
        squares = quadratic_forms(self.matrices, np.ascontiguousarray(phi[:, : self.matrices.shape[1]]))
        return np.sqrt(squares, out=squares)


def columns_of(basis: FeatureMap, contexts: Contexts) -> Floats:
    """The columns [1, basis(x)], (n, 1 + D)."""
    features = basis.expand(contexts.shared)
    phi = np.empty((len(features), 1 + features.shape[1]))
    phi[:, 0] = 1.0
    phi[:, 1:] = features
    return phi


def _parts(log: Log) -> Iterator[tuple[int, Log]]:
    if len(log) <= _ROWS_AT_ONCE:
        yield 0, log
        return
    for start in range(0, len(log), _ROWS_AT_ONCE):
        yield start, log.take(slice(start, start + _ROWS_AT_ONCE))


def by_action(action: Ints) -> tuple[Ints, list[tuple[int, slice]]]:
    """An order that groups rows by action, and each action that was taken with its slice of the order."""
    order = np.argsort(action, kind="stable")
    ends = np.cumsum(np.bincount(action)).tolist()
    places = enumerate(zip([0, *ends], ends, strict=False))
    return order, [(k, slice(start, end)) for k, (start, end) in places if start < end]


def _taken(values: Floats, source: Ints, new: float | Floats) -> Floats:
    """The values of action source[k] at k, and `new` where that is -1."""
    taken: Floats = values[source]
    taken[source < 0] = new
    return taken

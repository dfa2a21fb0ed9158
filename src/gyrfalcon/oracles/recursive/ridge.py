"""Recursive ridge regression per action: rank-k updates of the inverse Gram matrix, batch by batch.

The state is the inverse P = (A + ridge)^-1 of an action's regularised Gram matrix, and coefficients that are
moved by the errors of new rows alone. Rounding errors do not accumulate: what earlier rows left in P and
theta shrinks in the directions of new ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.records import Log
from gyrfalcon.oracles.features.bases import FeatureMap
from gyrfalcon.oracles.features.design import columns_of
from gyrfalcon.oracles.recursive.model import RecursiveModel

N_PREFIX = 128
_ROWS_AT_ONCE = 1 << 12
"""Rows whose features are held at a time, to bound the memory that a long log needs."""


@dataclass(frozen=True, slots=True)
class RecursiveRidge:
    """Ridge regression of the rewards of each of K actions on phi = [1, basis(x)], d columns.

    It minimises sum (r - phi'theta)^2 + ridge |theta|^2. Features of actions are ignored. Columns should have
    scales of about 1, which `StandardisedMap` gives them: the ridge acts on unscaled columns.

    >>> from gyrfalcon.core.contexts import Contexts
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
            inverses=np.tile(np.eye(d) / ridge, (n_actions, 1, 1)),
            prefix_inverses=np.tile(np.eye(n_prefix) / ridge, (n_actions, 1, 1)) if n_prefix < d else None,
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

    def centered(self, center: float) -> Floats:
        """(K, d): coefficients of the fit that shrinks towards a mean reward in place of 0."""
        return self.coefficients + self.ridge * center * self.inverses[:, :, 0]

    @property
    def residual_variance(self) -> float:
        """The mean squared error of the fit on its own rows; 0 without any."""
        return self.centered_variance(0.0)

    def centered_variance(self, center: float) -> float:
        """The mean squared error of the fit that shrinks towards a mean reward on its own rows."""
        # Of rewards less the mean; theta'A e_0 is cross_0 - ridge theta_0, without the Gram matrix A.
        theta = self.centered(center) - center * np.eye(1, self.n_columns)
        first = self.cross[:, 0] - center * self.weights
        squares = self.squares - center * (self.cross[:, 0] + first)
        fitted = np.einsum("kd,kd->", theta, self.cross + self.ridge * theta)
        constant = center * (first - self.ridge * theta[:, 0])
        return max(float((squares + constant).sum()) - float(fitted), 0.0) / max(self.n, 1e-300)

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
        arrays = ("inverses", "prefix_inverses", "coefficients", "cross", "squares", "weights")
        copies = {name: array.copy() for name in arrays if (array := getattr(self, name)) is not None}
        after = replace(self, **copies)
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            for start in range(0, len(log), _ROWS_AT_ONCE):
                here = slice(start, start + _ROWS_AT_ONCE)
                part = log.take(here) if len(log) > _ROWS_AT_ONCE else log
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
        phi, reward, leverages = phi[order], log.reward[order], np.empty(len(log))
        # Work space is allocated once: that costs more than the sums.
        room = np.empty(self.inverses.shape[1:])
        prefix = self.prefix_inverses
        prefix_room = None if prefix is None else np.empty(prefix.shape[1:])
        for action, part in played:
            f, r = phi[part], reward[part]
            errors = r - f @ self.coefficients[action]
            change, leverages[order[part]] = updated_inverse(self.inverses[action], f, errors, room)
            self.coefficients[action] += change
            if prefix is not None and prefix_room is not None:
                updated_inverse(prefix[action], f[:, : len(prefix_room)], errors, prefix_room)
            self.cross[action] += r @ f
            self.squares[action] += r @ r
            self.weights[action] += len(r)
        return leverages

    def predicted(self, log: Log) -> tuple[Floats, Floats]:
        """Estimate theta_a'phi and leverage phi'P_a phi of the action that was taken, (n,) each."""
        phi = columns_of(self.basis, log.contexts)
        values = np.einsum("nd,nd->n", phi, self.coefficients[log.action])
        leverages = np.empty(len(log))
        order, played = by_action(log.action)
        for action, part in played:
            f = phi[order[part]]
            leverages[order[part]] = np.einsum("nd,nd->n", f @ self.inverses[action], f)
        return values, np.maximum(leverages, 0.0, out=leverages)

    def model(
        self, bonus: float = 0.0, bounds: tuple[float, float] | None = None, center: float = 0.0
    ) -> RecursiveModel:
        """Scores: estimates, shrunk to `center`, clipped to bounds, plus `bonus` times their widths."""
        matrices = self.inverses if self.prefix_inverses is None else self.prefix_inverses
        return RecursiveModel(self.basis, self.centered(center), matrices, float(bonus), bounds, self.known)

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


def updated_inverse(inverse: Floats, f: Floats, errors: Floats, room: Floats) -> tuple[Floats, Floats]:
    """The change (d,) of an action's coefficients by rows (m, d) with these errors, and leverages (m,).

    The inverse P (d, d) is updated in place. Rows F take it to P - V'V with V = L^-1 F P and LL' = I + F P
    F', which stays exactly symmetric, and with errors e = r - F theta they move the coefficients by V' L^-1
    e. Leverages are those before the update. `room` is work space of the shape of P.
    """
    from scipy.linalg.lapack import dtrtrs

    n, width = f.shape
    if n >= width:
        leverages = np.einsum("nd,nd->n", f @ inverse, f)
        inverse[...] = inverse_of(inverse_of(inverse) + f.T @ f)
        return np.asarray(inverse @ (errors @ f)), np.maximum(leverages, 0.0)
    sides = np.empty((n, width + 1))
    towards, sides[:, -1] = sides[:, :-1], errors
    np.matmul(f, inverse, out=towards)
    spread = towards @ f.T
    leverages = np.maximum(spread.diagonal(), 0.0)
    spread.flat[:: n + 1] += 1.0
    solved = dtrtrs(_triangle(spread), sides, lower=0, trans=1)[0]
    v = np.ascontiguousarray(solved[:, :-1])
    inverse -= np.matmul(v.T, v, out=room)
    return np.asarray(solved[:, -1] @ v), leverages


def inverse_of(matrix: Floats) -> Floats:
    """The exactly symmetric inverse of a positive definite matrix.

    >>> inverse_of(np.array([[2.0, 1.0], [1.0, 1.0]])).round(12).tolist()
    [[1.0, -1.0], [-1.0, 2.0]]
    """
    from scipy.linalg.lapack import dpotri

    upper = np.triu(dpotri(_triangle(matrix))[0])
    return np.asarray(upper + np.triu(upper, 1).T)


def shrunken(inverses: Floats, factor: float, ridge: float) -> tuple[Floats, Floats]:
    """(K, d, d) each: the inverses where A is `factor` times what it was, and what they are multiplied by.

    >>> shrunken(np.array([[[0.2]]]), factor=0.5, ridge=1.0)[0].round(12).tolist()  # 1 / (4 + 1), 1 / (2 + 1)
    [[[0.333333333333]]]
    """
    eye = np.eye(inverses.shape[1])
    changes = np.stack([inverse_of(factor * eye + (1.0 - factor) * ridge * own) for own in inverses])
    products = inverses @ changes  # of matrices that commute: only rounding is not symmetric
    return (products + products.mT) / 2.0, changes


def _triangle(matrix: Floats) -> Floats:
    """The upper triangle R in Fortran's order with R'R = matrix; what is below it is undefined."""
    from scipy.linalg.lapack import dpotrf

    triangle, info = dpotrf(matrix, clean=0)
    if info != 0 or not np.isfinite(triangle[-1, -1]):
        raise ValueError(
            "Features or rewards are not finite, or too large for a recursive fit (products of up to "
            f"{np.abs(matrix).max():.1e}); drop such rows, or standardise the features first."
        )
    return np.asarray(triangle)

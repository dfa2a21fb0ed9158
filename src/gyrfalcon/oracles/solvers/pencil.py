"""Coordinates in which active and passive squared error are both sums of squares, one term per coordinate.

With theta = T y, the mean active error is sum (s y - u)^2 and the mean passive error sum (c y - v)^2, each
plus a rest that no coefficients change, and s^2 + c^2 = 1 wherever rows identify anything.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.oracles.linalg.lapack import eigh
from gyrfalcon.oracles.linalg.whitening import Whitening, quick_whitening, whitened_gram, whitened_rows
from gyrfalcon.oracles.solvers.least_squares import penalty_rows, rows_fit
from gyrfalcon.oracles.solvers.moments import Moments
from gyrfalcon.oracles.solvers.secular import shares
from gyrfalcon.oracles.solvers.side import PLAINLY_SEEN, Side, divided, own_gram, own_rows

_CLEARLY_IDENTIFIED = 1e-6
"""A coordinate with more than this share of a side's form is above rounding whatever that side's rank."""

_ROUNDING = 64.0 * float(np.finfo(np.float64).eps)
"""Rounding of what is summed over a block's rows, beside a condition of 1."""


@dataclass(frozen=True, slots=True)
class Pencil:
    """Both forms in common coordinates; arrays are (B, d), zero where a coordinate is not identified."""

    whitening: Whitening
    rotation: Floats
    """(B, d, d): from these coordinates to the whitening's."""
    s: Floats
    c: Floats
    u: Floats
    v: Floats
    passive_rest: float
    """Mean passive error that no coefficients explain."""
    distinct: bool
    """Whether a gap separates what is identified from what was taken for rounding."""
    clean: bool
    """Whether nothing but zero columns was left out as not identified, by either side or both."""

    @property
    def identified(self) -> Bools:
        """(B, d): coordinates that the rows of either side see."""
        return (self.s > 0.0) | (self.c > 0.0)

    def coefficients(self, y: Floats) -> Floats:
        """The (B, d) coefficients of coordinates, of least norm."""
        whitened = np.einsum("bij,bj->bi", self.rotation, y)
        return self.whitening.shortest(np.einsum("bij,bj->bi", self.whitening.basis, whitened))

    def pull(self, gradient: Floats) -> Floats:
        """The (B, d) gradient in coordinates of one in coefficients."""
        whitened = np.einsum("bij,bi->bj", self.whitening.basis, gradient)
        return np.asarray(np.einsum("bij,bi->bj", self.rotation, whitened))

    def coordinates(self, coefficients: Floats) -> Floats:
        """The (B, d) coordinates of coefficients."""
        return np.asarray(np.einsum("bij,bi->bj", self.rotation, self.whitening.coordinates(coefficients)))


def gram_pencil(active: Moments, passive: Moments, penalty: Floats) -> Pencil:
    """The pencil from Gram matrices: whiten their sum, then diagonalise the passive one."""
    n, n_passive = _scale(active), _scale(passive)
    active_form, passive_form = active.gram / n, passive.gram / n_passive
    if penalty.any():
        active_form += np.diag(penalty / n)
    whitening = whitened_gram(active_form + passive_form)
    basis, null = whitening.basis, ~whitening.kept
    turned = basis.mT @ (passive_form @ basis)
    if null.any():
        # Coordinates that are not identified get the eigenvalue -1, which keeps them apart from all others.
        turned -= null[:, None, :] * np.eye(null.shape[1])
    c_squared, rotation = eigh(turned)
    identified = c_squared > -0.5
    rounding = _ROUNDING * whitening.conditions**2
    active_side = Side.of(
        _rest_of_one(c_squared, active_form, basis, rotation),
        _turned(active.cross, basis, rotation) / n,
        active.squares / n,
        identified,
        rounding,
        rounding,
        None if penalty.all() else lambda: own_gram(active_form, whitening.scale),
    )
    passive_side = Side.of(
        c_squared,
        _turned(passive.cross, basis, rotation) / n_passive,
        passive.squares / n_passive,
        identified,
        rounding,
        rounding,
        lambda: own_gram(passive_form, whitening.scale),
    )
    rest = float(passive.squares.sum()) / n_passive - float((passive_side.target**2).sum())
    clean = (
        _sees_all(active_side.length > 0.0, active_form)
        and _sees_all(passive_side.length > 0.0, passive_form)
        and _sees_all(identified, active_form + passive_form)
    )
    return _pencil(whitening, rotation, active_side, passive_side, max(rest, 0.0), clean)


def _turned(vectors: Floats, basis: Floats, rotation: Floats) -> Floats:
    """(B, d) vectors of pulls in whitened coordinates, then in the common ones."""
    return np.asarray((rotation.mT @ (basis.mT @ vectors[:, :, None]))[:, :, 0], dtype=np.float64)


def _rest_of_one(c_squared: Floats, active_form: Floats, basis: Floats, rotation: Floats) -> Floats:
    """The active squared lengths: what the passive ones leave of 1, measured anew where that would cancel."""
    rest = 1.0 - c_squared
    if (rest > 0.01).all():
        return rest
    common = basis @ rotation
    return np.asarray(np.einsum("bij,bij->bj", common, active_form @ common), dtype=np.float64)


def mixed_pencil(active: Moments, passive: Moments, penalty: Floats) -> Pencil | None:
    """The pencil where passive rows alone see too little: both sides' Gram matrix, and the passive root.

    None unless both sides together are well conditioned, active rows see all, and it is beyond doubt which
    coordinates passive rows see: a singular value that is neither plain nor rounding wants the roots of both.
    """
    assert passive.root is not None
    n, rows = _scale(active), passive.root / np.sqrt(_scale(passive))
    active_form = active.gram / n + np.diag(penalty / n)
    whitening = quick_whitening(active_form + passive.gram / _scale(passive))
    if whitening is None:
        return None
    c, v, rest, rotation = _passive_axes(rows[:, :, :-1] @ whitening.basis, rows[:, :, -1])
    plain = c > PLAINLY_SEEN
    if (c > _ROUNDING * whitening.conditions[:, None])[~plain].any():
        return None
    c, v = np.where(plain, c, 0.0), np.where(plain, v, 0.0)
    s_squared = _rest_of_one(c**2, active_form, whitening.basis, rotation)
    if not (s_squared > _CLEARLY_IDENTIFIED).all():
        return None
    s = np.sqrt(s_squared)
    u = _turned(active.cross, whitening.basis, rotation) / n / s
    return Pencil(whitening, rotation, s, c, u, v, rest, distinct=True, clean=True)


def _passive_axes(columns: Floats, target: Floats) -> tuple[Floats, Floats, float, Floats]:
    """Singular values (B, d) of columns, targets along them, what these leave, and the right vectors."""
    left, values, right = np.linalg.svd(columns)
    missing = columns.shape[2] - values.shape[1]
    along = np.einsum("bij,bi->bj", left, target)
    seen = along[:, : values.shape[1]] * (values > PLAINLY_SEEN)
    residual = target - np.einsum("bij,bj->bi", left[:, :, : values.shape[1]], seen)
    c, v = (np.pad(part, ((0, 0), (0, missing))) for part in (values, seen))
    return c, v, float((residual**2).sum()), right.mT


def root_pencil(active: Moments, passive: Moments, penalty: Floats) -> Pencil:
    """The pencil from roots: singular vectors of the stacked rows, then their cosine-sine decomposition."""
    active_rows, passive_rows = _mean_rows(active, passive, penalty)
    split, end = active_rows.shape[1], active_rows.shape[1] + passive_rows.shape[1]
    whitening = whitened_rows(np.concatenate([active_rows, passive_rows], axis=1)[:, :, :-1])
    assert whitening.left is not None
    left = whitening.left * whitening.kept[:, None, :]
    rotation, identified = _common_axes(left[:, :split], left[:, split:end], whitening.kept)
    active_axes, passive_axes = left[:, :split] @ rotation, left[:, split:end] @ rotation
    active_target, passive_target = active_rows[:, :, -1], passive_rows[:, :, -1]
    rounding = _ROUNDING * whitening.conditions
    active_side = Side.of(
        (active_axes**2).sum(axis=1),
        np.einsum("bmj,bm->bj", active_axes, active_target),
        (active_target**2).sum(axis=1),
        identified,
        rounding**2,
        rounding,
        None if penalty.all() else lambda: own_rows(active_rows, whitening.scale),
    )
    passive_side = Side.of(
        (passive_axes**2).sum(axis=1),
        np.einsum("bmj,bm->bj", passive_axes, passive_target),
        (passive_target**2).sum(axis=1),
        identified,
        rounding**2,
        rounding,
        lambda: own_rows(passive_rows, whitening.scale),
    )
    fitted = divided(passive_side.target, passive_side.length)
    residual = passive_target - np.einsum("bmj,bj->bm", passive_axes, fitted)
    return _pencil(whitening, rotation, active_side, passive_side, float((residual**2).sum()), clean=True)


def root_refit(active: Moments, passive: Moments, penalty: Floats, multiplier: float) -> tuple[Floats, Ints]:
    """The (B, d) fit at a known multiplier by one factorisation of the weighted rows, and each block's rank.

    It keeps the digits that turning to common coordinates costs when one side alone is ill conditioned; it
    does not know the limits of a multiplier of 0 or infinity where a side sees less than both do.
    """
    active_rows, passive_rows = _mean_rows(active, passive, penalty)
    active_share, passive_share = shares(multiplier)
    weighted = [active_rows * np.sqrt(active_share), passive_rows * np.sqrt(passive_share)]
    theta, whitening = rows_fit(np.concatenate(weighted, axis=1))
    return theta, whitening.kept.sum(axis=1)


def _mean_rows(active: Moments, passive: Moments, penalty: Floats) -> tuple[Floats, Floats]:
    """Both roots, the active one with the penalty's rows, divided so that squares are means over rows."""
    assert active.root is not None
    assert passive.root is not None
    active_rows = np.concatenate([active.root, penalty_rows(penalty, len(active.root))], axis=1)
    return active_rows / np.sqrt(_scale(active)), passive.root / np.sqrt(_scale(passive))


def _common_axes(active: Floats, passive: Floats, kept: Bools) -> tuple[Floats, Bools]:
    """(B, d, d) rotations that make the columns of both parts orthogonal, and which columns are identified.

    The two parts together have orthonormal columns. Singular vectors of one part separate its small singular
    values but not those near one, where the other part's are small: those are separated by the other part.
    """
    _, cosines, turned = _marked_svd(passive, ~kept)
    rotation = turned.mT
    near_one = (cosines > np.sqrt(0.5)) & (cosines < 1.5)
    _, _, turned = _marked_svd((active @ rotation) * near_one[:, None, :], ~near_one)
    rotation = rotation @ turned.mT
    identified = np.einsum("bij,bi->bj", rotation**2, kept.astype(np.float64)) > 0.5
    return rotation, identified


def _marked_svd(columns: Floats, apart: Bools) -> tuple[Floats, Floats, Floats]:
    """The SVD of columns of norm at most one, where zero columns set `apart` stay unmixed with any other.

    Each gets a singular value of its own, from 2 up, by a row of its own.
    """
    marks = np.eye(apart.shape[1]) * np.arange(2.0, apart.shape[1] + 2.0)
    stack = np.concatenate([columns, apart[:, :, None] * marks], axis=1)
    left, values, right = np.linalg.svd(stack, full_matrices=False)
    return left, values, right


def _pencil(
    whitening: Whitening, rotation: Floats, active: Side, passive: Side, rest: float, clean: bool
) -> Pencil:
    distinct = whitening.distinct and active.distinct and passive.distinct
    s, c, u, v = active.length, passive.length, active.target, passive.target
    return Pencil(whitening, rotation, s, c, u, v, rest, distinct, clean)


def _sees_all(seen: Bools, form: Floats) -> bool:
    """Whether each block sees as many coordinates as its form has columns that are not zero."""
    columns = (np.diagonal(form, axis1=1, axis2=2) > 0.0).sum(axis=1)
    return bool((seen.sum(axis=1) == columns).all())


def _scale(moments: Moments) -> float:
    """What sums are divided by; a side without rows has sums of 0 and keeps its ridge as it is."""
    return moments.n if moments.n > 0.0 else 1.0

"""Coordinates in which active and passive squared error are both sums of squares, one term per coordinate.

With theta = basis y, the mean active error is sum (s y - u)^2 and the mean passive error sum (c y - v)^2, each
plus a rest that no coefficients change, and s^2 + c^2 = 1 wherever rows identify anything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.types import Bools, Floats, Ints
from gyrfalcon.oracles.least_squares import Whitening, penalty_rows, whitened_gram, whitened_rows
from gyrfalcon.oracles.moments import Moments

_SURELY_SEEN = 1e-6
"""A coordinate with more than this share of a side's form is above rounding whatever that side's rank."""


@dataclass(frozen=True, slots=True)
class Pencil:
    """Both forms in common coordinates; arrays are (B, d), zero where a coordinate is not identified."""

    whitening: Whitening
    basis: Floats
    """(B, d, d)."""
    s: Floats
    c: Floats
    u: Floats
    v: Floats
    passive_rest: float
    """Mean passive error that no coefficients explain."""
    clean: bool
    """Whether nothing but zero columns was left out as not identified, by either side or both."""

    @property
    def identified(self) -> Bools:
        """(B, d): coordinates that the rows of either side see."""
        return (self.s > 0.0) | (self.c > 0.0)


def gram_pencil(active: Moments, passive: Moments, penalty: Floats) -> Pencil:
    """The pencil from Gram matrices: whiten their sum, then diagonalise the passive one."""
    n, n_passive = _scale(active), _scale(passive)
    active_form, passive_form = (active.gram + np.diag(penalty)) / n, passive.gram / n_passive
    whitening = whitened_gram(active_form + passive_form)
    basis, null = whitening.basis, ~whitening.kept
    # Coordinates outside the identified space get the eigenvalue -1, which keeps them apart from all others.
    marked = basis.mT @ passive_form @ basis - null[:, None, :] * np.eye(null.shape[1])
    c_squared, rotation = np.linalg.eigh(marked)
    identified = c_squared > -0.5
    basis = basis @ rotation
    s_squared = np.einsum("bij,bij->bj", basis, active_form @ basis)
    s = _root_above(s_squared, identified, lambda: _gram_rank(active_form))
    c = _root_above(c_squared, identified, lambda: _gram_rank(passive_form))
    u = _divided(np.einsum("bij,bi->bj", basis, active.cross) / n, s)
    v = _divided(np.einsum("bij,bi->bj", basis, passive.cross) / n_passive, c)
    rest = max(float(passive.squares.sum()) / n_passive - float((v * v).sum()), 0.0)
    clean = (
        _full_rank(s, active_form)
        and _full_rank(c, passive_form)
        and _full_rank(s + c, active_form + passive_form)
    )
    return Pencil(whitening, basis, s, c, u, v, rest, clean)


def root_pencil(active: Moments, passive: Moments, penalty: Floats) -> Pencil:
    """The pencil from roots: singular vectors of the stacked rows, then their cosine-sine decomposition."""
    assert active.root is not None
    assert passive.root is not None
    n, n_passive = _scale(active), _scale(passive)
    active_rows = np.concatenate([active.root, penalty_rows(penalty, len(active.root))], axis=1) / np.sqrt(n)
    passive_rows = passive.root / np.sqrt(n_passive)
    split, end = active_rows.shape[1], active_rows.shape[1] + passive_rows.shape[1]
    whitening = whitened_rows(np.concatenate([active_rows, passive_rows], axis=1)[:, :, :-1])
    assert whitening.left is not None
    left = whitening.left * whitening.kept[:, None, :]
    rotation, identified = _common_axes(left[:, :split], left[:, split:end], whitening.kept)
    active_axes, passive_axes = left[:, :split] @ rotation, left[:, split:end] @ rotation
    s = _root_above((active_axes**2).sum(axis=1), identified, lambda: _row_rank(active_rows))
    c = _root_above((passive_axes**2).sum(axis=1), identified, lambda: _row_rank(passive_rows))
    u = _divided(np.einsum("bmj,bm->bj", active_axes, active_rows[:, :, -1]), s)
    v = _divided(np.einsum("bmj,bm->bj", passive_axes, passive_rows[:, :, -1]), c)
    residual = passive_rows[:, :, -1] - np.einsum("bmj,bj->bm", passive_axes, _divided(v, c))
    clean = bool(whitening.kept.all())
    return Pencil(
        whitening, whitening.basis @ rotation, s, c, u, v, float((residual * residual).sum()), clean
    )


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


def _root_above(squares: Floats, identified: Bools, ranks: Callable[[], Ints]) -> Floats:
    """Square roots, with as many of the smallest set to zero in each block as its side's rank leaves over."""
    seen = np.where(identified, np.maximum(squares, 0.0), 0.0)
    if (seen > _SURELY_SEEN)[identified].all():
        return np.sqrt(seen)
    left_over = np.maximum(identified.sum(axis=1) - ranks(), 0)
    place = np.argsort(np.argsort(np.where(identified, seen, np.inf), axis=1), axis=1)
    return np.sqrt(np.where(place < left_over[:, None], 0.0, seen))


def _gram_rank(form: Floats) -> Ints:
    return whitened_gram(form).kept.sum(axis=1)


def _row_rank(rows: Floats) -> Ints:
    return whitened_rows(rows[:, :, :-1]).kept.sum(axis=1)


def _full_rank(values: Floats, form: Floats) -> bool:
    """Whether each block sees as many coordinates as its form has columns that are not zero."""
    columns = (np.diagonal(form, axis1=1, axis2=2) > 0.0).sum(axis=1)
    return bool(((values > 0.0).sum(axis=1) == columns).all())


def _divided(numerator: Floats, denominator: Floats) -> Floats:
    """The quotient, 0 where the denominator is 0."""
    seen = denominator > 0.0
    quotient: Floats = np.where(seen, numerator, 0.0) / np.where(seen, denominator, 1.0)
    return quotient


def _scale(moments: Moments) -> float:
    """What sums are divided by; a side without rows has sums of 0 and keeps its ridge as it is."""
    return moments.n if moments.n > 0.0 else 1.0

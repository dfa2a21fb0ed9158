"""Least squares on active rows under a bound on the squared error on passive rows.

Minimise mean active error + ridge |theta|^2 / n over theta, subject to mean passive error <= alpha + slack,
where alpha is that of the passive fit. Blocks of coefficients share the constraint and its one multiplier.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gyrfalcon.core.arrays import Floats
from gyrfalcon.oracles.linalg.conditioning import GRAM_CONDITION
from gyrfalcon.oracles.linalg.whitening import spread
from gyrfalcon.oracles.protocol import Slack
from gyrfalcon.oracles.solvers.least_squares import ROOT_CONDITION, least_squares, penalty_of
from gyrfalcon.oracles.solvers.moments import Moments, root_of
from gyrfalcon.oracles.solvers.pencil import Pencil, gram_pencil, mixed_pencil, root_pencil, root_refit
from gyrfalcon.oracles.solvers.row_validation import checked_rows
from gyrfalcon.oracles.solvers.secular import Secular

_ROWS_GRAM_CONDITION = 1e3
"""Where rows are at hand, QR takes over here: a Gram matrix of condition 1e4 can miss the slack by 1e-8."""


@dataclass(frozen=True, slots=True)
class ConstrainedFit:
    """Solution of constrained least squares, its multiplier, and how precise it is.

    Attributes
    ----------
    coefficients : array of float
        (d,), or (B, d) with blocks and from moments.
    multiplier : float
        Weight of the mean passive error in the objective: 0.0 for an inactive constraint, inf at slack 0.
    excess : float
        Mean passive error above alpha, up to rounding; below 0 only with a ridge, where alpha is not least.
    alpha : float
        Mean passive error of the passive fit, which has the same ridge.
    slack : float
        What the mean passive error may exceed alpha by.
    binding : bool
        Whether the constraint changes the fit.
    condition : float
        2-norm condition of the equilibrated pooled design, the worst block's; inf if rank deficient.
    solved_condition : float
        Condition of the system that was solved: the design times the spread of both sides' weights in it.
    accurate : bool
        Whether predictions keep about eight digits on what rows identify.
    rank : int
        Number of coefficients that rows or ridge identify.
    n_active : float
        Number of active rows, or the sum of their weights.
    n_passive : float
        Number of passive rows, or the sum of their weights.
    """

    coefficients: Floats
    multiplier: float
    excess: float
    alpha: float
    slack: float
    binding: bool
    condition: float
    solved_condition: float
    accurate: bool
    rank: int
    n_active: float
    n_passive: float


def constrained_least_squares(
    X: ArrayLike,
    r: ArrayLike,
    X_passive: ArrayLike,
    r_passive: ArrayLike,
    slack: float,
    ridge: float = 0.0,
    *,
    blocks: ArrayLike | None = None,
    blocks_passive: ArrayLike | None = None,
    n_blocks: int | None = None,
) -> ConstrainedFit:
    """Least squares on active rows under a bound on the passive error (Algorithm 1's fit).

    Minimises the squared error of active rows among coefficients whose mean passive squared error is at most
    `slack` above the least one. Solved by Gram matrices, and by QR of the rows where those would lose digits.

    Parameters
    ----------
    X : array_like
        (n, d) features of active rows.
    r : array_like
        (n,) rewards of active rows.
    X_passive : array_like
        (n', d) features of passive rows.
    r_passive : array_like
        (n',) rewards of passive rows.
    slack : float
        What the mean passive squared error may exceed its minimum by.
    ridge : float, default 0.0
        Ridge penalty in units of rows.
    blocks : array_like, optional
        (n,) block of coefficients that each active row belongs to, such as its action.
    blocks_passive : array_like, optional
        (n',) block of each passive row.
    n_blocks : int, optional
        Number of blocks; one more than the largest by default.

    Examples
    --------
    >>> fit = constrained_least_squares([[1.0], [1.0]], [1.0, 1.0], [[1.0], [1.0]], [0.0, 0.0], slack=0.04)
    >>> round(float(fit.coefficients[0]), 12), round(fit.multiplier, 12), fit.binding
    (0.2, 4.0, True)
    """
    active, passive = checked_rows(X, r, X_passive, r_passive, blocks, blocks_passive, n_blocks)
    sums = active.moments(), passive.moments()

    def with_roots() -> tuple[Moments, Moments]:
        return active.with_root(sums[0]), passive.with_root(sums[1])

    fit = _fits(*sums, [slack], ridge, with_roots, _ROWS_GRAM_CONDITION)[0]
    return fit if blocks is not None else dataclasses.replace(fit, coefficients=fit.coefficients[0])


def constrained_fit(
    active: Moments, passive: Moments, slack: Slack = math.inf, ridge: float | Floats = 0.0
) -> ConstrainedFit:
    """Constrained least squares of the rows behind two sets of moments.

    Parameters
    ----------
    active : Moments
        Moments of the active rows.
    passive : Moments
        Moments of the passive rows.
    slack : float or callable, default math.inf
        What the mean passive squared error may exceed alpha, its minimum, by; or a function of alpha.
    ridge : float or array of float, default 0.0
        Ridge penalty in units of rows, for all coefficients or for each.

    Examples
    --------
    >>> ones = [[1.0], [1.0]]
    >>> fit = constrained_fit(Moments.of(ones, [1.0, 1.0]), Moments.of(ones, [0.0, 0.0]), slack=1.0)
    >>> fit.coefficients.round(12).tolist(), fit.multiplier
    ([[1.0]], 0.0)
    """
    return constrained_fits(active, passive, [slack], ridge)[0]


def constrained_fits(
    active: Moments, passive: Moments, slacks: Sequence[Slack], ridge: float | Floats = 0.0
) -> list[ConstrainedFit]:
    """The constrained fits of the same rows for several slacks, at little more than the cost of one."""
    if active.gram.shape != passive.gram.shape:
        raise ValueError(
            f"Active moments have shape {active.gram.shape} and passive ones {passive.gram.shape}; "
            "give both the same blocks and features."
        )

    def with_roots() -> tuple[Moments, Moments] | None:
        if active.root is None and passive.root is None:
            return None
        roots = root_of(active), root_of(passive)
        if roots[0] is None or roots[1] is None:
            return None
        return dataclasses.replace(active, root=roots[0]), dataclasses.replace(passive, root=roots[1])

    return _fits(active, passive, slacks, ridge, with_roots, GRAM_CONDITION)


def _fits(
    active: Moments,
    passive: Moments,
    slacks: Sequence[Slack],
    ridge: float | Floats,
    with_roots: Callable[[], tuple[Moments, Moments] | None],
    gram_condition: float,
) -> list[ConstrainedFit]:
    """The fits from Gram matrices if these have the digits, else from roots if there are any.

    Gram matrices alone can't tell columns that are nearly collinear from columns that are: a fit that had to
    leave something out is then not called accurate.
    """
    for slack in slacks:
        if not callable(slack):
            _check_slack(slack)
    penalty = penalty_of(ridge, active.gram.shape[1])

    def solved(pencil: Pencil) -> list[ConstrainedFit]:
        return [_solved(active, passive, slack, penalty, pencil, gram_condition) for slack in slacks]

    quick = _quick_pencil(active, passive, penalty)
    fits = [] if quick is None else solved(quick)
    if quick is not None and quick.clean and all(fit.accurate for fit in fits):
        return fits
    rooted = with_roots()
    if rooted is not None:
        return _rooted_fits(*rooted, slacks, penalty)
    fits = fits or solved(gram_pencil(active, passive, penalty))
    return [dataclasses.replace(fit, accurate=False) for fit in fits]


def _check_slack(slack: float) -> None:
    if not slack >= 0.0:
        raise ValueError(f"slack is {slack}; give a mean squared error of at least 0, or math.inf.")


def _quick_pencil(active: Moments, passive: Moments, penalty: Floats) -> Pencil | None:
    """The pencil from Gram matrices; of fewer passive rows than columns, whose is never clean, the root."""
    if not _sees_too_little(passive):
        return gram_pencil(active, passive, penalty)
    return None if passive.root is None else mixed_pencil(active, passive, penalty)


def _rooted_fits(
    active: Moments, passive: Moments, slacks: Sequence[Slack], penalty: Floats
) -> list[ConstrainedFit]:
    """The fits from roots; where one was ill conditioned, by one more factorisation if that can."""
    pencil = root_pencil(active, passive, penalty)
    fits = [_solved(active, passive, slack, penalty, pencil, ROOT_CONDITION) for slack in slacks]
    return [_refined(fit, active, passive, penalty, pencil) for fit in fits]


def _refined(
    fit: ConstrainedFit, active: Moments, passive: Moments, penalty: Floats, pencil: Pencil
) -> ConstrainedFit:
    if fit.accurate and fit.solved_condition <= _ROWS_GRAM_CONDITION:
        return fit
    refit, ranks = root_refit(active, passive, penalty, fit.multiplier)
    same = (ranks == pencil.whitening.kept.sum(axis=1))[:, None]
    return dataclasses.replace(fit, coefficients=np.where(same, refit, fit.coefficients))


def _sees_too_little(moments: Moments) -> bool:
    """Whether a block has rows, but fewer than columns."""
    columns = np.count_nonzero(np.diagonal(moments.gram, axis1=1, axis2=2) > 0.0, axis=1)
    return bool(((moments.weight > 0.0) & (moments.weight < columns)).any())


def _solved(
    active: Moments, passive: Moments, slack: Slack, penalty: Floats, pencil: Pencil, limit: float
) -> ConstrainedFit:
    """The fit in the pencil's coordinates, brought back to coefficients."""
    secular = Secular(pencil.s, pencil.c, pencil.u, pencil.v)
    offset = _ridge_excess(passive, penalty, pencil)
    alpha = pencil.passive_rest + offset
    level = float(slack(alpha) if callable(slack) else slack)
    _check_slack(level)
    multiplier = secular.multiplier(level + offset)
    solved_condition = _solved_condition(pencil, secular, multiplier)
    return ConstrainedFit(
        coefficients=pencil.coefficients(secular.minimiser(multiplier)),
        multiplier=multiplier,
        excess=secular.excess(multiplier) - offset,
        alpha=alpha,
        slack=level,
        binding=multiplier > 0.0,
        condition=pencil.whitening.condition,
        solved_condition=solved_condition,
        accurate=pencil.distinct and solved_condition <= limit,
        rank=int(pencil.whitening.kept.sum()),
        n_active=active.n,
        n_passive=passive.n,
    )


def _ridge_excess(passive: Moments, penalty: Floats, pencil: Pencil) -> float:
    """Mean passive error of the passive ridge fit above that of the passive fit without ridge.

    It is taken in the same coordinates as every other excess: what rounding does to a poorly determined
    passive fit then cancels where the two are compared.
    """
    if not penalty.any() or passive.n == 0.0:
        return 0.0
    ridge_fit = least_squares(passive, penalty).coefficients
    difference = pencil.c * pencil.coordinates(ridge_fit) - pencil.v
    # Where passive rows see much, the ridge's normal equations give the difference without taking one.
    seen = pencil.c > 0.1
    shrinkage = pencil.pull(penalty * ridge_fit) / passive.n / np.where(seen, pencil.c, 1.0)
    return float((np.where(seen, shrinkage, difference) ** 2).sum())


def _solved_condition(pencil: Pencil, secular: Secular, multiplier: float) -> float:
    """Condition of what was solved: that of the pooled design times the spread of its coordinates' weights.

    Whether the constraint binds, and how far above alpha a fit is, is measured from the passive fit, so that
    the passive side's own spread counts always; where it binds the two fits are compared, and both count.
    """
    passive = spread(pencil.c**2, pencil.c > 0.0)
    spreads = np.maximum(spread(secular.curvature(multiplier), pencil.identified), passive)
    if multiplier > 0.0:
        spreads = np.maximum(spreads, spread(pencil.s**2, pencil.s > 0.0) * passive)
    return float((pencil.whitening.conditions * np.sqrt(spreads)).max(initial=1.0))

"""Statistics of what a linear class leaves of the rewards: added terms (RESET), and kernel moments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.records import Log
from gyrfalcon.estimates.misspecification.added_terms import added_terms, independent_part
from gyrfalcon.estimates.misspecification.crossfit import effective_number
from gyrfalcon.estimates.misspecification.passive_rows import spread_points
from gyrfalcon.estimates.misspecification.sign_flips import drawn_signs, exceedance, n_draws_of
from gyrfalcon.estimates.misspecification.smoother import Smoother
from gyrfalcon.oracles.features.design import Layout
from gyrfalcon.oracles.linear.linear import LinearOracle

LARGEST_LEVERAGE = 0.99
_NORMAL_KURTOSIS = 3.0
_SKEWED_FIT, _SKEWED_SUM = 0.25, 0.23
"""Skewness of sums, times coefficients, from which powers of fitted values mislead, and from which all do."""
RESET_DRAWS, KERNEL_DRAWS = 999, 399
BANDWIDTHS = (2.0, 1.0, 0.5)
"""Bandwidths of the kernel test, in multiples of sqrt(d) n^(-1/(4 + d)) standard deviations."""


@dataclass(frozen=True, slots=True)
class Residuals:
    """The unpenalised weighted fit of a linear class, and what it leaves of the rewards."""

    log: Log
    smoother: Smoother
    roots: Floats
    """(n,): roots of the weights."""
    values: Floats
    """(n,): roots of the weights times residuals."""
    leverages: Floats
    """(n,)."""
    fitted: Floats
    """(n,)."""
    within_actions: bool
    """Whether rows of other actions say nothing of an action's rewards."""

    @staticmethod
    def of(oracle: LinearOracle, log: Log, weights: Floats | None) -> Residuals:
        """The fit of these rows and its residuals."""
        roots = np.ones(len(log)) if weights is None else np.sqrt(weights)
        smoother = Smoother.of(oracle, log, penalised=False, weights=weights)
        left = smoother.residuals(roots * log.reward)
        separate = oracle.design.layout is Layout.PER_ACTION or log.contexts.actions is None
        return Residuals(log, smoother, roots, left, smoother.leverages, log.reward - left / roots, separate)

    def corrected(self, power: int) -> Floats:
        """The values over (1 - leverage)^(power / 2): power 1 is HC2's correction, 2 HC3's."""
        return np.asarray(
            self.values / np.maximum(1.0 - self.leverages, 1.0 - LARGEST_LEVERAGE) ** (power / 2)
        )

    @property
    def n_spare(self) -> float:
        """Number of rows less that of coefficients."""
        return len(self.log) - self.smoother.degrees


@dataclass(frozen=True, slots=True)
class Outcome:
    """A statistic with its p value."""

    statistic: float
    n_terms: int
    p_value: float
    by_block: dict[int, float]


def added_terms_test(found: Residuals, *, seed: int = 0) -> Outcome:
    """RESET: whether terms that the class lacks explain residuals, by a score test of sign flips.

    With orthonormal columns U of the scores, in which row i is its terms times its residual, the statistic is
    |U'1|^2 up to the correction for leverages: robust to unequal noise, and about chi-square with as many
    degrees as terms. Its distribution is that of |U's|^2 over random signs s.
    """
    points = spread_points(found.log)
    signs = drawn_signs(len(points), n_draws_of(len(points), RESET_DRAWS), seed)
    total, drawn, n_terms, by_block = 0.0, np.zeros(signs.shape[1]), 0, {}
    blocks = found.smoother.blocks
    shared = bool((found.log.action != blocks).any())
    for rows in found.smoother.by_block():
        own, directions = _block_scores(found, rows, points[rows], shared=shared)
        if not directions.shape[1]:
            continue
        flipped = ((directions.T @ signs[rows]) ** 2).sum(axis=0)
        by_block[int(blocks[rows[0]])] = exceedance(own, flipped)
        total, drawn, n_terms = total + own, drawn + flipped, n_terms + directions.shape[1]
    p_value = exceedance(total, drawn) if n_terms else 1.0
    return Outcome(total, n_terms, p_value, {} if shared else by_block)


def _block_scores(found: Residuals, rows: Ints, points: Floats, *, shared: bool) -> tuple[float, Floats]:
    """The statistic of one block, and orthonormal columns that span the scores of its terms, (n, q).

    Sums of scores hold the noise of all rows, as terms are orthogonal to the class's columns; residuals hold
    less, the more so the higher a row's leverage, which HC3's correction gives back to their squares.
    """
    if _skewness(found, rows) > _SKEWED_SUM:
        return 0.0, np.empty((len(rows), 0))
    roots, own = found.roots[rows], found.smoother.coordinates[rows]
    terms = added_terms(
        points,
        None if _fit_follows_noise(found, rows) else found.fitted[rows],
        found.log.action[rows],
        _effective_rows(found, rows),
        shared=shared,
    )
    left = independent_part(terms * roots[:, np.newaxis], own)
    if not left.shape[1]:
        return 0.0, left
    basis, values, rotation = np.linalg.svd(left * found.corrected(2)[rows, np.newaxis], full_matrices=False)
    kept = values > 1e-9 * max(float(values[0]), np.finfo(np.float64).tiny)
    summed = rotation[kept] @ (left.T @ found.values[rows]) / values[kept]
    return float(summed @ summed), np.asarray(basis[:, kept])


def _effective_rows(found: Residuals, rows: Ints) -> float:
    """Rows of normal noise that would tell as much of sums of scores, if few of these hold most variance.

    A hundred clicks in 10,000 rows do: random signs of so few look like sums of them only in few terms.
    """
    squares = _noise_of(found, rows) ** 2
    fourth = float(squares @ squares)
    by_noise = _NORMAL_KURTOSIS * float(squares.sum()) ** 2 / fourth if fourth > 0.0 else np.inf
    by_skewness = 1.0 / max(_skewness(found, rows), 1e-12) ** 2
    return min(effective_number(found.roots[rows] ** 2), by_noise, by_skewness)


def _skewness(found: Residuals, rows: Ints) -> float:
    """Skewness of the sum of a block's noise, which random signs lack: of m rare clicks 1 / sqrt(m)."""
    noise = _noise_of(found, rows)
    size = float(noise @ noise) ** 1.5
    return abs(float((noise**3).sum())) / size if size > 0.0 else 0.0


def _fit_follows_noise(found: Residuals, rows: Ints) -> bool:
    """Whether noise is so skewed that squares of fitted values would explain what the fit has of it.

    The fit goes towards the rows with the largest rewards. With d coefficients and a skewness g of the sum
    of all noise, that moves the sum of squares of fitted values times residuals by g d / sqrt(2) deviations.
    """
    own = found.smoother.coordinates[rows]
    return _skewness(found, rows) * float((own**2).sum()) > _SKEWED_FIT


def _noise_of(found: Residuals, rows: Ints) -> Floats:
    """What rows of a block add to its weighted sums by their noise, (n,)."""
    return np.asarray(found.roots[rows] * found.values[rows])


def kernel_test(found: Residuals, *, seed: int = 0) -> Outcome:
    """Whether residuals of near contexts and the same action go together, by the wild bootstrap.

    For each of three bandwidths the sum over pairs of K_ij s_i s_j, s being weighted residuals, over its
    standard deviation 2 sum K_ij^2 s_i^2 s_j^2; the statistic is the largest. Draws change the signs of
    residuals and are fitted again.
    """
    points, n = spread_points(found.log), len(found.log)
    signs = drawn_signs(n, n_draws_of(n, KERNEL_DRAWS), seed + 1)
    drawn = np.column_stack([found.values, signs * found.corrected(1)[:, np.newaxis]])
    for rows in found.smoother.by_block():
        own = found.smoother.coordinates[rows]
        drawn[rows, 1:] -= own @ (own.T @ drawn[rows, 1:])
    drawn *= found.roots[:, np.newaxis]
    groups = found.log.action if found.within_actions else np.zeros(n, dtype=np.int64)
    sums = np.zeros((len(BANDWIDTHS), drawn.shape[1]))
    variances = np.zeros(len(BANDWIDTHS))
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        part, variance = _kernel_sums(points[rows], drawn[rows])
        sums, variances = sums + part, variances + variance
    usable = variances > 0.0
    if not usable.any():
        return Outcome(0.0, 0, 1.0, {})
    ratios = (sums[usable] / np.sqrt(variances[usable])[:, np.newaxis]).max(axis=0)
    return Outcome(float(ratios[0]), 0, exceedance(float(ratios[0]), ratios[1:]), {})


def _kernel_sums(points: Floats, drawn: Floats) -> tuple[Floats, Floats]:
    """Sums over pairs for each bandwidth and draw, (H, B), and their variances, (H,)."""
    n, d = points.shape
    unit = np.sqrt(max(d, 1)) * n ** (-1.0 / (4.0 + d))
    squares = (points**2).sum(axis=1)
    distances = np.maximum(squares[:, np.newaxis] + squares - 2.0 * (points @ points.T), 0.0)
    kernel = np.exp(distances / (-2.0 * (BANDWIDTHS[0] * unit) ** 2))
    np.fill_diagonal(kernel, 0.0)
    own = drawn[:, 0] ** 2
    sums, variances = [], []
    for _ in BANDWIDTHS:
        sums.append(np.einsum("nb,nb->b", drawn, kernel @ drawn))
        variances.append(2.0 * float(own @ (kernel**2 @ own)))
        kernel = kernel**4  # half the bandwidth
    return np.array(sums), np.array(variances)

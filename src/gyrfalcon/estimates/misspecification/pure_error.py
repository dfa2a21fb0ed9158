"""B1: the misspecification from replicates: rows of the same context and action differ by noise only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.optimize import brentq
from scipy.special import ncfdtr

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.records import Log
from gyrfalcon.core.validation import check_level
from gyrfalcon.estimates.misspecification.crossfit import RiskEstimate, best_risk
from gyrfalcon.estimates.misspecification.passive_rows import groups, passive_rows, unseen_note
from gyrfalcon.estimates.misspecification.result import (
    MisspecificationEstimate,
    NotEstimableError,
    mean_and_error,
    quantile,
)
from gyrfalcon.estimates.misspecification.smoother import Smoother
from gyrfalcon.oracles.linear.linear import LinearOracle
from gyrfalcon.oracles.protocol import AnyOracle


def noncentrality_interval(F: float, df1: float, df2: float, level: float) -> tuple[float, float]:
    """The noncentralities under which F lies within the middle `level` of its distribution.

    An end is 0 where F is too small even for a noncentrality of 0.

    >>> low, high = noncentrality_interval(4.0, 3, 20, 0.95)
    >>> round(low, 3), round(high, 3)
    (0.111, 29.644)
    """
    tail = (1.0 - level) / 2.0
    return _noncentrality(F, df1, df2, 1.0 - tail), _noncentrality(F, df1, df2, tail)


def _noncentrality(F: float, df1: float, df2: float, share: float) -> float:
    """The noncentrality under which a share of the distribution is below F; it falls as that grows."""

    def excess(noncentrality: float) -> float:
        return float(ncfdtr(df1, df2, noncentrality, F)) - share

    if excess(0.0) <= 0.0:
        return 0.0
    high = max(df1 * F, 1.0)
    while excess(high) > 0.0:
        high *= 2.0
    return float(brentq(excess, 0.0, high, xtol=1e-12 * high, rtol=1e-12))


MIN_REPLICATES = 10
EQUAL = "Contexts recur exactly, and rewards have normal noise of the same variance everywhere."
UNEQUAL = (
    "Contexts recur exactly, rows are independent of each other, and contexts that came once are like those "
    "that came again."
)
SATURATED = (
    "Rows are independent of each other. The upper end is the mean squared error of the class, noise "
    "included; b is 0 if no contexts come but those that came."
)


@dataclass(frozen=True, slots=True)
class Replicates:
    """Rows by context and action: how many, their scatter, and what the fit leaves of their mean."""

    labels: Ints
    """(n,): the group of each row."""
    sizes: Ints
    """(G,)."""
    means: Floats
    """(G,): mean residual."""
    variances: Floats
    """(G,): sample variance of the rewards, 0 in groups of one."""
    leverages: Floats
    """(G,): the same for all rows of a group."""
    noise: Floats
    """(G,): the variance of the mean residual, fit included."""

    @property
    def n(self) -> int:
        """Number of passive rows, n."""
        return len(self.labels)

    @property
    def n_spare(self) -> int:
        """Degrees of freedom of pure error: rows beyond the first of each group."""
        return len(self.labels) - len(self.sizes)

    @property
    def repeated(self) -> Bools:
        """(G,): groups of at least two rows."""
        return self.sizes > 1


def pure_error(
    log: Log,
    oracle: AnyOracle,
    *,
    n_actions: int,
    level: float = 0.95,
    noise: Literal["equal", "unequal"] = "unequal",
    weights: Floats | None = None,
) -> MisspecificationEstimate:
    """What the fit leaves of group means, beyond what scatter within groups explains, as b.

    With "unequal" noise, b is the mean product of residuals over all pairs within groups: any noise will do,
    such as that of rewards 0 and 1. With "equal" noise the interval inverts the noncentral F distribution of
    the lack-of-fit test, widened for contexts that were drawn; the fit is then without a ridge. With weights,
    which stand for uniform play, a row counts by its weight; noise is then "unequal".
    """
    check_level(level)
    if noise not in ("equal", "unequal"):
        raise ValueError(f"noise is {noise!r}; choose 'equal' or 'unequal'.")
    if weights is not None and noise == "equal":
        raise ValueError(
            "noise is 'equal' and rows are weighted by propensities, so that no F distribution holds; choose "
            "noise='unequal', or rows='passive'."
        )
    rows = passive_rows(log) if weights is None else log
    if not isinstance(oracle, LinearOracle):
        raise NotEstimableError(
            "pure error needs a linear class; choose method='residual_products' or 'one_step' for others."
        )
    smoother = Smoother.of(oracle, rows, penalised=noise == "unequal", weights=weights)
    found = replicates(smoother, rows, weights)
    if found.n_spare < MIN_REPLICATES:
        raise NotEstimableError(
            f"only {found.n_spare} of {len(rows)} passive rows repeat the context and action of an earlier "
            f"one; wait for {MIN_REPLICATES}, or choose method='residual_products' or 'one_step'."
        )
    lack_degrees = len(found.sizes) - round(smoother.degrees, 6)
    notes = unseen_note(rows.where(_in_use(found, noise)), n_actions)
    if lack_degrees <= 0.0:
        return _saturated(found, best_risk(rows, oracle, weights=weights), level, notes)
    if noise == "equal":
        return _by_f(found, round(lack_degrees), level, notes)
    return _by_products(found, weighted_residuals(smoother, rows, weights), level, notes, weights)


def _in_use(found: Replicates, noise: str) -> Bools:
    """(n,): rows alone in their group count for equal noise only."""
    return np.asarray(found.repeated[found.labels] | (noise == "equal"))


def weighted_residuals(smoother: Smoother, rows: Log, weights: Floats | None) -> Floats:
    """What the (weighted) fit leaves of the rewards, (n,)."""
    if weights is None:
        return smoother.residuals(rows.reward)
    roots = np.sqrt(weights)
    return smoother.residuals(roots * rows.reward) / roots


def replicates(smoother: Smoother, rows: Log, weights: Floats | None = None) -> Replicates:
    """Rows grouped by context and action, with the scatter within groups."""
    labels = groups(rows)
    _, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    residuals, leverages = weighted_residuals(smoother, rows, weights), smoother.leverages[first]
    if weights is not None:  # a group moves its own fit by its mean weight
        leverages = leverages * np.bincount(labels, weights) / sizes / weights[first]
    means = np.bincount(labels, residuals) / sizes
    variances = np.bincount(labels, (residuals - means[labels]) ** 2) / np.maximum(sizes - 1, 1)
    # A row alone in its group has no scatter; its residual says at most too much.
    single = np.bincount(labels, residuals**2) / np.maximum(1.0 - leverages, 1e-8)
    scatter = np.where(sizes > 1, variances, single)
    noises = scatter[labels] if weights is None else weights * scatter[labels]
    fitted = np.einsum("gd,gd->g", smoother.spread_of(noises)[first], smoother.coordinates[first])
    fitted = fitted if weights is None else fitted / weights[first]
    noise = scatter / sizes - 2.0 * leverages * scatter + fitted
    return Replicates(labels, sizes, means, variances, leverages, np.asarray(noise))


def _by_products(
    found: Replicates,
    residuals: Floats,
    level: float,
    notes: tuple[str, ...],
    weights: Floats | None,
) -> MisspecificationEstimate:
    """The mean square of group means less their noise: the mean product of pairs within groups.

    A fit takes a share h of the squares, which is given back. Row i moves the mean by 2 e_i g - g^2 - b, in
    which g is the mean of its group's other rows; divided once more by 1 - h, as by leaving the row out.
    """
    repeated = found.repeated
    in_use = _in_use(found, "unequal")
    label, e = found.labels[in_use], residuals[in_use]
    kept = np.maximum(1.0 - found.leverages, 1e-8)
    squares = (found.means**2 - found.noise) / kept
    shares = None if weights is None else weights[in_use] / float(weights[in_use].mean())
    value, _ = mean_and_error(squares[label], shares)
    others = (found.sizes[label] * found.means[label] - e) / (found.sizes[label] - 1)
    influence = (2.0 * e * others / kept[label] - squares[label] - value) / kept[label]
    if (
        shares is not None
    ):  # rare groups, which count most, are small: their scatter misses a degree of freedom
        sizes = found.sizes[label]
        influence = shares * influence * np.sqrt(sizes / (sizes - 1))
    error = float(np.sqrt(np.sum(influence**2))) / len(label)
    n_single = found.n - len(label)
    left_out = (f"{n_single} rows were left out, as their contexts came once.",) if n_single else ()
    return MisspecificationEstimate.around(
        value,
        error,
        level,
        len(label) - 1,
        method="pure_error, unequal noise",
        assumption=UNEQUAL,
        n_rows=len(label),
        n_groups=int(np.count_nonzero(repeated)),
        notes=notes + left_out,
    )


def _by_f(
    found: Replicates, lack_degrees: int, level: float, notes: tuple[str, ...]
) -> MisspecificationEstimate:
    """(SSLF - (G - p) sigma^2) / n, with the interval of its noncentrality n b / sigma^2."""
    n = found.n
    variance = float(np.sum(found.variances * (found.sizes - 1))) / found.n_spare
    lack = float(np.sum(found.sizes * found.means**2))
    value = (lack - lack_degrees * variance) / n
    ends = _noise_interval(lack, lack_degrees, variance, found, level)
    drawn = _variance_of_drawing(found, variance, value)
    lower, upper = _widened(max(value, 0.0), ends, quantile(level) * math.sqrt(drawn))
    return MisspecificationEstimate(
        b_hat=max(value, 0.0),
        standard_error=math.sqrt(_variance_of_noise(value, lack_degrees, variance, found) + drawn),
        lower=lower,
        upper=upper,
        level=level,
        method="pure_error, equal noise",
        assumption=EQUAL,
        n_rows=n,
        n_groups=len(found.sizes),
        untruncated=value,
        notes=notes,
    )


def _noise_interval(
    lack: float, lack_degrees: int, variance: float, found: Replicates, level: float
) -> tuple[float, float]:
    """Ends for the b of these very contexts; rounding is no noise and no lack of fit.

    An F below 1 estimates b as 0; its upper end is that of F = 1, as 0 would be no interval.
    """
    n = found.n
    if not variance > 1e-24 * lack / n:
        return lack / n, lack / n
    F = lack / lack_degrees / variance
    low, _ = noncentrality_interval(F, lack_degrees, found.n_spare, level)
    _, high = noncentrality_interval(max(F, 1.0), lack_degrees, found.n_spare, level)
    return low * variance / n, high * variance / n


def _variance_of_noise(value: float, lack_degrees: int, variance: float, found: Replicates) -> float:
    """Variance of a noncentral chi-square less the estimate of the noise, over the number of rows."""
    square = 2.0 * variance**2 * (lack_degrees + lack_degrees**2 / found.n_spare)
    return (square + 4.0 * variance * found.n * max(value, 0.0)) / found.n**2


def _variance_of_drawing(found: Replicates, variance: float, value: float) -> float:
    """Var(g^2) / n: b over these contexts strays from b over all; E g^4 is freed of noise as if normal."""
    s = variance / found.sizes
    fourth = found.means**4 - 6.0 * s * found.means**2 + 3.0 * s**2
    return max(float(np.sum(found.sizes * fourth)) / found.n - max(value, 0.0) ** 2, 0.0) / found.n


def _widened(value: float, ends: tuple[float, float], reach: float) -> tuple[float, float]:
    """Two independent errors: each end moves away by the root of the sum of squares."""
    low, high = max(value - ends[0], 0.0), max(ends[1] - value, 0.0)
    return max(value - math.hypot(low, reach), 0.0), value + math.hypot(high, reach)


def _saturated(
    found: Replicates, risk: RiskEstimate, level: float, notes: tuple[str, ...]
) -> MisspecificationEstimate:
    """0 as a lower bound: a class that fits every mean shows no error, except on contexts yet to come."""
    return MisspecificationEstimate.at_least(
        0.0,
        0.0,
        risk.upper(level),
        level,
        method="pure_error, saturated class",
        assumption=SATURATED,
        n_rows=found.n,
        n_groups=len(found.sizes),
        notes=(*notes, "The class has a coefficient for each context and action that came."),
    )

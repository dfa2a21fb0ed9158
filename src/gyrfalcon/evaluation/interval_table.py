"""Intervals by name, each one row: its title, what it assumes, and its function."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.evaluation.evaluated_rows import EvaluatedRows
from gyrfalcon.evaluation.expected_spread import ExpectedSpread, expected_spread
from gyrfalcon.evaluation.intervals.adaptive_weights import min_var_weights, stable_var_weights
from gyrfalcon.evaluation.intervals.bootstrap import bootstrap_interval
from gyrfalcon.evaluation.intervals.empirical_bernstein import empirical_bernstein_interval
from gyrfalcon.evaluation.intervals.interval import Interval
from gyrfalcon.evaluation.intervals.normal import normal_quantile
from gyrfalcon.evaluation.weighting import TargetWeights


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class IntervalInputs:
    """What intervals compute from: contributions of rows in the order of time, and what their weights need.

    Parameters
    ----------
    contributions
        Estimates of the value from one row each, (n,).
    expected
        Means of the variance proxies of earlier rows, (n,).
    level
        Probability of covering.
    rows
        The evaluated rows.
    weights
        The target and its importance weights.
    epochs
        Number of the policy in play in each row, (n,); None where unknown.
    bounds
        Lowest and highest reward; None where unknown.
    predictions
        Predicted rewards of all actions, (n, K); None without a model.
    policies
        Probabilities of all actions in every row under each policy that decided, one after the other, in the
        order of the numbers in `epochs`; None where one of these policies is unknown.
    """

    contributions: Floats
    expected: Floats
    level: float
    rows: EvaluatedRows
    weights: TargetWeights
    epochs: Ints | None = None
    bounds: tuple[float, float] | None = None
    predictions: Floats | None = None
    policies: Callable[[], Iterator[Floats]] | None = None


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """An interval that `evaluate` offers by name: weights of rows, or a function.

    Parameters
    ----------
    title
        Its name in reports.
    row_weights
        Weights (n,) of contributions, known before each row's action, whose weighted mean is asymptotically
        normal; None for an interval that is not of this kind.
    interval
        Value and interval of all inputs; None to take the weighted mean.
    has_floor
        Whether the standard error is at least the one that logged distributions lead to expect.
    is_paired
        Whether `interval` holds for differences of contributions as well.
    assumes_independence
        Whether rows must be independent, which those of a learner are not.
    caution
        What to beware of, as a sentence; "" if nothing.
    """

    title: str
    row_weights: Callable[[IntervalInputs], Floats] | None = None
    interval: Callable[[IntervalInputs], tuple[float, Interval]] | None = None
    has_floor: bool = False
    is_paired: bool = True
    assumes_independence: bool = False
    caution: str = ""


def _ones(given: IntervalInputs) -> Floats:
    return np.ones(len(given.contributions))


def _bootstrap(given: IntervalInputs) -> tuple[float, Interval]:
    return float(given.contributions.mean()), bootstrap_interval(given.contributions, given.level)


def _empirical_bernstein(given: IntervalInputs) -> tuple[float, Interval]:
    """Bounds of contributions follow from the largest possible weight, which stored distributions know."""
    if given.bounds is None or not given.rows.known.all():
        raise ValueError(
            "empirical Bernstein intervals need a reward range and the distribution of every row; "
            "give reward_range, or choose interval='minvar'."
        )
    chances = given.rows.distribution
    assert chances is not None
    ratios = np.divide(given.weights.target, chances, out=np.zeros(chances.shape), where=chances > 0.0)
    extremes = np.array(given.bounds)
    if given.predictions is not None:
        extremes = np.append(extremes, [given.predictions.min(), given.predictions.max()])
    low, high = float(extremes.min()), float(extremes.max())
    reach = float(ratios.max(initial=0.0)) * (high - low)
    bounds = low - reach, high + reach
    return float(given.contributions.mean()), empirical_bernstein_interval(
        given.contributions, bounds, given.level
    )


_INDEPENDENT = "It treats rows as independent; where a learner collected the log it may be far too narrow."

INTERVALS: dict[str, IntervalRow] = {
    "minvar": IntervalRow("MinVar", lambda given: min_var_weights(given.expected)),
    "minvar_expected": IntervalRow(
        "MinVar with the larger of the observed and the expected standard error",
        lambda given: min_var_weights(given.expected),
        has_floor=True,
    ),
    "stablevar": IntervalRow(
        "StableVar",
        lambda given: stable_var_weights(given.expected),
        caution="Its coverage falls far below its level on logs of a learner with small propensities.",
    ),
    "normal": IntervalRow("normal", _ones, assumes_independence=True, caution=_INDEPENDENT),
    "bootstrap": IntervalRow(
        "bootstrap", interval=_bootstrap, assumes_independence=True, caution=_INDEPENDENT
    ),
    "empirical_bernstein": IntervalRow(
        "empirical Bernstein",
        interval=_empirical_bernstein,
        is_paired=False,
        assumes_independence=True,
        caution=_INDEPENDENT,
    ),
}
"""By the names that `evaluate(interval=...)` takes; a further interval is one more row."""


@dataclass(frozen=True, slots=True, eq=False)
class IntervalEstimate:
    """A value with its interval, and the error that each row adds to it where these sum up.

    Parameters
    ----------
    value
        The estimated value.
    interval
        Its interval.
    errors
        Weighted distances of contributions to the value, (n,), whose norm is the standard error; None for
        intervals without one.
    spread
        The spread that logged distributions lead to expect; None where the interval has no errors.
    """

    value: float
    interval: Interval
    errors: Floats | None
    spread: ExpectedSpread | None = None

    @property
    def standard_error(self) -> float:
        """Norm of the errors; nan without them."""
        return math.nan if self.errors is None else float(np.linalg.norm(self.errors))


def interval_estimate(method: IntervalRow, given: IntervalInputs) -> IntervalEstimate:
    """The value and interval of contributions by one method of the table."""
    if method.interval is not None:
        value, interval = method.interval(given)
        return IntervalEstimate(value, interval, None)
    assert method.row_weights is not None
    share = method.row_weights(given)
    share = share / share.sum()
    value = float(share @ given.contributions)
    errors = share * (given.contributions - value)
    spread = expected_spread(given.weights, given.rows, share, given.predictions)
    observed = float(np.linalg.norm(errors))
    if method.has_floor and 0.0 < observed < spread.error:
        errors = errors * (spread.error / observed)
    return IntervalEstimate(value, _around(value, errors, given.level, method.title), errors, spread)


def paired_difference(
    method: IntervalRow, first: IntervalEstimate, second: IntervalEstimate, given: IntervalInputs
) -> IntervalEstimate | None:
    """The difference of two values on the same rows, with the errors that remain row by row.

    None for methods whose intervals can't be paired. `given` has the differences of contributions.
    """
    if first.errors is not None and second.errors is not None:
        value, errors = first.value - second.value, first.errors - second.errors
        return IntervalEstimate(value, _around(value, errors, given.level, method.title), errors)
    if method.interval is None or not method.is_paired:
        return None
    value, interval = method.interval(given)
    return IntervalEstimate(value, interval, None)


def _around(value: float, errors: Floats, level: float, title: str) -> Interval:
    return Interval.around(value, normal_quantile(level) * float(np.linalg.norm(errors)), level, title)

"""Intervals by name, each one row: its title, what it assumes, and its function."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.evaluation.intervals.adaptive_weights import min_var_weights, stable_var_weights
from gyrfalcon.evaluation.intervals.bootstrap import bootstrap_interval
from gyrfalcon.evaluation.intervals.cadr import cadr_errors
from gyrfalcon.evaluation.intervals.contextual_weights import contextual_errors
from gyrfalcon.evaluation.intervals.empirical_bernstein import empirical_bernstein_interval
from gyrfalcon.evaluation.intervals.inputs import IntervalInputs
from gyrfalcon.evaluation.intervals.interval import Interval
from gyrfalcon.evaluation.intervals.normal import normal_quantile
from gyrfalcon.evaluation.rows.expected_spread import ExpectedSpread, expected_spread


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
    errors
        Value, and the error that each row adds to it, (n,), whose norm is the standard error of a normal
        value; None for an interval that is not of this kind.
    interval
        Value and interval of all inputs; None for an interval of one of the other kinds.
    has_floor
        Whether the standard error is at least the one that logged distributions lead to expect.
    is_paired
        Whether `interval` holds for differences of contributions as well.
    assumes_independence
        Whether rows must be independent, which those of a learner are not.
    needs_policies
        Whether it needs every policy that decided, on the contexts of all rows, and a doubly robust or
        inverse propensity estimate.
    caution
        What to beware of, as a sentence; "" if nothing.
    """

    title: str
    row_weights: Callable[[IntervalInputs], Floats] | None = None
    errors: Callable[[IntervalInputs], tuple[float, Floats]] | None = None
    interval: Callable[[IntervalInputs], tuple[float, Interval]] | None = None
    has_floor: bool = False
    is_paired: bool = True
    assumes_independence: bool = False
    needs_policies: bool = False
    caution: str = ""


def _ones(given: IntervalInputs) -> Floats:
    return np.ones(len(given.contributions))


def _bootstrap(given: IntervalInputs) -> tuple[float, Interval]:
    return float(given.contributions.mean()), bootstrap_interval(given.contributions, given.level)


def _empirical_bernstein(given: IntervalInputs) -> tuple[float, Interval]:
    value, (low, high) = float(given.contributions.mean()), given.contribution_bounds()
    if not low < high:
        return value, Interval(value, value, given.level, "empirical Bernstein")
    return value, empirical_bernstein_interval(given.contributions, (low, high), given.level)


def _contextual(given: IntervalInputs) -> tuple[float, Floats]:
    center = float(given.rows.table.reward.mean())
    value, errors = contextual_errors(given.contributions - center, given.epoch_policies())
    return center + value, errors


def _cadr(given: IntervalInputs) -> tuple[float, Floats]:
    table, model = given.rows.table, given.model
    low, high = (table.reward.min(), table.reward.max()) if given.bounds is None else given.bounds
    # Variances of differences to the mean reward lose no digits, wherever the zero of rewards is.
    center = 0.0 if given.predictions is None else float(table.reward.mean())
    value, errors = cadr_errors(
        table.reward - center,
        table.action,
        given.weights.target,
        model - center,
        given.epoch_policies(),
        reward_deviation=float(high - low) / 2.0 or 1.0,
    )
    return center + value, errors


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
    "contextual": IntervalRow(
        "contextual MinVar",
        errors=_contextual,
        needs_policies=True,
        caution="Where policies were learned fast it may be far too narrow.",
    ),
    "cadr": IntervalRow(
        "CADR",
        errors=_cadr,
        needs_policies=True,
        caution="It needs many rows of every policy that decided, as its deviations are estimated.",
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
    if method.errors is not None:
        value, errors = method.errors(given)
        even = np.full(len(errors), 1.0 / len(errors))
        spread = expected_spread(given.weights, given.rows, even, given.predictions)
        return IntervalEstimate(value, _around(value, errors, given.level, method.title), errors, spread)
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

"""Reasons for a verdict from the contributions of rows to a value, and from its intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.evaluation.estimators.by_name import EstimatorRow
from gyrfalcon.evaluation.estimators.inputs import EstimatorInputs
from gyrfalcon.evaluation.intervals.by_name import IntervalEstimate
from gyrfalcon.evaluation.intervals.inputs import IntervalInputs
from gyrfalcon.evaluation.intervals.interval import Interval
from gyrfalcon.evaluation.intervals.sequences.confidence_sequence import ConfidenceSequence
from gyrfalcon.evaluation.rows.evaluated_rows import EvaluatedRows
from gyrfalcon.evaluation.verdict.diagnostics import change_over_time, tail_share
from gyrfalcon.evaluation.verdict.limits import CHANGE_Z, FAR_REWARD, SPREAD, SPREAD_WITH_BIAS, TAIL_SHARE
from gyrfalcon.evaluation.verdict.verdict import LEVELS, Reason

_ROUNDING = 1e-13
"""Relative differences that rounding makes."""


def dependence_on_log() -> Reason:
    """The reason against a policy that may have seen the rewards that it is evaluated by."""
    return Reason(
        "caution",
        "dependence on the log",
        "The policy may have been learned from these rows, so that its value looks too high; evaluate it on "
        "later rows, or say that it was not (held_out=True).",
    )


def limit_reason(estimator: EstimatorRow, given: EstimatorInputs, *, is_tuned: bool) -> Reason | None:
    """What limits the weights of an estimator, and where the limit comes from; None without a limit."""
    limit = estimator.limit
    if limit is None:
        return None
    how = "the default" if getattr(given, limit.name) is None else "as given"
    if is_tuned:
        how = "that of the least estimated squared error"
    return Reason("trust", "limit of weights", f"{limit.name} is {limit.value(given):.4g}, {how}.")


def spread_reasons(given: IntervalInputs, estimate: IntervalEstimate) -> Iterator[Reason]:
    """Reasons about how the contributions of rows to one value vary: too little, or by few rows."""
    errors, contributions = estimate.errors, given.contributions
    is_flat = float(np.ptp(contributions)) <= _ROUNDING * float(np.abs(contributions).max())
    if errors is not None and is_flat:
        text = (
            "All contributions are equal, so that the interval has no width and knows nothing of rewards "
            "that are yet to be seen; see the betting sequence, which needs a reward_range."
        )
        yield Reason("caution", "expected spread", text)
    elif errors is not None:
        yield _expected_spread(estimate)
    share = tail_share(contributions - contributions.mean() if errors is None else errors)
    yield _heavy_tails(share, 0.0 if is_flat else tail_share(_residuals(given)))


def change_reason(contributions: Floats) -> Reason:
    """The reason from a comparison of the first with the second half of the rows."""
    z = change_over_time(contributions)
    return Reason.of(
        CHANGE_Z.level(z),
        "change over time",
        f"The value differs by {z:.1f} standard errors between the first and the second half",
        "the value may have changed over time: value the later rows by themselves",
    )


def sequence_reason(sequence: ConfidenceSequence, interval: Interval, rows: EvaluatedRows) -> Reason:
    """The reason from a confidence sequence: whether a value is left, and agrees with the interval."""
    check, last = "confidence sequence", sequence.last
    why = "the value changed over time, or propensities are wrong: value parts of the log by themselves"
    if sequence.empty_from is not None:
        row = rows.table.rows[sequence.empty_from]
        return Reason("caution", check, f"No value is left after row {row}; {why}.")
    slack = _ROUNDING * max(abs(last.low), abs(last.high))
    if interval.high < last.low - slack or interval.low > last.high + slack:
        return Reason("caution", check, f"The interval and the betting sequence do not overlap; {why}.")
    return Reason("trust", check, "The interval and the betting sequence overlap.")


def _expected_spread(estimate: IntervalEstimate) -> Reason:
    spread, error = estimate.spread, estimate.standard_error
    with_bias = math.nan if spread is None else spread.error / error
    without = math.nan if spread is None else math.sqrt(spread.variance) / error
    level = max(SPREAD_WITH_BIAS.level(with_bias), SPREAD.level(without), key=LEVELS.index)
    return Reason.of(
        level,
        "expected spread",
        f"The standard error is {error:.3g}, and {with_bias * error:.3g} is expected of rewards that vary as "
        "much in rare rows",
        "the interval may be too narrow by what was not drawn: see the interval 'minvar_expected' or the "
        "betting sequence",
    )


def _heavy_tails(share: float, of_rewards: float) -> Reason:
    text = f"The row of most influence has {share:.1%} of the estimated variance"
    far = FAR_REWARD.level(of_rewards)
    if far != "trust":
        return Reason.of(
            far,
            "heavy tails",
            f"{text}, and one reward has {of_rewards:.1%} of the squared distance to what was predicted",
            "check it, and cap rewards at a limit that you state, or collect more rows",
        )
    return Reason.of(
        TAIL_SHARE.level(share),
        "heavy tails",
        text,
        "value and width are mostly due to its large weight: compare with the estimator 'switch', which "
        "leaves such rows to the reward model",
    )


def _residuals(given: IntervalInputs) -> Floats:
    """Distances of rewards to what was predicted, or to their mean, in rows with an action of the policy."""
    table = given.rows.table
    center: Floats | float = float(table.reward.mean())
    if given.predictions is not None:
        center = given.predictions[np.arange(len(table)), table.action]
    distances = np.asarray(table.reward - center)
    return distances[given.weights.weights > 0.0]

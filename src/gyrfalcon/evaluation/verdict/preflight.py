"""Checks whether a log supports an estimated value: reasons for the verdict, with their numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.digits import significant
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.evaluation.estimators.by_name import EstimatorRow
from gyrfalcon.evaluation.estimators.inputs import EstimatorInputs
from gyrfalcon.evaluation.intervals.by_name import IntervalEstimate
from gyrfalcon.evaluation.intervals.interval import Interval
from gyrfalcon.evaluation.intervals.sequences.confidence_sequence import ConfidenceSequence
from gyrfalcon.evaluation.rows.evaluated_rows import UNKNOWN_PROPENSITY, EvaluatedRows
from gyrfalcon.evaluation.verdict.diagnostics import (
    WeightDiagnostics,
    action_calibration,
    change_over_time,
    tail_share,
)
from gyrfalcon.evaluation.verdict.verdict import Level, Reason


@dataclass(frozen=True, slots=True)
class Limits:
    """Two limits of a number: where caution begins, and where trust ends.

    >>> Limits(0.2, 0.5).level(0.3), Limits(100, 30).level(12)
    ('caution', 'do not trust')
    """

    caution: float
    distrust: float

    def level(self, value: float) -> Level:
        """The level of a value; limits that fall are lower ones."""
        sign = 1.0 if self.distrust >= self.caution else -1.0
        if sign * value >= sign * self.distrust:
            return "do not trust"
        return "caution" if sign * value >= sign * self.caution else "trust"


MEAN_WEIGHT = Limits(0.2, 0.5)
"""Distance of the mean weight to what is expected."""
SMALL_DISTANCE = 0.05
"""Distance of the mean weight that is no matter, unless it is surely none of chance."""
SURE_Z = Limits(3.0, 5.0)
"""Standard errors that chance hardly reaches."""
EXPECTED_ROWS = Limits(35.0, 10.0)
MATCHING_ROWS = Limits(50.0, 20.0)
DRAWN_SHARE = Limits(0.7, 0.3)
"""Squared weights seen, over those expected."""
LARGEST_SHARE = Limits(0.05, 0.2)
SPREAD = Limits(1.2, 2.0)
"""Expected standard error over the observed one."""
TAIL_SHARE = Limits(0.2, 0.5)
UNSUPPORTED = Limits(1e-9, 0.01)
MISSING = Limits(0.02, 0.2)
CALIBRATION_Z = Limits(3.5, 5.0)
CHANGE_Z = Limits(4.0, 8.0)


def log_reasons(
    rows: EvaluatedRows, *, estimated: bool, bounds: tuple[float, float] | None, adaptive: bool
) -> Iterator[Reason]:
    """Reasons that hold for every policy: propensities, calibration, rewards and rows set aside."""
    yield from _propensity_reasons(rows, estimated=estimated)
    yield from _calibration_reasons(rows)
    share = rows.missing_share
    yield Reason(
        MISSING.level(share),
        "missing rewards",
        f"{share:.1%} of shown decisions have no reward"
        + ("." if share < MISSING.caution else "; if that depends on the reward, values are biased."),
    )
    if bounds is None:
        yield Reason("trust", "reward range", "No reward range is known; intervals by variance need none.")
    else:
        low, high = bounds
        yield Reason("trust", "reward range", f"All rewards are in the range from {low:g} to {high:g}.")
    how = (
        "The log was collected by policies that changed with earlier rewards: MinVar and betting intervals "
        "hold, normal ones and bootstrap need not."
        if adaptive
        else "Nothing says that propensities followed earlier rewards."
    )
    yield Reason("trust", "adaptivity", how)


def weight_reasons(diagnostics: WeightDiagnostics) -> Iterator[Reason]:
    """Reasons about the weights of one target policy."""
    yield _mean_weight(diagnostics)
    expected = diagnostics.expected_rows
    kind = "" if diagnostics.known_share == 1.0 else ", as far as the weights drawn show"
    yield Reason(
        EXPECTED_ROWS.level(expected),
        "expected effective rows",
        f"{diagnostics.n_rows:,} rows are worth {significant(expected)} drawn by the policy itself{kind}.",
    )
    yield rows_reason(diagnostics)
    if not math.isnan(diagnostics.drawn_share):
        yield Reason(
            DRAWN_SHARE.level(diagnostics.drawn_share),
            "rare rows drawn",
            f"Squared weights sum to {diagnostics.drawn_share:.0%} of what is expected"
            + (
                "."
                if diagnostics.drawn_share > DRAWN_SHARE.caution
                else "; rare rows of large weight have not been drawn, so that the spread looks too small."
            ),
        )
    yield Reason(
        LARGEST_SHARE.level(diagnostics.largest_share),
        "weight tails",
        f"One row counts {diagnostics.largest_share:.1%}, the top 1% of rows {diagnostics.top_share:.0%}; "
        f"the largest weight is {significant(diagnostics.largest_weight)}.",
    )
    yield from _support_reasons(diagnostics)


def rows_reason(diagnostics: WeightDiagnostics) -> Reason:
    """The reason from the number of rows that have an action of the policy."""
    return Reason(
        MATCHING_ROWS.level(diagnostics.n_matching),
        "rows the value rests on",
        f"{diagnostics.n_matching:,} of {diagnostics.n_rows:,} rows have an action that the policy may take.",
    )


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


def spread_reasons(contributions: Floats, estimate: IntervalEstimate) -> Iterator[Reason]:
    """Reasons about how the contributions of rows to one value vary: too little, or by few rows."""
    errors = estimate.errors
    if errors is not None and estimate.standard_error == 0.0:
        text = "All contributions are equal, so that the interval has no width; see the betting sequence."
        yield Reason("caution", "expected spread", text)
    elif errors is not None:
        expected = math.nan if estimate.spread is None else estimate.spread.error
        ratio = expected / estimate.standard_error
        level = SPREAD.level(ratio)
        yield Reason(
            level,
            "expected spread",
            f"The standard error is {estimate.standard_error:.3g}, and {expected:.3g} is "
            f"expected of rewards that vary as much in rare rows"
            + ("." if level == "trust" else "; the interval is too narrow by what was not drawn."),
        )
    share = tail_share(contributions - contributions.mean() if errors is None else errors)
    yield Reason(
        TAIL_SHARE.level(share),
        "heavy tails",
        f"The row of most influence has {share:.1%} of the estimated variance.",
    )


def change_reason(contributions: Floats) -> Reason:
    """The reason from a comparison of the first with the second half of the rows."""
    z = change_over_time(contributions)
    more = "." if z < CHANGE_Z.caution else "; the value may have changed over time."
    return Reason(
        CHANGE_Z.level(z),
        "change over time",
        f"The value differs by {z:.1f} standard errors between the first and the second half{more}",
    )


def sequence_reason(sequence: ConfidenceSequence, interval: Interval, rows: EvaluatedRows) -> Reason:
    """The reason from a confidence sequence: whether a value is left, and agrees with the interval."""
    check, last = "confidence sequence", sequence.last
    why = "the value changed over time, or propensities are wrong"
    if sequence.empty_from is not None:
        row = rows.table.rows[sequence.empty_from]
        return Reason("caution", check, f"No value is left after row {row}: {why}.")
    if interval.high < last.low or interval.low > last.high:
        return Reason("caution", check, f"The interval and the betting sequence do not overlap: {why}.")
    return Reason("trust", check, "The interval and the betting sequence overlap.")


def _mean_weight(diagnostics: WeightDiagnostics) -> Reason:
    mean, error = diagnostics.mean_weight, diagnostics.mean_weight_error
    distance = abs(mean - diagnostics.expected_mean_weight)
    z = distance / error if error > 0.0 else (0.0 if distance < 1e-9 else math.inf)
    level = MEAN_WEIGHT.level(distance)
    text = (
        f"The mean weight is {mean:.3f} +- {error:.3f}, where {diagnostics.expected_mean_weight:.3g} is right"
    )
    if distance > SMALL_DISTANCE and SURE_Z.level(z) == "do not trust":
        return Reason("do not trust", "mean weight", f"{text}: propensities are wrong, by {z:.1f} errors.")
    if level == "trust" and SURE_Z.level(z) != "trust":
        return Reason("caution", "mean weight", f"{text}: {z:.1f} errors off, which is hardly chance.")
    return Reason(level, "mean weight", f"{text}.")


def _support_reasons(diagnostics: WeightDiagnostics) -> Iterator[Reason]:
    impossible, never = diagnostics.unsupported, diagnostics.never_logged
    yield Reason(
        UNSUPPORTED.level(impossible),
        "support",
        f"The policy gives a share of {impossible:.2%} to actions that could not be logged"
        + ("." if impossible < UNSUPPORTED.caution else ": of their rewards the log says nothing."),
    )
    if never > 0.0:
        yield Reason(
            UNSUPPORTED.level(never),
            "support",
            f"The policy gives a share of {never:.2%} to actions that no row has.",
        )


def _propensity_reasons(rows: EvaluatedRows, *, estimated: bool) -> Iterator[Reason]:
    if estimated or rows.table.propensity_source == "estimated":
        yield Reason(
            "caution",
            "propensities",
            "Propensities were estimated: values are right only if the log has all that decisions followed.",
        )
    n_unknown = rows.set_aside.get(UNKNOWN_PROPENSITY, 0)
    if n_unknown:
        share = n_unknown / rows.n_given
        yield Reason(
            MISSING.level(share),
            "propensities",
            f"{n_unknown:,} of {rows.n_given:,} rows have no propensity, and are left out.",
        )
    known = float(rows.known.mean())
    if known < 1.0:
        yield Reason(
            "caution",
            "propensities",
            f"The distribution over all actions is known in {known:.0%} of rows; in others, squared weights "
            "of earlier rows stand for the expected ones.",
        )
    else:
        yield Reason("trust", "propensities", "The distribution over all actions is known in every row.")


def _calibration_reasons(rows: EvaluatedRows) -> Iterator[Reason]:
    found = action_calibration(rows)
    if not found:
        return
    worst = max(found, key=lambda one: abs(one.z))
    label = short_repr(rows.table.actions[worst.place])
    level = CALIBRATION_Z.level(abs(worst.z))
    text = (
        f"{label} was logged {worst.n_logged} times, where propensities add up to {worst.expected:,.1f} "
        f"({worst.z:+.1f} standard deviations, the most of {len(found)} actions)"
    )
    yield Reason(level, "calibration", text + ("." if level == "trust" else ": propensities are not right."))

"""Checks whether a log supports an estimated value: reasons for the verdict, with their numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.evaluation.checks.columns import LogColumns
from gyrfalcon.evaluation.checks.finding import LogFinding
from gyrfalcon.evaluation.checks.statistical.balance import balance_faults
from gyrfalcon.evaluation.checks.statistical.propensities import calibration_faults
from gyrfalcon.evaluation.rows.evaluated_rows import UNKNOWN_PROPENSITY, EvaluatedRows
from gyrfalcon.evaluation.verdict.diagnostics import action_calibration
from gyrfalcon.evaluation.verdict.limits import CALIBRATION_P, CALIBRATION_Z, MISSING
from gyrfalcon.evaluation.verdict.verdict import LEVELS, Level, Reason

_LEAST_USED = 0.01
"""Share of the reward range that rewards should use, for betting sequences to say anything."""
_CHECK = "correct them, as `gyrfalcon check` says where"


def log_reasons(
    rows: EvaluatedRows, *, estimated: bool, bounds: tuple[float, float] | None, adaptive: bool
) -> Iterator[Reason]:
    """Reasons that hold for every policy: propensities, calibration, rewards and rows set aside."""
    yield from _propensity_reasons(rows, estimated=estimated)
    yield _calibration_reason(rows)
    share = rows.missing_share
    yield Reason.of(
        MISSING.level(share),
        "missing rewards",
        f"{share:.1%} of shown decisions have no reward",
        "if that depends on the reward, values are biased: wait for late ones, or give them the reward of no "
        "outcome",
    )
    yield _range_reason(rows, bounds)
    how = (
        "The log was collected by policies that changed with earlier rewards: MinVar and betting intervals "
        "hold, normal ones and bootstrap need not."
        if adaptive
        else "Nothing says that propensities followed earlier rewards."
    )
    yield Reason("trust", "adaptivity", how)


def unused_range(rows: EvaluatedRows, bounds: tuple[float, float]) -> str:
    """A sentence on a reward range that is far wider than the rewards are; "" if it is not."""
    reward, (low, high) = rows.table.reward, bounds
    if float(np.ptp(reward)) > _LEAST_USED * (high - low):
        return ""
    return (
        f"Rewards are from {reward.min():g} to {reward.max():g}, of a range from {low:g} to {high:g}: "
        "betting sequences are as wide as that; give a reward_range that is no wider than it must be."
    )


def _range_reason(rows: EvaluatedRows, bounds: tuple[float, float] | None) -> Reason:
    if bounds is None:
        return Reason("trust", "reward range", "No reward range is known; intervals by variance need none.")
    low, high = bounds
    text = f"All rewards are in the range from {low:g} to {high:g}."
    return Reason("trust", "reward range", unused_range(rows, bounds) or text)


def _propensity_reasons(rows: EvaluatedRows, *, estimated: bool) -> Iterator[Reason]:
    if estimated:
        yield Reason(
            "caution",
            "propensities",
            "Propensities were estimated: values are right only if the log has all that decisions followed; "
            "log the probability of each decision from now on.",
        )
    n_unknown = rows.set_aside.get(UNKNOWN_PROPENSITY, 0)
    if n_unknown:
        share = n_unknown / rows.n_given
        yield Reason.of(
            MISSING.level(share),
            "propensities",
            f"{n_unknown:,} of {rows.n_given:,} rows have no propensity, and are left out",
            "if these were decided in another way, values are those of the others: log all propensities",
        )
    known = float(rows.known.mean())
    if known < 1.0:
        yield Reason(
            "caution",
            "propensities",
            f"The distribution over all actions is known in {known:.0%} of rows, so that nothing says which "
            "rare rows are missing in others; log the probabilities of all actions.",
        )
    else:
        yield Reason("trust", "propensities", "The distribution over all actions is known in every row.")


def _calibration_reason(rows: EvaluatedRows) -> Reason:
    """The reason from how often actions were logged: by action, and then by epoch, size and feature."""
    by_action = _by_action(rows)
    if by_action is not None and by_action.level != "trust":
        return by_action
    columns, alpha = LogColumns.of(rows.table), CALIBRATION_P.caution / 2.0
    with np.errstate(all="ignore"):  # features may be any number
        found = [
            *calibration_faults(columns, rows.distribution, alpha),
            *balance_faults(columns, rows.distribution, alpha),
        ]
    errors = [one for one in found if one.severity == "error"]
    if errors:
        return min((_from_finding(one) for one in errors), key=lambda one: -LEVELS.index(one.level))
    return by_action or Reason("trust", "calibration", "Actions were logged as often as propensities say.")


def _from_finding(found: LogFinding) -> Reason:
    p_value = found.details.get("p_value", CALIBRATION_P.caution) * found.details.get("n_tests", 1)
    more = "or a feature was recorded after its decision: " if "features" in found.details else ""
    level: Level = "do not trust" if CALIBRATION_P.level(p_value) == "do not trust" else "caution"
    text = f"{found.message[:1].upper()}{found.message[1:]}"
    return Reason.of(level, "calibration", text, f"propensities are not right, {more}{_CHECK}")


def _by_action(rows: EvaluatedRows) -> Reason | None:
    """The reason from the counts of actions; None where no distribution is known."""
    found = action_calibration(rows)
    if not found:
        return None
    worst = max(found, key=lambda one: abs(one.z))
    label = short_repr(rows.table.actions[worst.place])
    return Reason.of(
        CALIBRATION_Z.level(abs(worst.z)),
        "calibration",
        f"{label} was logged {worst.n_logged} times, where propensities add up to {worst.expected:,.1f} "
        f"({worst.z:+.1f} standard deviations, the most of {len(found)} actions)",
        f"propensities are not right: {_CHECK}",
    )

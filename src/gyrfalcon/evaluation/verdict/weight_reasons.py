"""Reasons for a verdict from the importance weights of a policy: how far the log supports the policy."""

from __future__ import annotations

import math
from collections.abc import Iterator

from gyrfalcon.core.digits import significant
from gyrfalcon.evaluation.verdict.diagnostics import WeightDiagnostics
from gyrfalcon.evaluation.verdict.limits import (
    DRAWN_SHARE,
    EXPECTED_ROWS,
    LARGEST_SHARE,
    MATCHING_ROWS,
    MEAN_WEIGHT,
    SMALL_DISTANCE,
    SURE_Z,
    UNSUPPORTED,
)
from gyrfalcon.evaluation.verdict.verdict import Reason

_MORE_ROWS = (
    "collect more rows, or give actions a least probability with Limited(floor=...), or value a policy that "
    "is nearer to what was played"
)


def weight_reasons(diagnostics: WeightDiagnostics) -> Iterator[Reason]:
    """Reasons about the weights of one target policy."""
    yield _mean_weight(diagnostics)
    expected = diagnostics.expected_rows
    kind = "" if diagnostics.known_share == 1.0 else ", as far as the weights drawn show"
    yield Reason.of(
        EXPECTED_ROWS.level(expected),
        "expected effective rows",
        f"{diagnostics.n_rows:,} rows are worth {significant(expected)} drawn by the policy itself{kind}",
        _MORE_ROWS,
    )
    yield rows_reason(diagnostics)
    if not math.isnan(diagnostics.drawn_share):
        yield Reason.of(
            DRAWN_SHARE.level(diagnostics.drawn_share),
            "rare rows drawn",
            f"Squared weights sum to {diagnostics.drawn_share:.0%} of what is expected",
            "rare rows of large weight have not been drawn, so that the spread looks too small: see the "
            "interval 'minvar_expected'",
        )
    yield Reason.of(
        LARGEST_SHARE.level(diagnostics.largest_share),
        "weight tails",
        f"One row counts {diagnostics.largest_share:.1%}, the top 1% of rows {diagnostics.top_share:.0%}; "
        f"the largest weight is {significant(diagnostics.largest_weight)}",
        "compare with the estimator 'switch', which leaves such rows to the reward model",
    )
    yield from _support_reasons(diagnostics)


def rows_reason(diagnostics: WeightDiagnostics) -> Reason:
    """The reason from the number of rows that have an action of the policy."""
    return Reason.of(
        MATCHING_ROWS.level(diagnostics.n_matching),
        "rows the value rests on",
        f"{diagnostics.n_matching:,} of {diagnostics.n_rows:,} rows have an action that the policy may take",
        _MORE_ROWS,
    )


def _mean_weight(diagnostics: WeightDiagnostics) -> Reason:
    mean, error = diagnostics.mean_weight, diagnostics.mean_weight_error
    distance = abs(mean - diagnostics.expected_mean_weight)
    z = distance / error if error > 0.0 else (0.0 if distance < 1e-9 else math.inf)
    check, level = "mean weight", MEAN_WEIGHT.level(distance)
    spread = f"{error:.3f}" if error < 1e3 else f"{error:.0e}"
    text = f"The mean weight is {mean:.3f} +- {spread}, where {diagnostics.expected_mean_weight:.3g} is right"
    if distance > SMALL_DISTANCE and SURE_Z.level(z) == "do not trust":
        wrong = f"propensities are wrong, by {z:.1f} errors: correct them, as `gyrfalcon check` says where"
        return Reason.of("do not trust", check, text, wrong)
    if level == "trust" and SURE_Z.level(z) != "trust":
        unlikely = (
            f"that is {z:.1f} errors off, and hardly chance: look for wrong ones with `gyrfalcon check`"
        )
        return Reason.of("caution", check, text, unlikely)
    rows = "many" if mean > diagnostics.expected_mean_weight else "few"
    return Reason.of(
        level,
        check,
        text,
        f"by chance, too {rows} rows of large weight were drawn: compare with the estimator 'sndr', which "
        "divides by the mean weight, or collect more rows",
    )


def _support_reasons(diagnostics: WeightDiagnostics) -> Iterator[Reason]:
    impossible, never = diagnostics.unsupported_in_value, diagnostics.never_logged
    yield Reason.of(
        UNSUPPORTED.level(impossible),
        "support",
        f"In the rows that count, the policy gives a share of {impossible:.2%} to actions that could not be "
        "logged",
        "of their rewards the log says nothing: value a policy without them, or log them with a floor",
    )
    if never > 0.0:
        yield Reason.of(
            UNSUPPORTED.level(never),
            "support",
            f"The policy gives a share of {never:.2%} to actions that no row has",
            "value a policy without them, or log them with a floor",
        )

"""What an evaluation says to do, in one sentence: which policy is better than the baseline, if any."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gyrfalcon.core.digits import rounded_to, span_text
from gyrfalcon.evaluation.evaluation import Evaluation, PolicyValue
from gyrfalcon.reports.page import literal

MOST_NAMES = 5
"""How many policies a sentence names."""


def decision_sentences(evaluation: Evaluation) -> str:
    """Which policy is better than the baseline, if any, and how sure that is.

    The best of several policies is chosen by the same noise that its value has, so that it is called better
    only if its difference is beyond chance for all of them together (Bonferroni's rule).
    """
    baseline = literal(evaluation.baseline)
    compared = [policy for policy in evaluation.policies if policy.difference is not None]
    known = [policy for policy in compared if policy.verdict.level != "do not trust"]
    if not compared:
        return ""
    if not known:
        which = "this policy is" if len(compared) == 1 else "any of these policies is"
        return f"<b>This log does not say whether {which} better than {baseline}.</b>"
    best = max(known, key=lambda policy: _gain(policy, evaluation))
    if not _is_better(best, evaluation, 1):
        return f"<b>No policy is shown to be better than {baseline}.</b>"
    return _on_best(best, evaluation, len(compared))


def shown_policies(policies: Sequence[PolicyValue], evaluation: Evaluation, most: int) -> list[PolicyValue]:
    """All of these policies, or of many the baseline and those of the best values that the log supports.

    They keep their order.
    """
    if len(policies) <= most:
        return list(policies)
    first = [one for one in policies if one.name == evaluation.baseline]
    known = [one for one in policies if one.verdict.level != "do not trust" and one not in first]
    others = [one for one in policies if one not in first and one not in known]
    best = sorted(known, key=lambda one: one.value if evaluation.cost else -one.value)
    kept = [*first, *best, *others][:most]
    return [one for one in policies if one in kept]


def named(policies: Sequence[PolicyValue]) -> str:
    """Names of policies with commas, the first few and how many more there are."""
    names = [literal(policy.name) for policy in policies[:MOST_NAMES]]
    more = len(policies) - len(names)
    return f"{', '.join(names)}{f' and {more} more' if more else ''}"


def _on_best(best: PolicyValue, evaluation: Evaluation, n_compared: int) -> str:
    name, baseline = literal(best.name), literal(evaluation.baseline)
    interval = best.difference_interval
    if best.difference is None or interval is None:
        return ""
    unit = f" {evaluation.reward_unit}" if evaluation.reward_unit else ""
    span = span_text(interval.low, interval.high, signed=True)
    amount = (
        f"by {rounded_to(abs(best.difference), interval.high - interval.low)}{unit} per decision "
        f"({interval.level:.0%} interval of the difference {span})"
    )
    if not _is_better(best, evaluation, n_compared):
        return (
            f"<b>{name} looks better than {baseline}</b> {amount}, but the best of {n_compared} policies may "
            "look so by chance: compare it alone on new rows."
        )
    if best.verdict.level == "caution":
        return (
            f"<b>{name} looks better than {baseline}</b> {amount}, with the reservations below: try it on a "
            "share of the traffic first."
        )
    return f"<b>{name} is better than {baseline}</b> {amount}, and the log supports that."


def _gain(policy: PolicyValue, evaluation: Evaluation) -> float:
    difference = 0.0 if policy.difference is None else policy.difference
    return -difference if evaluation.cost else difference


def _is_better(policy: PolicyValue, evaluation: Evaluation, n_compared: int) -> bool:
    """Whether a gain is beyond chance where this number of policies were compared."""
    from scipy.stats import norm

    interval, error = policy.difference_interval, policy.difference_error
    if interval is None or math.isnan(interval.low):
        return False
    if not (interval.high < 0.0 if evaluation.cost else interval.low > 0.0):
        return False
    if n_compared == 1 or error is None or not math.isfinite(error):
        return True
    quantile = float(norm.isf((1.0 - interval.level) / (2.0 * n_compared)))
    return _gain(policy, evaluation) > quantile * error

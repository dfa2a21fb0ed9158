"""Settings of limits on propensities, converted once, and refused where nothing can meet them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard

from gyrfalcon.core.inputs.messages import short_repr, suggestion
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import Policy
from gyrfalcon.core.policies.limited import FixedAction, LimitedPolicy
from gyrfalcon.core.validation import check_share
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon

_ROUNDING = 1e-12

ShareLimits: TypeAlias = Mapping[Any, tuple[float, float]] | Sequence[tuple[object, float, float]]
"""Least and largest probabilities by label, or rows of label, least and largest probability."""
Rows: TypeAlias = tuple[tuple[object, float, float], ...]
Control: TypeAlias = tuple[object, float] | None


def is_policy(control: object) -> TypeGuard[Policy]:
    """Whether a control is a policy, not a label."""
    return not isinstance(control, type) and callable(getattr(control, "probabilities", None))


def check_limitable(learner: object) -> None:
    """Refuse what is not a learner, and one that would compare policies that did not play."""
    lacking = [name for name in ("start", "next_epoch", "adapt") if not hasattr(learner, name)]
    if lacking or isinstance(learner, type):
        raise ValueError(f"learner is {short_repr(learner)}; give one such as AdaptiveFalcon().")
    if isinstance(learner, AdaptiveFalcon) and learner.safe:
        raise ValueError(
            "learner has safe=True, which compares two policies as they would play without limits; "
            "give AdaptiveFalcon(safe=False)."
        )


def checked_control(control: object) -> tuple[object, float]:
    """A control as a pair of a label or a policy and its share."""
    pair = tuple(control) if isinstance(control, list | tuple) else ()
    if len(pair) != 2:
        raise ValueError(
            f'control is {short_repr(control)}; give a label or a policy and its share, as in ("red", 0.1).'
        )
    check_share("the share of the control", pair[1])
    return pair[0], float(pair[1])


def checked_shares(shares: object) -> Rows:
    """Limits of shares as rows of label, least and largest probability."""
    if isinstance(shares, Mapping):
        rows = [(label, *_pair(label, limits)) for label, limits in shares.items()]
    elif isinstance(shares, list | tuple):
        rows = [_row(row) for row in shares]
    else:
        raise ValueError(  # noqa: TRY004 - as all settings
            f"shares are {short_repr(shares)}; give least and largest probabilities by label, as in "
            '{"red": (0.05, 0.5)}.'
        )
    for label, least, most in rows:
        check_share(f"the least share of {short_repr(label)}", least)
        check_share(f"the largest share of {short_repr(label)}", most)
        if least > most:
            raise ValueError(
                f"the least share of {short_repr(label)} is {least:g}, which is more than its largest one, "
                f"{most:g}; give the smaller one first."
            )
    labels = [label for label, _, _ in rows]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"shares have {short_repr(label)} more than once; give each label once.")
    return tuple((label, float(least), float(most)) for label, least, most in rows)


def check_together(control: Control, shares: Rows) -> None:
    """Refuse limits that no distribution meets, whatever other actions there are."""
    least = sum(low for _, low, _ in shares)
    if least > 1.0 + _ROUNDING:
        raise ValueError(f"the least shares sum to {least:g}; they must leave a sum of 1 possible.")
    if control is None or is_policy(control[0]):
        return
    for label, low, high in shares:
        if label == control[0] and control[1] > high:
            raise ValueError(
                f"the control {short_repr(label)} has the share {control[1]:g}, which is more than its "
                f"largest one, {high:g}; change one of them."
            )
        if label == control[0]:
            least += max(control[1] - low, 0.0)
    if control[0] not in {label for label, _, _ in shares}:
        least += control[1]
    if least > 1.0 + _ROUNDING:
        raise ValueError(f"control and least shares sum to {least:g}; they must leave a sum of 1 possible.")


def check_labels(control: Control, shares: Rows, problem: Problem) -> None:
    """Refuse labels that are no actions."""
    labels = [("shares", label) for label, _, _ in shares]
    if control is not None and not is_policy(control[0]):
        labels.append(("control", control[0]))
    for setting, label in labels:
        if label not in problem.actions:
            raise ValueError(
                f"{setting}: there is no action {short_repr(label)}; {suggestion(label, problem.actions)}"
            )


def check_control_stays(control: Control, problem: Problem, n_actions: int) -> None:
    """Refuse other actions than a control can do with."""
    if control is None:
        return
    if is_policy(control[0]):
        if problem.n_actions != n_actions:
            raise ValueError(
                f"the control is a policy of {n_actions} actions, and there would be {problem.n_actions}; "
                "change the learner to one without it, or with one of all actions, before or after."
            )
    elif control[0] not in problem.actions:
        raise ValueError(
            f"action {short_repr(control[0])} is the control of the learner; "
            "change the learner to one with another control first."
        )


def check_attainable(policy: LimitedPolicy, problem: Problem) -> None:
    """Refuse limits that no distribution over all actions meets."""
    low, high, n_actions = policy.least, policy.high, problem.n_actions
    if policy.floor * n_actions > 1.0 + _ROUNDING:
        raise ValueError(
            f"floor is {policy.floor:g} for each of {n_actions} actions, which sum to "
            f"{policy.floor * n_actions:g}; give at most {1.0 / n_actions:.6g}."
        )
    if isinstance(policy.control, FixedAction):
        place = policy.control.action
        low = low.copy()
        low[place] = max(low[place], policy.control_share)
    if low.sum() > 1.0 + _ROUNDING:
        raise ValueError(
            f"floor, control and least shares sum to {low.sum():g} over {n_actions} actions; "
            "they must leave a sum of 1 possible."
        )
    if high.sum() < 1.0 - _ROUNDING:
        raise ValueError(
            f"the largest shares sum to {high.sum():g} over all {n_actions} actions; raise some to reach 1."
        )


def _pair(label: object, limits: object) -> tuple[Any, Any]:
    if not isinstance(limits, Iterable) or isinstance(limits, str) or len(pair := tuple(limits)) != 2:
        raise ValueError(
            f"the limits of {short_repr(label)} are {short_repr(limits)}; give least and largest share, "
            "as in (0.05, 0.5)."
        )
    return pair[0], pair[1]


def _row(row: object) -> tuple[Any, Any, Any]:
    if not isinstance(row, list | tuple) or len(row) != 3:
        raise ValueError(
            f"a row of shares is {short_repr(row)}; give label, least and largest share, as in "
            '("red", 0.05, 0.5).'
        )
    return row[0], row[1], row[2]

"""Validation of an experiment's settings: each error names the value and the remedy."""

from __future__ import annotations

from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import Policy, UniformPolicy
from gyrfalcon.core.validation import check_not_negative, check_whole, is_number
from gyrfalcon.experiment.controlled import Design
from gyrfalcon.experiment.final_policy import FinalPolicy
from gyrfalcon.experiment.policies import SingleAction


def checked_design(
    problem: Problem,
    control: object,
    *,
    control_share: float,
    level: float,
    minimum_effect: float,
    max_rounds: int | None,
) -> Design:
    """The design of an experiment in a problem, with effects in units of the reward range."""
    ends = problem.reward_range
    if ends is None or problem.out_of_range == "accept":
        raise ValueError(
            "an experiment needs rewards within a range, by which differences are bounded; give a "
            "reward_range, and out_of_range 'error' or 'clip'."
        )
    if not (is_number(control_share) and 0.0 < control_share < 1.0):
        raise ValueError(
            f"control_share is {short_repr(control_share)}; give a share in (0, 1), such as 0.1."
        )
    if not (is_number(level) and 0.5 <= level < 1.0):
        raise ValueError(f"level is {short_repr(level)}; give a number in [0.5, 1), such as 0.95.")
    check_not_negative("minimum_effect", minimum_effect)
    width = ends[1] - ends[0]
    if minimum_effect >= width:
        raise ValueError(
            f"minimum_effect is {minimum_effect:g}, and rewards from {ends[0]:g} to {ends[1]:g} can't differ "
            "by more; give a smaller one, in the unit of rewards."
        )
    if max_rounds is not None:
        check_whole("max_rounds", max_rounds)
    policy, name, action = _control_of(problem, control)
    return Design(
        control=policy,
        name=name,
        action=action,
        share=float(control_share),
        level=float(level),
        minimum_effect=float(minimum_effect) / width,
        max_rounds=max_rounds,
    )


def _control_of(problem: Problem, control: object) -> tuple[Policy, str, int | None]:
    """The control policy, its name, and its position where it is an action."""
    if isinstance(control, FinalPolicy):
        if control.problem.actions != problem.actions:
            raise ValueError(
                f"the control is of actions {short_repr(control.problem.actions)}, and the experiment of "
                f"{short_repr(problem.actions)}; give a policy of the same actions in the same order."
            )
        return control.policy, control.name, None
    if callable(getattr(control, "probabilities", None)):
        return control, "the control", None  # type: ignore[return-value]  # it has what a policy needs
    action = problem.index_of(control)
    policy = SingleAction(action, UniformPolicy(problem.n_actions), problem.n_actions)
    return policy, f"always {problem.actions[action]!r}", action

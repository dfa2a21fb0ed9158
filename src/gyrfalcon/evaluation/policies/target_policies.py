"""Target policies: what would have been done instead, as probabilities of all actions in each logged row.

A target policy is a callable that takes a `DecisionTable` of n rows and gives (n, K) probabilities, in the
order of the table's actions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Protocol

from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.messages import short_repr, suggestion
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import Policy
from gyrfalcon.evaluation.policies.alignment import PolicyNames
from gyrfalcon.evaluation.policies.targets import (
    Always,
    FixedTarget,
    FunctionTarget,
    LoggedTarget,
    PolicyTarget,
    RowTarget,
    TargetPolicy,
    UniformTarget,
)

_KINDS = (Always, FixedTarget, FunctionTarget, LoggedTarget, PolicyTarget, RowTarget, UniformTarget)


def always(label: Hashable, otherwise: object = None) -> TargetPolicy:
    """The policy that takes one action in every row.

    Parameters
    ----------
    label
        Label of the action.
    otherwise
        What is done in rows where it is not eligible: another policy, such as `uniform_play()`. None refuses
        a table with such rows.

    Examples
    --------
    >>> from gyrfalcon.logs import DecisionTable
    >>> table = DecisionTable.of(actions=["red", "blue"], action=["blue", "red"], reward=[1.0, 0.0])
    >>> always("blue")(table).tolist()
    [[0.0, 1.0], [0.0, 1.0]]
    """
    return Always(label, None if otherwise is None else target_policy(otherwise))


def uniform_play() -> TargetPolicy:
    """The policy that takes every eligible action with the same probability."""
    return UniformTarget()


def logged_play() -> TargetPolicy:
    """The play that was logged: its value is the mean reward, whatever policies took turns in it."""
    return LoggedTarget()


def by_row(function: Callable[[Mapping[str, float]], Any]) -> TargetPolicy:
    """A rule for one row at a time as a policy.

    Parameters
    ----------
    function
        Takes the features of one row by name, and returns the label of an action or probabilities by label.

    Examples
    --------
    >>> from gyrfalcon.logs import DecisionTable
    >>> table = DecisionTable.of(
    ...     actions=["red", "blue"], action=["blue"], reward=[1.0], shared=[[31.0]], features=["age"]
    ... )
    >>> by_row(lambda row: "red" if row["age"] > 30 else "blue")(table).tolist()
    [[1.0, 0.0]]
    """
    return RowTarget(function)


class HasEpoch(Protocol):
    """What plays by an epoch, such as a `Bandit`, live or loaded from its file."""

    @property
    def epoch(self) -> Epoch:
        """The epoch in play."""
        ...


class HasPolicy(Protocol):
    """A policy with the problem that it was made for, such as the final policy of an `Experiment`."""

    @property
    def problem(self) -> Problem:
        """The decision problem, which knows actions and features."""
        ...

    @property
    def policy(self) -> Policy:
        """The policy on arrays."""
        ...


def of_policy(
    policy: Policy | Epoch | HasEpoch | HasPolicy,
    *,
    actions: Iterable[Hashable] | None = None,
    features: Iterable[str] | None = None,
    action_features: Iterable[str] | None = None,
    held_out: bool = False,
) -> TargetPolicy:
    """A policy of the package as a target policy: its actions and features are found in a table by name.

    Parameters
    ----------
    policy
        A policy, such as `bandit.epoch.greedy`, an epoch, which plays with its passive share, a `Bandit`,
        which plays its epoch, or the final policy of an `Experiment`.
    actions
        Labels of its actions in its order; None means those of its problem if it knows one, else the table's.
    features
        Names of the encoded features in its order; None as for `actions`.
    action_features
        Names of the encoded features of actions in its order; None as for `actions`.
    held_out
        Whether it was learned from other rows than those that it is evaluated on. Otherwise the verdict says
        that the value may be too high.

    Raises
    ------
    ValueError
        When it is evaluated: if the table lacks one of its features, or a row none of whose eligible actions
        it knows.
    """
    played: Any = _played(policy)
    problem = getattr(played.state if isinstance(played, Epoch) else played, "problem", None)
    if _has_policy(played):
        played = played.policy
    names = PolicyNames()
    if problem is not None:
        names = PolicyNames(
            actions=problem.actions,
            features=problem.features.names,
            action_features=problem.action_features.names,
        )
    names = PolicyNames(
        actions=names.actions if actions is None else tuple(actions),
        features=names.features if features is None else tuple(features),
        action_features=names.action_features if action_features is None else tuple(action_features),
    )
    if not isinstance(played, Epoch):
        return PolicyTarget(played, names, held_out=held_out)
    return PolicyTarget(played.policy, names, played.passive_policy, played.passive_share, held_out)


def target_policy(spec: object) -> TargetPolicy:
    """The target policy that a short specification stands for.

    Parameters
    ----------
    spec
        A policy, an epoch or a bandit; "uniform", "logged" or "always LABEL"; probabilities (n, K) or labels
        (n,) for the rows of the table; or a function of a `DecisionTable` that returns either.

    Raises
    ------
    ValueError
        If it is none of these.

    Examples
    --------
    >>> target_policy("always red"), target_policy("uniform")
    (Always(label='red', otherwise=None), UniformTarget())
    """
    if isinstance(spec, _KINDS):
        return spec
    if isinstance(spec, str):
        return _named(spec)
    if isinstance(spec, type):
        raise ValueError(  # noqa: TRY004 - as all settings
            f"{spec.__name__} is a class; give a policy of that class, such as {spec.__name__}()."
        )
    policy: Any = _played(spec)
    if isinstance(policy, Epoch) or hasattr(policy, "probabilities"):
        return of_policy(policy)
    if callable(spec):
        return FunctionTarget(spec)
    if isinstance(spec, list | tuple) or hasattr(spec, "__array__"):
        return FixedTarget(spec)
    raise ValueError(
        f"{short_repr(spec)} is no policy; give 'uniform', 'logged', 'always LABEL', a policy, probabilities "
        "of all actions in each row, or a function of the table."
    )


def _played(spec: Any) -> Any:
    """The epoch of what plays by one, such as a bandit; anything else unchanged."""
    epoch = getattr(spec, "epoch", None)
    return epoch if isinstance(epoch, Epoch) else spec


def _has_policy(spec: Any) -> bool:
    """Whether it is a policy for contexts as programs have them, around one on arrays."""
    return hasattr(spec, "problem") and hasattr(getattr(spec, "policy", None), "probabilities")


def _named(text: str) -> TargetPolicy:
    word, _, label = text.partition(" ")
    if word == "always" and label:
        return Always(label)
    simple: dict[str, TargetPolicy] = {"uniform": UniformTarget(), "logged": LoggedTarget()}
    if text not in simple:
        hint = suggestion(text, (*simple, "always LABEL"))
        raise ValueError(f"{short_repr(text)} is no policy; {hint}")
    return simple[text]

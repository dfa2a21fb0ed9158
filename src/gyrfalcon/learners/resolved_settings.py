"""Settings of learners as values, where None stands for a default, so that a file says what was played."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.limited import Limited
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.regressors.regressor import Regressor


def resolved(learner: Learner, problem: Problem) -> Learner:
    """The learner with values for settings that are None by default, which decides alike.

    What depends on rows or actions that are still to come stays None, and so does what None switches off.

    Parameters
    ----------
    learner
        A learner; one of a user's class is left as it is.
    problem
        The decision problem that it plays.

    Examples
    --------
    >>> learner = resolved(EpsilonFalcon(), Problem(["a", "b"], features=1))
    >>> learner.c_gamma, learner.slack, learner.schedule, learner.model_class.layout
    (10.0, 'calibrated', Doubling(first=100), 'per_action')
    """
    values: dict[str, Any] = {}
    if isinstance(learner, Limited):
        values["learner"] = resolved(learner.learner, problem)
    if isinstance(learner, AdaptiveFalcon):
        values["classes"] = _resolved_classes(learner)
    if isinstance(learner, EpsilonFalcon):
        # A schedule takes the place of the first epoch's length.
        values |= {"c_gamma": learner.c_gamma_value, "slack": learner.slack_rule, "tau_1": None}
        values["schedule"] = learner.epoch_schedule
    model_class = getattr(learner, "model_class", None)
    if isinstance(model_class, Linear | Regressor):
        values["model_class"] = _resolved_class(model_class, problem)
    changed = {name: value for name, value in values.items() if getattr(learner, name) != value}
    return replace(learner, **changed) if changed else learner  # type: ignore[type-var]


def _resolved_classes(learner: AdaptiveFalcon) -> object:
    given = learner.classes
    if given is None:
        return "auto" if len(learner.names) > 1 else "linear"
    if isinstance(given, str):
        return given
    listed: Sequence[object] = [given] if isinstance(given, Linear) else given
    return [replace(one, layout="per_action") if isinstance(one, Linear) else one for one in listed]


def _resolved_class(model_class: Linear | Regressor, problem: Problem) -> Linear | Regressor:
    layout: Any = model_class.layout or ("shared" if problem.action_features.width else "per_action")
    if isinstance(model_class, Linear):
        return replace(model_class, layout=layout)
    return replace(model_class, layout=layout, convex=model_class.is_convex)

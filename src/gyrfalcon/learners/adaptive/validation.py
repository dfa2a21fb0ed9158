"""Validation of the adaptive learner's settings, and the model classes that they name."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from gyrfalcon.core.epochs import PassiveDesign
from gyrfalcon.core.validation import (
    check_choice,
    check_delta,
    check_epsilon,
    check_not_negative,
    check_optional,
    check_parts,
    check_positive,
    check_share,
)
from gyrfalcon.learners.adaptive.model_classes import ParsedClasses, parsed_classes
from gyrfalcon.learners.adaptive.value_gate import GateRule
from gyrfalcon.learners.steps import Data
from gyrfalcon.oracles.linear.linear import Linear

if TYPE_CHECKING:
    from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon


def checked_classes(learner: AdaptiveFalcon) -> ParsedClasses:
    """The model classes of a learner whose settings can be used; ValueError where one can't be."""
    _check_values(learner)
    if not isinstance(learner.model_class, Linear):
        raise ValueError(  # noqa: TRY004 - as all settings
            f"model_class is {type(learner.model_class).__name__}; AdaptiveFalcon needs the "
            "confidence widths of a linear class, such as Linear(); EpsilonFalcon takes any."
        )
    alone = learner.model_class != Linear() or learner.data == "last_epoch"
    default = "linear" if alone else "auto"
    parsed = parsed_classes(default if learner.classes is None else learner.classes)
    if learner.data == "last_epoch" and parsed.others:
        raise ValueError(
            f"data is 'last_epoch' and classes {learner.classes!r}; only the linear class can be fitted to "
            "the last epoch's rows alone, so choose classes='linear' or data='all'."
        )
    return parsed


def _check_values(learner: AdaptiveFalcon) -> None:
    epsilon = learner.epsilon
    if isinstance(epsilon, str) and epsilon not in {"auto", "corollary"}:
        raise ValueError(f"epsilon is {epsilon!r}; give a share in [0, 0.5), 'auto' or 'corollary'.")
    if not isinstance(epsilon, str):
        check_epsilon(epsilon)
    check_share("floor", learner.floor)
    for name in ("decay", "bonus"):
        check_not_negative(name, getattr(learner, name))
    for name in ("c_gamma", "ridge"):
        check_positive(name, getattr(learner, name))
    if isinstance(learner.half_life, str) and learner.half_life != "auto":
        raise ValueError(f"half_life is {learner.half_life!r}; give a number of rows, 'auto' or None.")
    check_optional("half_life", learner.fixed_half_life)
    check_delta(learner.delta)
    check_choice("gate", learner.gate, get_args(GateRule))
    check_choice("passive_design", learner.passive_design, ("tail", "coin", *PassiveDesign))
    check_choice("passive_data", learner.passive_data, get_args(Data))
    check_choice("data", learner.data, get_args(Data))
    check_parts(learner.model_class, learner.schedule)

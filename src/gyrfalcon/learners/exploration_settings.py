"""Settings of learners that no fit depends on: they may change from one epoch to the next."""

from __future__ import annotations

from dataclasses import fields

from gyrfalcon.learners.limited import without_limits
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.registry import entry_of

_FREE = {
    "AdaptiveFalcon": {"epsilon", "decay", "floor", "c_gamma", "bonus"},
    "EpsilonFalcon": {"epsilon", "c_gamma"},
    "Falcon": {"c_gamma", "delta", "class_size"},
    "FalconPlus": {"c_error", "delta", "rho", "rho_prime", "comp"},
    "SquareCB": {
        "gamma",
        "gamma_scale",
        "gamma_exponent",
        "delta",
        "horizon",
        "misspecification",
        "comp",
        "weighting",
    },
    "RAPR": {"omega", "delta"},
    "LinUCB": {"alpha", "mixing"},
    "EnlargedLinUCB": {"misspecification", "alpha", "mixing"},
    "LinTS": {"scale", "noise", "delta", "mixing"},
    "RegCB": {"mixing"},
    "EpsilonGreedy": {"epsilon", "decay"},
    "Greedy": {"mixing"},
    "Softmax": {"temperature", "decay"},
}
_FITTED = ("corollary",)
"""Values of free settings that need sums of their own."""


def differ_in_exploration_alone(one: Learner, other: Learner) -> bool:
    """Whether two learners make the same fits of the same rows, and only explore otherwise.

    Parameters
    ----------
    one, other
        Learners; of classes of one's own nothing is known, so that any two differ in more.

    Examples
    --------
    >>> from gyrfalcon import AdaptiveFalcon, Limited
    >>> differ_in_exploration_alone(AdaptiveFalcon(), AdaptiveFalcon(bonus=1.0))
    True
    >>> differ_in_exploration_alone(AdaptiveFalcon(), AdaptiveFalcon(ridge=2.0))
    False
    >>> differ_in_exploration_alone(AdaptiveFalcon(), Limited(AdaptiveFalcon(), floor=0.05))
    True
    """
    one, other = without_limits(one), without_limits(other)
    entry = entry_of(type(one))
    if type(one) is not type(other) or entry is None:
        return one is other
    free = _FREE.get(entry.name, set())
    for field in fields(one):  # type: ignore[arg-type]  # all of ours are dataclasses
        if field.init:
            values = getattr(one, field.name), getattr(other, field.name)
            needs_sums = any(isinstance(value, str) and value in _FITTED for value in values)
            if values[0] != values[1] and (field.name not in free or needs_sums):
                return False
    return True

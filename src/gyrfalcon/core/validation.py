"""Validation of settings: an error is one sentence with the value and the remedy."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Literal, TypeAlias, TypeGuard

from gyrfalcon.core.inputs.messages import short_repr


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value can be compared with a float; True and False are not meant as numbers."""
    return not isinstance(value, bool) and isinstance(value, Real)


def is_own(part: object) -> bool:
    """Whether a learner or an environment is an instance of a user's class, or a learner that has one inside.

    >>> from gyrfalcon.core.schedules import Doubling
    >>> is_own(Doubling(100)), is_own("a user's own")
    (False, True)
    """
    if type(part).__module__.partition(".")[0] != "gyrfalcon":
        return True
    inside = getattr(part, "learner", None)
    return inside is not None and is_own(inside)


def check_positive(name: str, value: float) -> None:
    """Refuse what is not a positive and finite number."""
    if not (is_number(value) and 0.0 < value < math.inf):
        raise ValueError(f"{name} is {short_repr(value)}; give a positive number.")


def check_optional(name: str, value: float | None) -> None:
    """Refuse what is neither a positive and finite number nor None, which means that a default applies."""
    if value is not None:
        check_positive(name, value)


def check_not_negative(name: str, value: float) -> None:
    """Refuse what is not a finite number of at least 0."""
    if not (is_number(value) and 0.0 <= value < math.inf):
        raise ValueError(f"{name} is {short_repr(value)}; give a finite number of at least 0.")


def check_whole(
    name: str, value: object, least: int = 1, below: int | None = None, *, floats: bool = False
) -> None:
    """Refuse what is not a whole number of at least `least`, and below a bound if there is one.

    With `floats`, numbers such as 1e6 are whole, too.
    """
    number = int(value) if not isinstance(value, bool) and isinstance(value, Integral) else None
    if floats and is_number(value) and value % 1.0 == 0.0:
        number = int(value)
    if number is None or number < least or (below is not None and number >= below):
        limit = "" if below is None else f" and below {below}"
        raise ValueError(f"{name} is {short_repr(value)}; give a whole number of at least {least}{limit}.")


def check_at_least(name: str, value: object, least: float) -> None:
    """Refuse what is not a number of at least `least`; infinity is one."""
    if not (is_number(value) and value >= least):
        raise ValueError(f"{name} is {short_repr(value)}; give a number of at least {least:g}.")


def check_seconds(name: str, value: object) -> None:
    """Refuse what is neither a positive number of seconds nor None."""
    if value is not None and not (is_number(value) and value > 0.0):
        raise ValueError(
            f"{name} is {short_repr(value)}; give seconds above 0, or None to wait without limit."
        )


def check_flag(name: str, value: object) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} is {short_repr(value)}; give True or False.")  # noqa: TRY004 - as all settings


def check_epsilon(epsilon: float, name: str = "epsilon", *, positive: bool = False) -> None:
    """Refuse a passive share outside [0, 0.5), or outside (0, 0.5) where it must be positive."""
    if not (is_number(epsilon) and 0.0 <= epsilon < 0.5) or (positive and epsilon == 0.0):
        shares = "(0, 0.5)" if positive else "[0, 0.5)"
        raise ValueError(
            f"{name} is {short_repr(epsilon)}; the passive share must be in {shares}, for example 0.05."
        )


def check_delta(delta: float, most: float = 0.49) -> None:
    """Refuse a confidence outside (0, most]."""
    if not (is_number(delta) and 0.0 < delta <= most):
        raise ValueError(
            f"delta is {short_repr(delta)}; the proof needs delta in (0, {most:.4g}], for example 0.05."
        )


def check_mixing(mixing: float) -> None:
    """Refuse a share of uniform play outside [0, 1)."""
    if not (is_number(mixing) and 0.0 <= mixing < 1.0):
        raise ValueError(f"mixing is {short_repr(mixing)}; give a share of uniform play in [0, 1).")


def check_rates(rho: float, rho_prime: float) -> None:
    """Refuse exponents that Assumption 1 does not know."""
    if not (is_number(rho) and is_number(rho_prime) and 0.0 < rho <= 1.0 and 0.0 <= rho_prime < math.inf):
        raise ValueError(
            f"rho is {short_repr(rho)}, rho_prime {short_repr(rho_prime)}; "
            "Assumption 1 has rho in (0, 1], rho' >= 0."
        )


def check_parts(model_class: object, schedule: object) -> None:
    """Refuse what is not a model class or a schedule."""
    if not hasattr(model_class, "oracle"):
        raise ValueError(
            f"model_class is {short_repr(model_class)}; give a model class such as Linear(ridge=1.0)."
        )
    check_schedule(schedule)


def check_schedule(schedule: object) -> None:
    """Refuse what is not a schedule of epochs."""
    if not hasattr(schedule, "end"):
        raise ValueError(f"schedule is {short_repr(schedule)}; give a schedule such as Doubling(100).")


def check_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    """Refuse a word that is not on the list."""
    if value not in choices:
        words = ", ".join(repr(choice) for choice in choices if isinstance(choice, str))
        raise ValueError(f"{name} is {short_repr(value)}; choose one of {words}.")


Noise: TypeAlias = float | Literal["bernoulli"]
"""The standard deviation of Gaussian rewards, or rewards that are 0 or 1."""


def check_level(level: object) -> None:
    """Refuse a level of confidence outside (0, 1)."""
    if not (is_number(level) and 0.0 < level < 1.0):
        raise ValueError(f"level is {short_repr(level)}; give a number in (0, 1), for example 0.95.")


def check_share(name: str, value: object, low: float = 0.0, high: float = 1.0) -> None:
    """Refuse what is not a number from `low` to `high`."""
    if not (is_number(value) and low <= value <= high):
        raise ValueError(f"{name} is {short_repr(value)}; give a number from {low:g} to {high:g}.")


def check_deviation(name: str, value: object) -> None:
    """Refuse what is not a finite standard deviation."""
    if not (is_number(value) and 0.0 <= value < math.inf):
        raise ValueError(
            f"{name} is {short_repr(value)}; it is a standard deviation, so give a number of at least 0."
        )


def check_noise(noise: object) -> None:
    """Refuse what is neither a standard deviation nor "bernoulli"."""
    if isinstance(noise, str):
        if noise != "bernoulli":
            raise ValueError(f"noise is {short_repr(noise)}; give a standard deviation, or 'bernoulli'.")
        return
    check_deviation("noise", noise)

"""Refusals of settings that any layer may need: one sentence with the value and the remedy."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import TypeGuard


def is_number(value: object) -> TypeGuard[float]:
    """Whether this can be compared with a float; True and False are not meant as numbers."""
    return not isinstance(value, bool) and isinstance(value, Real)


def check_positive(name: str, value: float) -> None:
    """Refuse what is not a positive and finite number."""
    if not (is_number(value) and 0.0 < value < math.inf):
        raise ValueError(f"{name} is {value!r}; give a positive number.")


def check_optional(name: str, value: float | None) -> None:
    """Refuse the same, unless it is None, which means that a default applies."""
    if value is not None:
        check_positive(name, value)


def check_not_negative(name: str, value: float) -> None:
    """Refuse what is not a finite number of at least 0."""
    if not (is_number(value) and 0.0 <= value < math.inf):
        raise ValueError(f"{name} is {value!r}; give a finite number of at least 0.")


def check_whole(name: str, value: object, least: int = 1, below: int | None = None) -> None:
    """Refuse what is not a whole number of at least `least`, and below a bound if there is one."""
    number = int(value) if not isinstance(value, bool) and isinstance(value, Integral) else None
    if number is None or number < least or (below is not None and number >= below):
        limit = "" if below is None else f" and below {below}"
        raise ValueError(f"{name} is {value!r}; give a whole number of at least {least}{limit}.")


def check_flag(name: str, value: object) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} is {value!r}; give True or False.")  # noqa: TRY004 - as all settings

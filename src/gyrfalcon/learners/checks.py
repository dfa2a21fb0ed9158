"""Refusals that several learners share: one sentence with the value and the remedy."""

from __future__ import annotations

import math


def check_epsilon(epsilon: float) -> None:
    """Refuse a passive share outside [0, .5)."""
    if not 0.0 <= epsilon < 0.5:
        raise ValueError(f"epsilon is {epsilon}; the passive share must be in [0, .5), for example .05.")


def check_delta(delta: float) -> None:
    """Refuse a confidence outside (0, .49]."""
    if not 0.0 < delta <= 0.49:
        raise ValueError(f"delta is {delta}; the proof needs delta in (0, .49], for example .05.")


def check_positive(name: str, value: float | None) -> None:
    """Refuse a number that is not positive and finite; None means that a default applies."""
    if value is not None and not (value > 0.0 and math.isfinite(value)):
        raise ValueError(f"{name} is {value}; give a positive number.")


def check_not_negative(name: str, value: float) -> None:
    """Refuse a number that is negative or not finite."""
    if not (value >= 0.0 and math.isfinite(value)):
        raise ValueError(f"{name} is {value}; give a finite number of at least 0.")


def check_whole(name: str, value: object) -> None:
    """Refuse what is not a number of rounds."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} is {value!r}; give a whole number of at least 1 round.")


def check_mixing(mixing: float) -> None:
    """Refuse a share of uniform play outside [0, 1)."""
    if not 0.0 <= mixing < 1.0:
        raise ValueError(f"mixing is {mixing}; give a share of uniform play in [0, 1).")


def check_parts(model_class: object, schedule: object) -> None:
    """Refuse what is not a model class or a schedule; None means that a default applies."""
    if not hasattr(model_class, "oracle"):
        raise ValueError(f"model_class is {model_class!r}; give a model class such as Linear(ridge=1.0).")
    if schedule is not None and not hasattr(schedule, "end"):
        raise ValueError(f"schedule is {schedule!r}; give a schedule such as Doubling(100).")


def check_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    """Refuse a word that is not on the list."""
    if value not in choices:
        raise ValueError(
            f"{name} is {value!r}; choose one of {', '.join(repr(c) for c in choices if isinstance(c, str))}."
        )

"""Refusals that several learners share: one sentence with the value and the remedy."""

from __future__ import annotations

import math

from gyrfalcon.core.checks import is_number


def check_epsilon(epsilon: float) -> None:
    """Refuse a passive share outside [0, .5)."""
    if not (is_number(epsilon) and 0.0 <= epsilon < 0.5):
        raise ValueError(f"epsilon is {epsilon!r}; the passive share must be in [0, .5), for example .05.")


def check_delta(delta: float) -> None:
    """Refuse a confidence outside (0, .49]."""
    if not (is_number(delta) and 0.0 < delta <= 0.49):
        raise ValueError(f"delta is {delta!r}; the proof needs delta in (0, .49], for example .05.")


def check_mixing(mixing: float) -> None:
    """Refuse a share of uniform play outside [0, 1)."""
    if not (is_number(mixing) and 0.0 <= mixing < 1.0):
        raise ValueError(f"mixing is {mixing!r}; give a share of uniform play in [0, 1).")


def check_rates(rho: float, rho_prime: float) -> None:
    """Refuse exponents that Assumption 1 does not know."""
    if not (is_number(rho) and is_number(rho_prime) and 0.0 < rho <= 1.0 and 0.0 <= rho_prime < math.inf):
        raise ValueError(
            f"rho is {rho!r}, rho_prime {rho_prime!r}; Assumption 1 has rho in (0, 1], rho' >= 0."
        )


def check_parts(model_class: object, schedule: object) -> None:
    """Refuse what is not a model class or a schedule."""
    if not hasattr(model_class, "oracle"):
        raise ValueError(f"model_class is {model_class!r}; give a model class such as Linear(ridge=1.0).")
    check_schedule(schedule)


def check_schedule(schedule: object) -> None:
    """Refuse what is not a schedule."""
    if not hasattr(schedule, "end"):
        raise ValueError(f"schedule is {schedule!r}; give a schedule such as Doubling(100).")


def check_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    """Refuse a word that is not on the list."""
    if value not in choices:
        raise ValueError(
            f"{name} is {value!r}; choose one of {', '.join(repr(c) for c in choices if isinstance(c, str))}."
        )

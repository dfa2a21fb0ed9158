"""Refusals of settings that worlds share."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

from gyrfalcon.core.checks import is_number

Noise: TypeAlias = float | Literal["bernoulli"]
"""The standard deviation of Gaussian rewards, or rewards that are 0 or 1."""


def check_share(name: str, value: object, low: float = 0.0, high: float = 1.0) -> None:
    """Refuse what is not a number from `low` to `high`."""
    if not (is_number(value) and low <= value <= high):
        raise ValueError(f"{name} is {value!r}; give a number from {low:g} to {high:g}.")


def check_deviation(name: str, value: object) -> None:
    """Refuse what is no standard deviation."""
    if not (is_number(value) and 0.0 <= value < math.inf):
        raise ValueError(f"{name} is {value!r}; it is a standard deviation, so give a number of at least 0.")


def check_noise(noise: object) -> None:
    """Refuse what is neither a standard deviation nor "bernoulli"."""
    if isinstance(noise, str):
        if noise != "bernoulli":
            raise ValueError(f"noise is {noise!r}; give a standard deviation, or 'bernoulli'.")
        return
    check_deviation("noise", noise)

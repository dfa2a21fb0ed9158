"""Whole numbers as people type them."""

from __future__ import annotations

import math

import typer


def whole(text: str | int) -> int:
    """The whole number of an option; a usage error if it is none."""
    try:
        return whole_number(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def whole_number(text: str | int) -> int:
    """A whole number; 1e6 and 1_000_000 are a million.

    >>> whole_number("1e6"), whole_number("50_000"), whole_number(7)
    (1000000, 50000, 7)
    """
    try:
        return int(text)
    except ValueError:
        value = _float(str(text))
    if not (math.isfinite(value) and value == math.floor(value)):
        raise ValueError(f"{text!r} is not a whole number; give one like 50000 or 1e6.")
    return int(value)


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan

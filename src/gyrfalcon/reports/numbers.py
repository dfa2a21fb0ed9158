"""Numbers as words of a sentence."""

from __future__ import annotations

import math


def decimal(value: float, digits: int) -> str:
    """A number with so many decimals, thousands apart, and a true minus sign.

    >>> decimal(-0.25, 2), decimal(1234.5, 0), decimal(-0.0001, 2)
    ('−0.25', '1,234', '0.00')
    """
    rounded = round(float(value), digits) + 0.0  # a zero without its sign
    return f"{rounded:,.{digits}f}".replace("-", "−")


def with_error(mean: float, standard_error: float, digits: int) -> str:
    """A mean and in brackets its standard error, where there is one: a single replication has none.

    >>> with_error(0.0403, 0.0002, 4), with_error(0.0403, math.nan, 4)
    ('0.0403 (0.0002)', '0.0403')
    """
    shown = decimal(mean, digits)
    return shown if math.isnan(standard_error) else f"{shown} ({decimal(standard_error, digits)})"

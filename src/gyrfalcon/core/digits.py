"""Numbers as people write them: with the digits that an interval leaves, and commas where they are large."""

from __future__ import annotations

import math

_MOST = 1e15
"""Numbers from here on are written with powers of ten."""
_LEAST = 1e-6
"""Numbers below are written with powers of ten, too, where an interval says how many digits they have."""


def significant(value: float, digits: int = 3, *, signed: bool = False) -> str:
    """A number in so few significant digits, without powers of ten unless it is extreme.

    >>> significant(79987.0), significant(0.0123456), significant(-8.2e-08), significant(2830.0, signed=True)
    ('80,000', '0.0123', '-8.2e-08', '+2,830')
    """
    sign = "+" if signed else ""
    if not math.isfinite(value) or not 10.0**digits <= abs(value) < _MOST:
        return f"{value:{sign}.{digits}g}"
    return f"{float(f'{value:.{digits - 1}e}'):{sign},.0f}"


def rounded_to(value: float, width: float, *, signed: bool = False, beside: float = 0.0) -> str:
    """A number in the digits that an interval of this width leaves: three of them may differ within it.

    It is written as a number of the size `beside` is: with powers of ten, or without.

    >>> rounded_to(50502345.6, 27000.0), rounded_to(0.0066012, 0.006), rounded_to(6.0591e-07, 5e-08)
    ('50,502,300', '0.00660', '6.059e-07')
    """
    if not (math.isfinite(value) and math.isfinite(width) and width > 1e-12 * abs(value)):
        return significant(value, 4, signed=signed)
    sign, place = "+" if signed else "", math.floor(math.log10(width)) - 2
    size = max(abs(value), width, abs(beside))
    if _LEAST <= size < _MOST:
        return f"{round(value, -place) + 0.0:{sign},.{max(-place, 0)}f}"
    return f"{value:{sign}.{max(math.floor(math.log10(size)) - place, 0)}e}"


def span_text(low: float, high: float, *, signed: bool = False) -> str:
    """Both ends of an interval in the digits that its width leaves.

    >>> span_text(0.0035761, 0.0096251), span_text(-17477.2, 9720.9, signed=True)
    ('0.00358 to 0.00963', '-17,500 to +9,700')
    >>> span_text(9.879e-05, 0.00010045)
    '0.00009879 to 0.00010045'
    """
    largest = max(abs(low), abs(high))
    return " to ".join(rounded_to(end, high - low, signed=signed, beside=largest) for end in (low, high))

"""The constants of the paper's proofs; each function names the lemma that fixes it."""

from __future__ import annotations

import math

C_LINEAR = 131072.0 / math.log(2.0)
"""C of Assumption 1 for a d-dimensional linear class, good at every confidence (Appendix, learning rates)."""


def c_1(c: float = C_LINEAR) -> float:
    """C_1 = 3 C / 2, the constant of the slack (Lemma ConReg).

    >>> round(c_1(), 2)
    283645.39
    """
    return 1.5 * c


def c_5(c: float = C_LINEAR, rho: float = 1.0) -> float:
    """C_5 = 2 C 4^rho (2 + ln 12) (Lemma ConReg).

    >>> round(c_5(), 1)
    6784656.4
    """
    return 2.0 * c * math.pow(4.0, rho) * (2.0 + math.log(12.0))


def c_3(c: float = C_LINEAR, rho: float = 1.0) -> float:
    """C_3 = 1 / (4 C_5), the constant of gamma (Lemma reg-est-accuracy).

    >>> round(c_3() * 1e8, 6)
    3.684785
    """
    return 1.0 / (4.0 * c_5(c, rho))

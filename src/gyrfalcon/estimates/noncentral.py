"""Confidence intervals for the noncentrality of an F statistic, by inverting its distribution."""

from __future__ import annotations

from scipy.optimize import brentq
from scipy.special import ncfdtr


def noncentrality_interval(F: float, df1: float, df2: float, level: float) -> tuple[float, float]:
    """The noncentralities under which F lies within the middle `level` of its distribution.

    An end is 0 where F is too small even for a noncentrality of 0.

    >>> low, high = noncentrality_interval(4.0, 3, 20, 0.95)
    >>> round(low, 3), round(high, 3)
    (0.111, 29.644)
    """
    tail = (1.0 - level) / 2.0
    return _noncentrality(F, df1, df2, 1.0 - tail), _noncentrality(F, df1, df2, tail)


def _noncentrality(F: float, df1: float, df2: float, share: float) -> float:
    """The noncentrality under which a share of the distribution is below F; it falls as that grows."""

    def excess(noncentrality: float) -> float:
        return float(ncfdtr(df1, df2, noncentrality, F)) - share

    if excess(0.0) <= 0.0:
        return 0.0
    high = max(df1 * F, 1.0)
    while excess(high) > 0.0:
        high *= 2.0
    return float(brentq(excess, 0.0, high, xtol=1e-12 * high, rtol=1e-12))

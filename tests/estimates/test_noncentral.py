"""The F distribution's noncentrality, inverted, against sums of incomplete beta functions in 40 digits."""

from __future__ import annotations

import mpmath
import pytest
from scipy.stats import chi2

from gyrfalcon.estimates.misspecification.pure_error import noncentrality_interval


def share_below(F: float, df1: int, df2: int, noncentrality: float) -> float:
    """P(F' <= F): a Poisson mixture of beta distributions."""
    with mpmath.workdps(40):
        half, point = mpmath.mpf(noncentrality) / 2, mpmath.mpf(df1) * F / (mpmath.mpf(df1) * F + df2)
        total, term = mpmath.mpf(0), mpmath.exp(-half)
        for j in range(int(noncentrality) * 2 + 200):
            total += term * mpmath.betainc(mpmath.mpf(df1) / 2 + j, mpmath.mpf(df2) / 2, 0, point, True)
            term *= half / (j + 1)
        return float(total)


@pytest.mark.parametrize(
    ("F", "df1", "df2", "level"),
    [(4.0, 3, 20, 0.95), (2.0, 6, 50, 0.8), (11.0, 1, 12, 0.9), (9.0, 5, 300, 0.99)],
)
def test_ends_leave_equal_shares_on_either_side(F: float, df1: int, df2: int, level: float) -> None:
    low, high = noncentrality_interval(F, df1, df2, level)
    assert 0.0 < low < high
    assert share_below(F, df1, df2, low) == pytest.approx((1.0 + level) / 2.0, abs=1e-9)
    assert share_below(F, df1, df2, high) == pytest.approx((1.0 - level) / 2.0, abs=1e-9)


def test_a_small_statistic_has_ends_at_zero() -> None:
    low, high = noncentrality_interval(1.0, 3, 20, 0.95)
    assert low == 0.0 < high
    assert noncentrality_interval(0.001, 8, 20, 0.95) == (0.0, 0.0)


def test_with_many_spare_rows_it_is_the_chi_squares() -> None:
    low, high = noncentrality_interval(200.0, 2, 10**8, 0.95)
    for noncentrality, share in ((low, 0.975), (high, 0.025)):
        # A noncentral chi-square of 2 degrees: P(Poisson mixture), summed here from its own definition.
        mean = noncentrality / 2.0
        with mpmath.workdps(30):
            weight = [mpmath.exp(-mean) * mpmath.mpf(mean) ** j / mpmath.factorial(j) for j in range(600)]
        below = float(sum(w * float(chi2.cdf(400.0, 2 + 2 * j)) for j, w in enumerate(weight)))
        assert below == pytest.approx(share, abs=1e-4)


def test_huge_statistics_are_no_trouble() -> None:
    low, high = noncentrality_interval(1e9, 2, 50, 0.95)
    assert 1e9 < low < 2e9 < high < 4e9

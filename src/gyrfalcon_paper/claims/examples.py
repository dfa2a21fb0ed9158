"""Examples 1 to 3 against Theorem 2, and the rates of others that the paper quotes."""

from __future__ import annotations

import math
from itertools import product

from gyrfalcon.core.schedules import Doubling
from gyrfalcon.theory import example_1, example_2, example_3, regret_rate, vc_hull
from gyrfalcon_paper.claims.claim import Finding, at_most


def vc_classes(printed: float = math.sqrt(2.0)) -> list[Finding]:
    """Example 1's learning cost as printed, with ln(T / V), over what Theorem 2 gives, with ln T."""
    settings = [(T, V) for V in (1, 5, 50, 500) for T in (max(V**2, 10), 10 * V**2 + 90, 10**12)]
    largest = max(
        example_1(T, 2, V, 0.01, 0.1, 0.05).estimation
        / example_1(T, 2, V, 0.01, 0.1, 0.05, "paper").estimation
        for T, V in settings
    )
    return [Finding("example-1", at_most(largest, printed), {"largest_ratio": largest})]


def convex_hulls(printed: float | None = None, printed_power: float = -0.25) -> list[Finding]:
    """Example 2's power of T, and its cost of misspecification over Theorem 2's."""
    V, T, factor = 5, 10**9, 10.0
    exponent = (2.0 + 3.0 * V) / (4.0 + 4.0 * V) if printed is None else printed
    rates = [
        regret_rate(rounds, 2, vc_hull(V).comp, 0.01, 0.1, 0.05, vc_hull(V).rho).estimation
        / math.sqrt(math.log(math.log(rounds) / 0.05))
        for rounds in (T, T * factor)
    ]
    found = math.log(rates[1] / rates[0]) / math.log(factor)
    ratios = [
        _over_printed(V, epsilon, printed_power) for V, epsilon in product((1, 5, 50), (0.001, 0.1, 0.49))
    ]
    return [
        Finding("example-2-learning", abs(found - exponent) < 1e-9, {"power_of_T": found}),
        Finding(
            "example-2-misspecification",
            at_most(max(ratios), 1.0),
            {"largest_ratio_to_printed": max(ratios), "smallest_ratio_to_printed": min(ratios)},
        ),
    ]


def _over_printed(V: int, epsilon: float, power: float) -> float:
    """Theorem 2's cost of misspecification over K T sqrt(b) times a power of epsilon."""
    cost = example_2(10**6, 2, V, 0.01, epsilon, 0.05).misspecification
    return cost / (2e6 * math.sqrt(0.01) * math.pow(epsilon, power))


def entropy_classes(printed: float | None = None) -> list[Finding]:
    """Example 3's powers of T and epsilon."""
    s = 0.5
    exponent = (1.0 + 2.0 * s) / (2.0 + 2.0 * s) if printed is None else printed
    many, more = (example_3(T, 2, s, 0.01, 0.1, 0.05) for T in (10**9, 10**10))
    logs = (math.log(math.log(T) / 0.05) for T in (10**9, 10**10))
    found = math.log10(more.estimation / many.estimation * math.sqrt(next(logs) / next(logs)))
    less = example_3(10**9, 2, s, 0.01, 0.01, 0.05)
    by_share = -math.log10(less.misspecification / many.misspecification)
    holds = abs(found - exponent) < 1e-9 and abs(by_share + 0.25 / (1.0 + s)) < 1e-9
    return [Finding("example-3", holds, {"power_of_T": found, "power_of_epsilon": by_share})]


def rate_of_iltcb(printed: float = 1.0) -> list[Finding]:
    """How ILTCB's own bound grows with T, K and ln |Pi|, against the printed power and 1/2."""
    base = iltcb_bound(1e16, 10, 1e6)
    logarithms = _confidence(1e16, 1e30) / _confidence(1e16, 1e6)
    powers = {
        "power_of_T": math.log(iltcb_bound(1e20, 10, 1e6) / base) / math.log(1e4),
        "power_of_K": math.log(iltcb_bound(1e16, 1000, 1e6) / base) / math.log(100.0),
        "power_of_logarithm": math.log(iltcb_bound(1e16, 10, 1e30) / base) / math.log(logarithms),
    }
    return [
        Finding(key, all(abs(found - claimed) < 0.05 for found in powers.values()), powers)
        for key, claimed in (("iltcb-rate", printed), ("iltcb-rate-corrected", 0.5))
    ]


def iltcb_bound(T: float, K: int, n_policies: float, delta: float = 0.05) -> float:
    """The regret bound of Agarwal et al. (2014), Theorem 2, for epochs that double.

    c (4 K d_0 + sqrt(8 K d T)) + sqrt(8 T ln(2 / delta)) with d_t = ln(16 t^2 |Pi| / delta) and c = 400 +
    4 sqrt(2) 95.1, where d_0 is that of the first t with d_t / t <= 1 / (4 K).

    >>> iltcb_bound(1e12, 10, 1e6) < 1e12
    True
    """
    first = 4.0 * K
    while _confidence(first, n_policies, delta) / first > 1.0 / (4.0 * K):
        first *= 2.0
    scale = 400.0 + 4.0 * math.sqrt(2.0) * 95.1
    learning = math.sqrt(8.0 * K * _confidence(2.0 * T, n_policies, delta) * 2.0 * T)
    early = 4.0 * K * _confidence(first, n_policies, delta)
    return scale * (early + learning) + math.sqrt(8.0 * T * math.log(2.0 / delta))


def _confidence(t: float, n_policies: float, delta: float = 0.05) -> float:
    return math.log(16.0 * t**2 * n_policies / delta)


def fits_of_falcon(tau_1: int = 4, printed: float = 1.0) -> list[Finding]:
    """Epochs until T, over log2 T."""
    schedule = Doubling(tau_1)
    horizons = [10**power for power in range(2, 13)]
    n_fits = [next(m for m in range(1, 100) if schedule.end(m) >= T) - 1 for T in horizons]
    worst = max(n / math.log2(T) for n, T in zip(n_fits, horizons, strict=True))
    numbers = {"fits_in_a_million": n_fits[4], "largest_over_log2_T": worst}
    return [Finding("falcon-fits", at_most(worst, printed), numbers)]

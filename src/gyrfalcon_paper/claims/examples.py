"""Examples 1 to 3 against Theorem 2, and the rates of others that the paper quotes."""

from __future__ import annotations

import math

from gyrfalcon.core.schedules import Doubling
from gyrfalcon.theory import example_1, example_2, example_3, regret_rate, vc_hull
from gyrfalcon_paper.claims.claim import Claim, at_most, shown, times


def vc_classes(printed: float = math.sqrt(2.0)) -> list[Claim]:
    """Example 1's learning cost as printed, with ln(T / V), over what Theorem 2 gives, with ln T."""
    settings = [(T, V) for V in (1, 5, 50, 500) for T in (max(V**2, 10), 10 * V**2 + 90, 10**12)]
    ratios = [
        example_1(T, 2, V, 0.01, 0.1, 0.05).estimation
        / example_1(T, 2, V, 0.01, 0.1, 0.05, "paper").estimation
        for T, V in settings
    ]
    return [
        Claim(
            key="example-1",
            source="Example 1",
            statement="For a class of VC-subgraph dimension V the learning cost is sqrt(K T V ln(T / V) "
            "ln(ln T / delta)) up to a constant.",
            computed=f"Theorem 2's cost is up to {max(ratios):.4f} times that, from T = V^2 on",
            holds=at_most(max(ratios), printed),
            note="Assumption 1 knows ln T only. The constant has no bound as T comes down to V.",
            numbers={"largest_ratio": max(ratios)},
        )
    ]


def convex_hulls(printed: float | None = None) -> list[Claim]:
    """Example 2's powers, by how the rates grow."""
    V, T, factor = 5, 10**9, 10.0
    exponent = (2.0 + 3.0 * V) / (4.0 + 4.0 * V) if printed is None else printed
    rates = [
        regret_rate(rounds, 2, vc_hull(V).comp, 0.01, 0.1, 0.05, vc_hull(V).rho).estimation
        / math.sqrt(math.log(math.log(rounds) / 0.05))
        for rounds in (T, T * factor)
    ]
    found = math.log(rates[1] / rates[0]) / math.log(factor)
    return [
        Claim(
            key="example-2-learning",
            source="Example 2",
            statement=f"For the hull of a class of VC-subgraph dimension {V} the learning cost grows like T "
            f"to the power of {shown(exponent)}.",
            computed=f"power {found:.6f} by Theorem 2",
            holds=abs(found - exponent) < 1e-9,
            numbers={"power_of_T": found},
        ),
        _hull_power("example-2-misspecification", "Example 2", -0.25, V),
        _hull_power("example-2-corrected", "Example 2, corrected", -vc_hull(V).rho / 4.0, V),
    ]


def _hull_power(key: str, source: str, claimed: float, V: int) -> Claim:
    """The power of epsilon in what misspecification costs."""
    costs = [example_2(10**6, 2, V, 0.01, epsilon, 0.05).misspecification for epsilon in (0.01, 0.16)]
    found = math.log(costs[1] / costs[0]) / math.log(16.0)
    printed = example_2(10**6, 2, V, 0.01, 0.01, 0.05, "paper").misspecification
    return Claim(
        key=key,
        source=source,
        statement=f"For the hull of a class of VC-subgraph dimension {V}, Theorem 2's cost of "
        f"misspecification grows like epsilon to the power of {shown(claimed)}.",
        computed=f"power {found:.6f} by Theorem 2, whose rho is {vc_hull(V).rho:.4f}",
        holds=abs(found - claimed) < 1e-9,
        note=f"The printed cost is an upper bound all the same, {printed / costs[0]:.2f} times too large at "
        "epsilon = .01.",
        numbers={"power_of_epsilon": found, "claimed": claimed},
    )


def entropy_classes(printed: float | None = None) -> list[Claim]:
    """Example 3's powers of T and epsilon."""
    s = 0.5
    exponent = (1.0 + 2.0 * s) / (2.0 + 2.0 * s) if printed is None else printed
    many, more = (example_3(T, 2, s, 0.01, 0.1, 0.05) for T in (10**9, 10**10))
    logs = (math.log(math.log(T) / 0.05) for T in (10**9, 10**10))
    found = math.log10(more.estimation / many.estimation * math.sqrt(next(logs) / next(logs)))
    less = example_3(10**9, 2, s, 0.01, 0.01, 0.05)
    by_share = -math.log10(less.misspecification / many.misspecification)
    return [
        Claim(
            key="example-3",
            source="Example 3",
            statement=f"For entropy exponent {s} the learning cost grows like T to the power of "
            f"{shown(exponent)}, and misspecification costs epsilon to the power of "
            f"{shown(-0.25 / (1.0 + s))}.",
            computed=f"powers {found:.6f} and {by_share:.6f} by Theorem 2",
            holds=abs(found - exponent) < 1e-9 and abs(by_share + 0.25 / (1.0 + s)) < 1e-9,
            numbers={"power_of_T": found, "power_of_epsilon": by_share},
        )
    ]


def rate_of_iltcb(printed: float = 1.0) -> list[Claim]:
    """How ILTCB's own bound grows with T, K and ln |Pi|, as printed and with a square root."""
    return [
        _iltcb("iltcb-rate", "Section 1", printed, "K T log |Pi|"),
        _iltcb("iltcb-rate-corrected", "Section 1, corrected", 0.5, "sqrt(K T log |Pi|)"),
    ]


def _iltcb(key: str, source: str, claimed: float, rate: str) -> Claim:
    base = iltcb_bound(1e16, 10, 1e6)
    by_T = math.log(iltcb_bound(1e20, 10, 1e6) / base) / math.log(1e4)
    by_K = math.log(iltcb_bound(1e16, 1000, 1e6) / base) / math.log(100.0)
    by_class = math.log(iltcb_bound(1e16, 10, 1e24 * 1e6) / base)
    by_class /= math.log(_confidence(1e16, 1e30) / _confidence(1e16, 1e6))
    return Claim(
        key=key,
        source=source,
        statement=f"The regret of ILTCB grows like {rate}, up to logarithms.",
        computed=f"its own bound grows like T^{by_T:.2f}, K^{by_K:.2f} and the logarithm to {by_class:.2f}",
        holds=all(abs(found - claimed) < 0.05 for found in (by_T, by_K, by_class)),
        note="The paper's rate lacks a square root; as printed it would be vacuous.",
        numbers={"power_of_T": by_T, "power_of_K": by_K, "power_of_log": by_class},
    )


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


def fits_of_falcon(tau_1: int = 4, printed: float = 1.0) -> list[Claim]:
    """Epochs until T, over log2 T."""
    schedule = Doubling(tau_1)
    horizons = [10**power for power in range(2, 13)]
    n_fits = [next(m for m in range(1, 100) if schedule.end(m) >= T) - 1 for T in horizons]
    worst = max(n / math.log2(T) for n, T in zip(n_fits, horizons, strict=True))
    return [
        Claim(
            key="falcon-fits",
            source="Section 1",
            statement="FALCON, and Epsilon-FALCON after it, fits a model at most "
            f"{times(printed, 'log2 T')} times in T rounds.",
            computed=f"{n_fits[4]} fits in a million rounds, at most {worst:.2f} log2 T",
            holds=at_most(worst, printed),
            numbers={"fits_in_a_million": n_fits[4], "largest_over_log2_T": worst},
        )
    ]

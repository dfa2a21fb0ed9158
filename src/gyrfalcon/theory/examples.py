"""Examples 1 to 3: the regret of richer classes up to constants, as printed and as Theorem 2 gives it."""

from __future__ import annotations

import math
from dataclasses import replace

from gyrfalcon.theory.checks import Variant, check_variant
from gyrfalcon.theory.classes import Rates, entropy, vc_hull, vc_subgraph
from gyrfalcon.theory.regret_rates import RegretRate, regret_rate


def example_1(
    T: float, K: int, V: int, b: float, epsilon: float, delta: float, variant: Variant = "corrected"
) -> RegretRate:
    """Regret of a convex class of VC-subgraph dimension V up to constants (Example 1).

    Printed with ln(T / V); Theorem 2, whose Assumption 1 knows ln n alone, gives ln T.

    Parameters
    ----------
    T : float
        Number of rounds.
    K : int
        Number of actions.
    V : int
        VC-subgraph dimension.
    b : float
        Misspecification: mean squared error of the best model under uniform play.
    epsilon : float
        Passive share.
    delta : float
        Probability that the bound fails.
    variant : {'corrected', 'paper'}, default 'corrected'
        'corrected', or 'paper' for the constants as printed.

    Examples
    --------
    >>> round(example_1(10_000, 2, 5, b=0.01, epsilon=0.1, delta=0.05).estimation)
    2192
    """
    check_variant(variant)
    rate = _rate(vc_subgraph(V), T, K, b, epsilon, delta)
    if variant == "corrected":
        return rate
    if not T > V:
        raise ValueError(f"T is {T}, V {V}; the printed rate has ln(T / V), so give more than V rounds.")
    return replace(rate, estimation=rate.estimation * math.sqrt(math.log(T / V) / math.log(T)))


def example_2(
    T: float, K: int, V: int, b: float, epsilon: float, delta: float, variant: Variant = "corrected"
) -> RegretRate:
    """Regret of the convex hull of a class of VC-subgraph dimension V up to constants (Example 2).

    Misspecification is printed with sqrt(b / sqrt(epsilon)), looser than Theorem 2's
    sqrt(b / sqrt(epsilon^rho)) at rho = (2 + V) / (2 + 2 V).

    Parameters
    ----------
    T : float
        Number of rounds.
    K : int
        Number of actions.
    V : int
        VC-subgraph dimension.
    b : float
        Misspecification: mean squared error of the best model under uniform play.
    epsilon : float
        Passive share.
    delta : float
        Probability that the bound fails.
    variant : {'corrected', 'paper'}, default 'corrected'
        'corrected', or 'paper' for the constants as printed.

    Examples
    --------
    >>> [round(example_2(10_000, 2, 5, 0.01, 0.1, 0.05, v).misspecification) for v in ("corrected", "paper")]
    [2798, 3557]
    """
    check_variant(variant)
    rate = _rate(vc_hull(V), T, K, b, epsilon, delta)
    if variant == "corrected":
        return rate
    return replace(rate, misspecification=_rate(vc_subgraph(V), T, K, b, epsilon, delta).misspecification)


def example_3(
    T: float, K: int, s: float, b: float, epsilon: float, delta: float, variant: Variant = "corrected"
) -> RegretRate:
    """Regret of a convex class of entropy exponent s up to constants (Example 3); printed right.

    Parameters
    ----------
    T : float
        Number of rounds.
    K : int
        Number of actions.
    s : float
        Entropy exponent.
    b : float
        Misspecification: mean squared error of the best model under uniform play.
    epsilon : float
        Passive share.
    delta : float
        Probability that the bound fails.
    variant : {'corrected', 'paper'}, default 'corrected'
        'corrected', or 'paper' for the constants as printed.

    Examples
    --------
    >>> round(example_3(10_000, 2, 0.5, b=0.01, epsilon=0.1, delta=0.05).estimation)
    1499
    """
    check_variant(variant)
    return _rate(entropy(s), T, K, b, epsilon, delta)


def _rate(rates: Rates, T: float, K: int, b: float, epsilon: float, delta: float) -> RegretRate:
    return regret_rate(T, K, rates.comp, b, epsilon, delta, rates.rho, rates.rho_prime)

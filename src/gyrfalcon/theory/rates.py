"""gamma and slack with unit constants: the rates that the algorithm itself plays by."""

from __future__ import annotations

import math


def unit_gamma(
    n: int, n_actions: int, comp: float, index: int, delta: float, rho: float = 1.0, rho_prime: float = 0.0
) -> float:
    """sqrt(K n^rho / (ln^rho' n ln((m - 1) / delta) comp)) for epoch m = index after n rounds (eq. gamma).

    The paper's gamma_m is sqrt(C_3) times this. gamma_1 = 1, which no decision feels because f_1 = 0.

    >>> round(unit_gamma(1000, 2, 4, index=3, delta=0.05), 3)
    11.642
    """
    if index < 2:
        return 1.0
    growth = math.pow(math.log(max(n, 2)), rho_prime) * math.log((index - 1) / delta) * comp
    return math.sqrt(n_actions * math.pow(n, rho) / growth)


def unit_slack(
    n_passive: float, comp: float, index: int, delta: float, rho: float = 1.0, rho_prime: float = 0.0
) -> float:
    """ln^rho' n' ln(12 m^2 / delta) comp / n'^rho after epoch m = index with n' passive rows.

    The paper's slack is C_1 times this (eq. generalized_constraint); rewards' noise replaces C_1 in the
    calibrated one. Without passive rows there is no constraint: infinity.

    >>> round(unit_slack(100, 4, index=2, delta=0.05), 6)
    0.274677
    """
    if n_passive <= 0.0:
        return math.inf
    growth = math.pow(math.log(max(n_passive, 2.0)), rho_prime) * log_confidence(index, delta) * comp
    return growth / math.pow(n_passive, rho)


def log_confidence(index: int, delta: float) -> float:
    """ln(12 m^2 / delta): the share of delta that epoch m may spend, in logs.

    >>> round(log_confidence(2, 0.05), 6)
    6.866933
    """
    return math.log(12.0 * index**2 / delta)

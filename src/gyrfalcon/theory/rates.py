"""gamma and slack: with unit constants, the rates that algorithms play by, and with the paper's constants."""

from __future__ import annotations

import math
from typing import Literal

from gyrfalcon.core.validation import check_not_negative, check_positive
from gyrfalcon.theory.checks import check_actions, check_delta, check_exponents, check_whole
from gyrfalcon.theory.constants import C_LINEAR, c_1, c_3

Form = Literal["appendix", "body"]
"""Where gamma is read from: ln((m - 1) / delta) stands in the Appendix, ln(m / delta) in the body."""


def unit_gamma(
    n: int,
    n_actions: int,
    comp: float,
    index: int,
    delta: float,
    rho: float = 1.0,
    rho_prime: float = 0.0,
    form: Form = "appendix",
) -> float:
    """sqrt(K n^rho / (ln^rho' n ln((m - 1) / delta) comp)) for epoch m = index after n rounds (eq. gamma).

    The paper's gamma_m is sqrt(C_3) times this. gamma_1 = 1, which no decision feels because f_1 = 0.
    The proof relies on the Appendix's form; the body's, with ln(m / delta), is a little smaller.

    >>> round(unit_gamma(1000, 2, 4, index=3, delta=0.05), 3)
    11.642
    >>> round(unit_gamma(1000, 2, 4, index=3, delta=0.05, form="body"), 3)
    11.051
    """
    _check_gamma(n, n_actions, comp, index, delta, rho, rho_prime, form)
    if index < 2:
        return 1.0
    logarithm = math.log((index if form == "body" else index - 1) / delta)
    growth = math.pow(math.log(max(n, 2)), rho_prime) * logarithm * comp
    return math.sqrt(n_actions * math.pow(n, rho) / growth)


def gamma(
    n: int,
    n_actions: int,
    comp: float,
    index: int,
    delta: float,
    rho: float = 1.0,
    rho_prime: float = 0.0,
    C: float = C_LINEAR,
    form: Form = "appendix",
) -> float:
    """gamma_m of epoch m = index after an epoch of n rounds: sqrt(C_3) unit_gamma (eq. gamma).

    Epochs 1 and 2 are equally long, so gamma_3 < gamma_2, where Lemmas boundVall and policy-reg-bound use
    gamma_{m+1} >= gamma_m. No harm comes of it while gamma_2 <= C_0 K: then the claims are trivial up to
    epoch 3 and the induction starts there. A linear class has that for tau_1 up to 7e8 K comp ln(1/delta).

    >>> round(gamma(1000, 2, 4, index=3, delta=0.05), 5)
    0.00223
    """
    unit = unit_gamma(n, n_actions, comp, index, delta, rho, rho_prime, form)
    return unit if index < 2 else math.sqrt(c_3(C, rho)) * unit


def unit_slack(
    n_passive: float, comp: float, index: int, delta: float, rho: float = 1.0, rho_prime: float = 0.0
) -> float:
    """ln^rho' n' ln(12 m^2 / delta) comp / n'^rho after epoch m = index with n' passive rows.

    The paper's slack is C_1 times this (eq. generalized_constraint); rewards' noise replaces C_1 in the
    calibrated one. Without passive rows there is no constraint: infinity.

    >>> round(unit_slack(100, 4, index=2, delta=0.05), 6)
    0.274677
    """
    check_not_negative("n_passive", n_passive)
    check_positive("comp", comp)
    check_exponents(rho, rho_prime)
    if n_passive <= 0.0:
        return math.inf
    growth = math.pow(math.log(max(n_passive, 2.0)), rho_prime) * log_confidence(index, delta) * comp
    return growth / math.pow(n_passive, rho)


def slack(
    n_passive: float,
    comp: float,
    index: int,
    delta: float,
    rho: float = 1.0,
    rho_prime: float = 0.0,
    C: float = C_LINEAR,
) -> float:
    """beta_m in mean units after epoch m = index: C_1 unit_slack (eq. generalized_constraint).

    The body's linear constraint is the same in sum units, n' times this.

    >>> round(slack(1_000_000, 4, index=18, delta=0.05), 3)
    12.777
    """
    return c_1(C) * unit_slack(n_passive, comp, index, delta, rho, rho_prime)


def log_confidence(index: int, delta: float) -> float:
    """ln(12 m^2 / delta): the share of delta that epoch m may spend, in logs.

    >>> round(log_confidence(2, 0.05), 6)
    6.866933
    """
    check_whole("index", index, 1)
    check_delta(delta)
    return math.log(12.0 * index**2 / delta)


def _check_gamma(
    n: int,
    n_actions: int,
    comp: float,
    index: int,
    delta: float,
    rho: float,
    rho_prime: float,
    form: str,
) -> None:
    check_whole("index", index, 1)
    check_whole("n", n, min(index - 1, 1))
    check_actions(n_actions)
    check_positive("comp", comp)
    check_delta(delta)
    check_exponents(rho, rho_prime)
    if form not in {"appendix", "body"}:
        raise ValueError(f"form is {form!r}; choose 'appendix' or 'body'.")

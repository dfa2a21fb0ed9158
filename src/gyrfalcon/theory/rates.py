"""gamma and slack: with unit constants, the rates that algorithms play by, and with the paper's constants."""

from __future__ import annotations

import math
from typing import Literal

from gyrfalcon.core.validation import check_not_negative, check_positive, check_whole
from gyrfalcon.theory.checks import check_actions, check_confidence, check_exponents
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
    """Learning rate of epoch m = index with unit constant, after n rounds (eq. gamma).

    sqrt(K n^rho / (ln^rho' n ln((m - 1) / delta) comp)). The paper's gamma_m is sqrt(C_3) times this. gamma_1
    = 1, on which no decision depends because f_1 = 0. The proof relies on the Appendix's form; the body's,
    with ln(m / delta), is a little smaller.

    Parameters
    ----------
    n : int
        Number of rounds of the epoch before.
    n_actions : int
        Number of actions K.
    comp : float
        Complexity of the model class; of a linear one, its number of coefficients.
    index : int
        Number m of the epoch.
    delta : float
        Probability that the bound fails.
    rho : float, default 1.0
        Exponent rho of Assumption 1; 1 for a linear class.
    rho_prime : float, default 0.0
        Exponent rho' of the logarithm in Assumption 1; 0 for a linear class.
    form : {'appendix', 'body'}, default 'appendix'
        'appendix', or 'body' for the form with ln(m / delta).

    Examples
    --------
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
    """Learning rate gamma_m of epoch m = index after an epoch of n rounds: sqrt(C_3) unit_gamma (eq. gamma).

    Epochs 1 and 2 are equally long, so gamma_3 < gamma_2, where Lemmas boundVall and policy-reg-bound use
    gamma_{m+1} >= gamma_m. No harm comes of it while gamma_2 <= C_0 K: then the claims are trivial up to
    epoch 3 and the induction starts there. A linear class has that for tau_1 up to 7e8 K comp ln(1/delta).

    Parameters
    ----------
    n : int
        Number of rounds of the epoch before.
    n_actions : int
        Number of actions K.
    comp : float
        Complexity of the model class; of a linear one, its number of coefficients.
    index : int
        Number m of the epoch.
    delta : float
        Probability that the bound fails.
    rho : float, default 1.0
        Exponent rho of Assumption 1; 1 for a linear class.
    rho_prime : float, default 0.0
        Exponent rho' of the logarithm in Assumption 1; 0 for a linear class.
    C : float, default C_LINEAR
        Constant of Assumption 1.
    form : {'appendix', 'body'}, default 'appendix'
        'appendix', or 'body' for the form with ln(m / delta).

    Examples
    --------
    >>> round(gamma(1000, 2, 4, index=3, delta=0.05), 5)
    0.00223
    """
    unit = unit_gamma(n, n_actions, comp, index, delta, rho, rho_prime, form)
    return unit if index < 2 else math.sqrt(c_3(C, rho)) * unit


def unit_slack(
    n_passive: float, comp: float, index: int, delta: float, rho: float = 1.0, rho_prime: float = 0.0
) -> float:
    """Slack with unit constant after epoch m = index with n' passive rows.

    ln^rho' n' ln(12 m^2 / delta) comp / n'^rho. The paper's slack is C_1 times this (eq.
    generalized_constraint); the noise of the rewards replaces C_1 in the calibrated one. Without passive rows
    there is no constraint: infinity.

    Parameters
    ----------
    n_passive : float
        Number n' of passive rows.
    comp : float
        Complexity of the model class; of a linear one, its number of coefficients.
    index : int
        Number m of the epoch.
    delta : float
        Probability that the bound fails.
    rho : float, default 1.0
        Exponent rho of Assumption 1; 1 for a linear class.
    rho_prime : float, default 0.0
        Exponent rho' of the logarithm in Assumption 1; 0 for a linear class.

    Examples
    --------
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
    """Slack beta_m in mean units after epoch m = index: C_1 unit_slack (eq. generalized_constraint).

    The body's linear constraint is in sum units, n' times this one.

    Parameters
    ----------
    n_passive : float
        Number n' of passive rows.
    comp : float
        Complexity of the model class; of a linear one, its number of coefficients.
    index : int
        Number m of the epoch.
    delta : float
        Probability that the bound fails.
    rho : float, default 1.0
        Exponent rho of Assumption 1; 1 for a linear class.
    rho_prime : float, default 0.0
        Exponent rho' of the logarithm in Assumption 1; 0 for a linear class.
    C : float, default C_LINEAR
        Constant of Assumption 1.

    Examples
    --------
    >>> round(slack(1_000_000, 4, index=18, delta=0.05), 3)
    12.777
    """
    return c_1(C) * unit_slack(n_passive, comp, index, delta, rho, rho_prime)


def log_confidence(index: int, delta: float) -> float:
    """Logarithm of the inverse confidence that epoch m may use: ln(12 m^2 / delta).

    Parameters
    ----------
    index : int
        Number m of the epoch.
    delta : float
        Probability that the bound fails.

    Examples
    --------
    >>> round(log_confidence(2, 0.05), 6)
    6.866933
    """
    check_whole("index", index, floats=True)
    check_confidence(delta)
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
    check_whole("index", index, floats=True)
    check_whole("n", n, min(index - 1, 1), floats=True)
    check_actions(n_actions)
    check_positive("comp", comp)
    check_confidence(delta)
    check_exponents(rho, rho_prime)
    if form not in {"appendix", "body"}:
        raise ValueError(f"form is {form!r}; choose 'appendix' or 'body'.")

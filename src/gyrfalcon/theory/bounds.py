"""Theorem 2 with its constants: a bound on regret that holds with probability 1 - delta."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gyrfalcon.theory.checks import Variant, check_exponents, check_tau_1, check_theorem, check_variant
from gyrfalcon.theory.constants import C_LINEAR, Constants, constants
from gyrfalcon.theory.misspecification import misspecification_scale, worst_misspecification
from gyrfalcon.theory.regret_rates import RegretRate, regret_rate


@dataclass(frozen=True, slots=True, kw_only=True)
class RegretBound:
    """Terms of Theorem 2's regret bound, and beside them the rate with unit constants.

    Attributes
    ----------
    passive : float
        Cost of passive rounds.
    azuma : float
        Deviation of rewards from their means (Azuma's inequality).
    first_epoch : float
        Rounds before the first fit.
    misspecification : float
        Cost of misspecification.
    estimation : float
        Cost of estimation from finite data.
    T : float
        Number of rounds.
    rate : RegretRate
        The rate with unit constants.

    Examples
    --------
    >>> regret_bound(100, K=2, comp=4, b=0.0, epsilon=0.25, delta=0.05).rate.passive
    25.0
    """

    passive: float
    azuma: float
    first_epoch: float
    misspecification: float
    estimation: float
    T: float
    rate: RegretRate

    @property
    def total(self) -> float:
        """Sum of all terms of the bound."""
        return self.passive + self.azuma + self.first_epoch + self.misspecification + self.estimation

    @property
    def capped(self) -> float:
        """The total, or T where that is less: no round costs more than 1."""
        return min(self.total, float(self.T))


def regret_bound(
    T: float,
    K: int,
    comp: float,
    b: float,
    epsilon: float,
    delta: float,
    tau_1: int = 4,
    rho: float = 1.0,
    rho_prime: float = 0.0,
    C: float = C_LINEAR,
    B: float | None = None,
    variant: Variant = "corrected",
) -> RegretBound:
    """Regret bound of Theorem 2, term by term; K b stands for B where B is unknown.

    It is for a convex class with values in [0, 1] and a passive share below 1/2: the theorem is printed for
    epsilon > 0, and Lemma ConReg, on which it rests, for epsilon < 1/2.

    With the paper's constants it exceeds T for any horizon in practice: read `capped` and `rate` as well.
    Logarithms take T for at least 2.

    Parameters
    ----------
    T : float
        Number of rounds.
    K : int
        Number of actions.
    comp : float
        Complexity of the model class; of a linear one, its number of coefficients.
    b : float
        Misspecification: mean squared error of the best model under uniform play.
    epsilon : float
        Passive share.
    delta : float
        Probability that the bound fails.
    tau_1 : int, default 4
        Length of the first epoch.
    rho : float, default 1.0
        Exponent rho of Assumption 1; 1 for a linear class.
    rho_prime : float, default 0.0
        Exponent rho' of the logarithm in Assumption 1; 0 for a linear class.
    C : float, default C_LINEAR
        Constant of Assumption 1.
    B : float, optional
        Mean squared error of the best model under the worst play; K b where it is unknown.
    variant : {'corrected', 'paper'}, default 'corrected'
        'corrected', or 'paper' for the constants as printed.

    Examples
    --------
    >>> bound = regret_bound(1_000_000, K=2, comp=4, b=0.01, epsilon=0.1, delta=0.05)
    >>> f"{bound.total:.10e}", bound.capped, round(bound.rate.total)
    ('1.2557770120e+09', 1000000.0, 462362)
    >>> bound = regret_bound(1_000_000, K=2, comp=4, b=0.01, epsilon=0.1, delta=0.05, variant="paper")
    >>> f"{bound.total:.10e}"
    '1.0429531403e+09'
    """
    check_theorem(T, K, comp, b, epsilon, delta, rho, rho_prime, B, variant)
    check_tau_1(tau_1)
    k = constants(rho, rho_prime, C, variant)
    worst = worst_misspecification(b, K) if B is None else B
    return RegretBound(
        passive=1.0 + math.log2(T) + epsilon * T,
        azuma=math.sqrt(8.0 * T * math.log(2.0 / delta)),
        first_epoch=float(tau_1),
        misspecification=k.C_10 * misspecification_scale(K, worst, epsilon, rho) * T,
        estimation=_estimation(T, K, comp, delta, k),
        T=T,
        rate=regret_rate(T, K, comp, b, epsilon, delta, rho, rho_prime, B),
    )


def kappa(rho: float = 1.0, variant: Variant = "corrected") -> float:
    """Constant kappa of the sum over epochs of Theorem 2's proof.

    sum_m (tau_m - tau_{m-1}) / (tau_{m-1} - tau_{m-2})^(rho/2) <= kappa T^(1-rho/2). The sum runs over epochs
    2 to m(T), the last one complete. Printed is 4 / (2 - rho), from an integral that lies below the sum (eq.
    integral-bound); the geometric series gives 2 / (2^(1-rho/2) - 1). Rounds up to T alone never exceed
    2^(rho/2) / (2^(1-rho/2) - 1), so the printed theorem stands in spite of that step.

    Parameters
    ----------
    rho : float, default 1.0
        Exponent rho of Assumption 1; 1 for a linear class.
    variant : {'corrected', 'paper'}, default 'corrected'
        'corrected', or 'paper' for the constants as printed.

    Examples
    --------
    >>> round(kappa(), 4), kappa(variant="paper")
    (4.8284, 4.0)
    """
    check_exponents(rho, 0.0)
    check_variant(variant)
    if variant == "paper":
        return 4.0 / (2.0 - rho)
    return 2.0 / (math.pow(2.0, 1.0 - rho / 2.0) - 1.0)


def _estimation(T: float, K: int, comp: float, delta: float, k: Constants) -> float:
    """(2 + C_0) / sqrt(C_3) kappa sqrt(K T^(2-rho) ln^rho' T ln(log2 T / delta) comp)."""
    horizon = max(T, 2.0)
    growth = math.pow(math.log(horizon), k.rho_prime) * math.log(math.log2(horizon) / delta)
    scale = (2.0 + k.C_0) / math.sqrt(k.C_3) * kappa(k.rho, k.variant)
    return scale * math.sqrt(K * math.pow(T, 2.0 - k.rho) * growth * comp)

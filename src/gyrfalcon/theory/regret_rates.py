"""Regret up to constants: Theorems 1 and 2, and Corollary 1, with every constant set to 1."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gyrfalcon.core.validation import check_positive, check_whole
from gyrfalcon.theory.checks import (
    check_actions,
    check_confidence,
    check_exponents,
    check_misspecification,
    check_theorem,
)
from gyrfalcon.theory.misspecification import misspecification_scale, worst_misspecification


@dataclass(frozen=True, slots=True, kw_only=True)
class RegretRate:
    """Three terms of Theorem 2's rate: passive rounds, misspecification and estimation.

    Attributes
    ----------
    passive : float
        Cost of passive rounds.
    misspecification : float
        Cost of misspecification.
    estimation : float
        Cost of estimation from finite data.

    Examples
    --------
    >>> RegretRate(passive=1.0, misspecification=2.0, estimation=3.0).total
    6.0
    """

    passive: float
    misspecification: float
    estimation: float

    @property
    def total(self) -> float:
        """Sum of all terms of the rate."""
        return self.passive + self.misspecification + self.estimation


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedRate:
    """Two terms of Corollary 1's rate, in which misspecification includes the passive rounds.

    Attributes
    ----------
    misspecification : float
        Cost of misspecification.
    estimation : float
        Cost of estimation from finite data.

    Examples
    --------
    >>> TunedRate(misspecification=2.0, estimation=3.0).total
    5.0
    """

    misspecification: float
    estimation: float

    @property
    def total(self) -> float:
        """Sum of both terms of the rate."""
        return self.misspecification + self.estimation


def regret_rate(
    T: float,
    K: int,
    comp: float,
    b: float,
    epsilon: float,
    delta: float,
    rho: float = 1.0,
    rho_prime: float = 0.0,
    B: float | None = None,
) -> RegretRate:
    """Regret after T rounds up to constants (Theorem 2; Theorem 1 for a linear class).

    The class is convex with values in [0, 1], and epsilon is below 1/2, as Lemma ConReg needs; the theorems
    are printed for epsilon > 0.

    sqrt(K T^(2-rho) ln^rho' T ln(ln T / delta) comp) + K T sqrt(b / sqrt(epsilon^rho)) + epsilon T; where B
    is known, it takes the place of K b. Logarithms take T for at least 2.

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
    rho : float, default 1.0
        Exponent rho of Assumption 1; 1 for a linear class.
    rho_prime : float, default 0.0
        Exponent rho' of the logarithm in Assumption 1; 0 for a linear class.
    B : float, optional
        Mean squared error of the best model under the worst play; K b where it is unknown.

    Examples
    --------
    >>> rate = regret_rate(1_000_000, K=2, comp=4, b=0.01, epsilon=0.1, delta=0.05)
    >>> round(rate.estimation), round(rate.misspecification), round(rate.passive)
    (6706, 355656, 100000)
    """
    check_theorem(T, K, comp, b, epsilon, delta, rho, rho_prime, B, "paper")
    worst = worst_misspecification(b, K) if B is None else B
    return RegretRate(
        passive=epsilon * T,
        misspecification=misspecification_scale(K, worst, epsilon, rho) * T,
        estimation=_estimation(T, K, comp, delta, rho, rho_prime),
    )


def tuned_rate(
    T: float, K: int, comp: float, b: float, delta: float, rho: float = 1.0, rho_prime: float = 0.0
) -> TunedRate:
    """Regret up to constants when epsilon follows b (Corollary 1).

    Misspecification costs (K sqrt(b))^(4/(4+rho)) T, which is the Corollary's K^(4/5) b^(2/5) T at rho = 1;
    with the best epsilon its constant is that of `optimal_cost`.

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
    delta : float
        Probability that the bound fails.
    rho : float, default 1.0
        Exponent rho of Assumption 1; 1 for a linear class.
    rho_prime : float, default 0.0
        Exponent rho' of the logarithm in Assumption 1; 0 for a linear class.

    Examples
    --------
    >>> round(tuned_rate(1_000_000, K=2, comp=4, b=0.0001, delta=0.05).misspecification)
    43734
    """
    check_whole("T", T, floats=True)
    check_actions(K)
    check_positive("comp", comp)
    check_misspecification(b, K)
    check_confidence(delta)
    check_exponents(rho, rho_prime)
    return TunedRate(
        misspecification=math.pow(K * math.sqrt(b), 4.0 / (4.0 + rho)) * T,
        estimation=_estimation(T, K, comp, delta, rho, rho_prime),
    )


def _estimation(T: float, K: int, comp: float, delta: float, rho: float, rho_prime: float) -> float:
    logarithm = math.log(max(T, 2.0))
    growth = math.pow(logarithm, rho_prime) * math.log(logarithm / delta)
    return math.sqrt(K * math.pow(T, 2.0 - rho) * growth * comp)

"""What misspecification costs: B from b, the regret of the best model's policy, and the rate of Theorem 2."""

from __future__ import annotations

import math

from gyrfalcon.core.validation import check_not_negative
from gyrfalcon.theory.checks import (
    check_actions,
    check_exponents,
    check_misspecification,
    check_passive_share,
)


def worst_misspecification(b: float, K: int) -> float:
    """Bound on B: K b (Lemma boundB), attained where only one action errs at a time.

    Parameters
    ----------
    b : float
        Misspecification: mean squared error of the best model under uniform play.
    K : int
        Number of actions.

    Examples
    --------
    >>> worst_misspecification(0.03125, 2)
    0.0625
    """
    check_actions(K)
    check_misspecification(b, K)
    return K * b


def best_model_regret_bound(B: float) -> float:
    """Bound on the regret of the best in-class model's policy: 2 sqrt(B) (Lemma reg-of-best-pred).

    Parameters
    ----------
    B : float
        Mean squared error of the best model under the worst play; K b where it is unknown.

    Examples
    --------
    >>> best_model_regret_bound(0.0625)
    0.5
    """
    check_not_negative("B", B)
    return 2.0 * math.sqrt(B)


def misspecification_scale(K: int, B: float, epsilon: float, rho: float = 1.0) -> float:
    """Cost of misspecification per round up to its constant: sqrt(K B / sqrt(epsilon^rho)) (Theorem 2).

    Parameters
    ----------
    K : int
        Number of actions.
    B : float
        Mean squared error of the best model under the worst play; K b where it is unknown.
    epsilon : float
        Passive share.
    rho : float, default 1.0
        Exponent rho of Assumption 1; 1 for a linear class.

    Examples
    --------
    >>> misspecification_scale(2, 0.02, epsilon=0.0625)
    0.4
    """
    check_actions(K)
    check_not_negative("B", B)
    check_passive_share(epsilon)
    check_exponents(rho, 0.0)
    return math.sqrt(K * B) * math.pow(epsilon, -rho / 4.0)

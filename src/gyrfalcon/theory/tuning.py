"""The passive share that balances its own cost against misspecification's (Corollary 1)."""

from __future__ import annotations

import math

from gyrfalcon.core.validation import check_positive
from gyrfalcon.theory.checks import (
    check_actions,
    check_exponents,
    check_misspecification,
    check_passive_share,
)
from gyrfalcon.theory.misspecification import misspecification_scale, worst_misspecification

EPSILON_MAX = math.nextafter(0.5, 0.0)
"""The largest passive share below 0.5."""


def optimal_epsilon(
    b: float, K: int, rho: float = 1.0, c: float = 1.0, eps_min: float = 0.001, clip: bool = True
) -> float:
    """Passive share of least cost: ((rho/4) c K sqrt(b))^(4/(4+rho)), moved into [eps_min, 0.5).

    Minimises `cost_of_epsilon`; as that is convex, the clipped share is the best of those allowed. At rho = 1
    it is (c/4)^(4/5) K^(4/5) b^(2/5). With `clip` off the formula's own value comes out, 0 for b = 0 and
    above 0.5 where no share is large enough.

    Parameters
    ----------
    b : float
        Misspecification: mean squared error of the best model under uniform play.
    K : int
        Number of actions.
    rho : float, default 1.0
        Exponent rho of Assumption 1; 1 for a linear class.
    c : float, default 1.0
        Constant of the misspecification term: 1 balances rates, C_10 the bound.
    eps_min : float, default 0.001
        Smallest share.
    clip : bool, default True
        Whether the share is moved into [eps_min, 0.5).

    Examples
    --------
    >>> round(optimal_epsilon(0.01, 2), 8), optimal_epsilon(0.0, 2)
    (0.09102821, 0.001)
    >>> from gyrfalcon.theory.constants import constants
    >>> round(optimal_epsilon(0.01, 2, c=constants().C_10, clip=False), 2)
    1.84
    """
    check_passive_share(eps_min, "eps_min")
    check_actions(K)
    check_misspecification(b, K)
    check_exponents(rho, 0.0)
    check_positive("c", c)
    best = math.pow(rho / 4.0 * c * K * math.sqrt(b), 4.0 / (4.0 + rho))
    return min(max(best, eps_min), EPSILON_MAX) if clip else best


def optimal_cost(b: float, K: int, rho: float = 1.0, c: float = 1.0) -> float:
    """Least cost per round of `cost_of_epsilon`: (1 + 4/rho) times the unclipped optimal share (Corollary 1).

    Parameters
    ----------
    b : float
        Misspecification: mean squared error of the best model under uniform play.
    K : int
        Number of actions.
    rho : float, default 1.0
        Exponent rho of Assumption 1; 1 for a linear class.
    c : float, default 1.0
        Constant of the misspecification term: 1 balances rates, C_10 the bound.

    Examples
    --------
    >>> round(optimal_cost(0.01, 2), 7)
    0.4551411
    """
    share = optimal_epsilon(b, K, rho, c, clip=False)
    return (1.0 + 4.0 / rho) * share


def cost_of_epsilon(epsilon: float, b: float, K: int, rho: float = 1.0, c: float = 1.0) -> float:
    """Cost per round of passive rounds and misspecification: c K sqrt(b) epsilon^(-rho/4) + epsilon.

    Parameters
    ----------
    epsilon : float
        Passive share.
    b : float
        Misspecification: mean squared error of the best model under uniform play.
    K : int
        Number of actions.
    rho : float, default 1.0
        Exponent rho of Assumption 1; 1 for a linear class.
    c : float, default 1.0
        Constant of the misspecification term: 1 balances rates, C_10 the bound.

    Examples
    --------
    >>> round(cost_of_epsilon(0.1, 0.01, 2), 7)
    0.4556559
    """
    check_exponents(rho, 0.0)
    check_positive("c", c)
    return c * misspecification_scale(K, worst_misspecification(b, K), epsilon, rho) + epsilon

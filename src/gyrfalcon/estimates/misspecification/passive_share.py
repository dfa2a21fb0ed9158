"""The passive share that an estimate of the misspecification calls for (Corollary 1)."""

from __future__ import annotations

from dataclasses import dataclass

from gyrfalcon.core.validation import check_optional, check_positive
from gyrfalcon.estimates.misspecification.result import MisspecificationEstimate
from gyrfalcon.theory.tuning import EPSILON_MAX, optimal_epsilon


@dataclass(frozen=True, slots=True)
class EpsilonChoice:
    """Passive shares for the estimated b and for the upper end of its interval.

    Attributes
    ----------
    at_estimate : float
        Optimal share at the estimate.
    at_upper : float
        Optimal share at the upper end of the interval.
    least : float
        Smallest share that is chosen, whatever b is.
    """

    at_estimate: float
    at_upper: float
    least: float


def epsilon_choice(
    estimate: MisspecificationEstimate,
    n_actions: int,
    *,
    n_rounds: float | None = None,
    comp: float | None = None,
    rho: float = 1.0,
    c: float = 1.0,
    eps_min: float = 0.001,
) -> EpsilonChoice:
    """Optimal passive shares at the estimate of b and at the upper end of its interval.

    With a number of rounds T and the class's complexity comp, no share is below comp / T: fewer passive rows can't
    constrain comp coefficients.

    Parameters
    ----------
    estimate : MisspecificationEstimate
        Estimate of the misspecification b.
    n_actions : int
        Number of actions K.
    n_rounds : float, optional
        Number of rounds T.
    comp : float, optional
        Complexity of the model class.
    rho : float, default 1.0
        Exponent rho of the class; 1 for a linear one.
    c : float, default 1.0
        Constant of the misspecification term: 1 balances rates.
    eps_min : float, default 0.001
        Smallest share.

    Examples
    --------
    >>> from gyrfalcon.estimates.misspecification.result import MisspecificationEstimate
    >>> found = MisspecificationEstimate(b_hat=0.01, standard_error=0.005, lower=0.0, upper=0.02, level=0.95,
    ...     method="residual_products", assumption="", n_rows=400, untruncated=0.01)
    >>> share = epsilon_choice(found, 2)
    >>> round(share.at_estimate, 8), round(share.at_upper, 4), share.least
    (0.09102821, 0.1201, 0.001)
    """
    check_optional("n_rounds", n_rounds)
    check_optional("comp", comp)
    check_positive("eps_min", eps_min)
    needed = comp / n_rounds if comp is not None and n_rounds is not None else 0.0
    least = min(max(eps_min, needed), EPSILON_MAX)
    at_estimate, at_upper = (
        # Rewards that are accepted outside [0, 1] can make b larger than the theory knows.
        optimal_epsilon(min(b, 1.0), n_actions, rho=rho, c=c, eps_min=least)
        for b in (estimate.b_hat, estimate.upper)
    )
    return EpsilonChoice(at_estimate, at_upper, least)

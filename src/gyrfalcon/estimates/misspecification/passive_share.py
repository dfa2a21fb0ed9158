"""The passive share that an estimate of the misspecification calls for (Corollary 1)."""

from __future__ import annotations

from dataclasses import dataclass

from gyrfalcon.core.validation import check_optional, check_positive
from gyrfalcon.estimates.misspecification.result import MisspecificationEstimate
from gyrfalcon.theory.tuning import EPSILON_MAX, optimal_epsilon


@dataclass(frozen=True, slots=True)
class EpsilonChoice:
    """Passive shares that are optimal for the b of an estimate, and at both ends of its interval.

    Attributes
    ----------
    at_lower : float
        Optimal share at the lower end of the interval.
    at_estimate : float or None
        Optimal share at the estimate; None where that is a lower bound of b, and the share only known to be
        above.
    at_upper : float
        Optimal share at the upper end of the interval.
    least : float
        Smallest share that is chosen, whatever b is.
    """

    at_lower: float
    at_estimate: float | None
    at_upper: float
    least: float

    @property
    def range(self) -> tuple[float, float]:
        """The least and the largest share that b can mean; the same share twice where b is estimated."""
        if self.at_estimate is None:
            return self.at_lower, self.at_upper
        return self.at_estimate, self.at_estimate


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
    """The optimal passive shares at b_hat and at both ends of its interval.

    An estimate that is a lower bound of b has no share of its own: Corollary 1 balances two costs at b
    itself, and at a smaller number it balances nothing. Such an estimate gives the two ends alone.

    With a number of rounds T and the class's complexity comp, no share is below comp / T: fewer passive rows
    can't constrain comp coefficients.

    Parameters
    ----------
    estimate : MisspecificationEstimate
        Estimate of the misspecification b, or its bounds.
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
    >>> about = {"assumption": "", "n_rows": 400}
    >>> found = MisspecificationEstimate.around(0.01, 0.002, 0.95, method="residual_products", **about)
    >>> share = epsilon_choice(found, 2)
    >>> round(share.at_lower, 4), round(share.at_estimate, 4), round(share.at_upper, 4)
    (0.0746, 0.091, 0.1039)
    >>> bound = MisspecificationEstimate.at_least(0.01, 0.002, 0.05, 0.95, method="one_step", **about)
    >>> print(epsilon_choice(bound, 2).at_estimate)
    None
    """
    check_optional("n_rounds", n_rounds)
    check_optional("comp", comp)
    check_positive("eps_min", eps_min)
    needed = comp / n_rounds if comp is not None and n_rounds is not None else 0.0
    least = min(max(eps_min, needed), EPSILON_MAX)

    def share(b: float) -> float:
        # Rewards that are accepted outside [0, 1] can make b larger than the theory knows.
        return optimal_epsilon(min(b, 1.0), n_actions, rho=rho, c=c, eps_min=least)

    at_estimate = None if estimate.is_lower_bound else share(estimate.b_hat)
    return EpsilonChoice(share(estimate.lower), at_estimate, share(estimate.upper), least)

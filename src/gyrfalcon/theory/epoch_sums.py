"""Theorem 2's bound summed epoch by epoch, before its proof rounds sums up to closed forms."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from gyrfalcon.theory.bounds import RegretBound
from gyrfalcon.theory.checks import Variant, check_tau_1, check_theorem
from gyrfalcon.theory.constants import C_LINEAR, Constants, constants
from gyrfalcon.theory.lemmas import epoch_regret_bound
from gyrfalcon.theory.misspecification import worst_misspecification
from gyrfalcon.theory.rates import gamma
from gyrfalcon.theory.regret_rates import regret_rate


def epochwise_regret_bound(
    T: int,
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
    """Regret bound summed epoch by epoch, below `regret_bound`: rounds up to T, and none for more than 1.

    Passive rounds and the first epoch's active rounds count 1 each; an active round of a later epoch counts
    Lemma QmRegTrue's bound, at most 1, of which misspecification is what it adds to estimation.

    Parameters
    ----------
    T : int
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
    >>> bound = epochwise_regret_bound(10**9, K=2, comp=4, b=1e-8, epsilon=0.01, delta=0.05, C=1.0)
    >>> bound.passive, bound.first_epoch, round(bound.capped / bound.T, 4)
    (5368725.0, 3.0, 0.0957)
    """
    check_theorem(T, K, comp, b, epsilon, delta, rho, rho_prime, B, variant)
    check_tau_1(tau_1)
    k = constants(rho, rho_prime, C, variant)
    worst = worst_misspecification(b, K) if B is None else B
    first, *later = _epochs(int(T), tau_1, epsilon)
    active = first.active + sum(epoch.active for epoch in later)
    costs = [_costs(epoch, K, comp, worst, epsilon, delta, k) for epoch in later]
    return RegretBound(
        passive=float(first.passive + sum(epoch.passive for epoch in later)),
        azuma=math.sqrt(8.0 * active * math.log(2.0 / delta)),
        first_epoch=float(first.active),
        misspecification=math.fsum(misspecification for _, misspecification in costs),
        estimation=math.fsum(estimation for estimation, _ in costs),
        T=T,
        rate=regret_rate(T, K, comp, b, epsilon, delta, rho, rho_prime, B),
    )


@dataclass(frozen=True, slots=True)
class _Rounds:
    """Rounds of epoch m = index up to the horizon, after an epoch of n_before rounds."""

    index: int
    n_before: int
    active: int
    passive: int


def _epochs(T: int, tau_1: int, epsilon: float) -> Iterator[_Rounds]:
    """Epochs of Algorithm 1 until round T; in each the passive rounds come last."""
    index, start, stop, n_before = 1, 0, tau_1, 0
    while start < T:
        n = stop - start
        # 1e-12 keeps products such as 0.07 * 100 > 7 from counting a passive round more
        active = min(T - start, n - math.ceil(epsilon * n * (1.0 - 1e-12)))
        yield _Rounds(index, n_before, active, min(T, stop) - start - active)
        index, start, stop, n_before = index + 1, stop, 2 * stop, n


def _costs(
    epoch: _Rounds, K: int, comp: float, B: float, epsilon: float, delta: float, k: Constants
) -> tuple[float, float]:
    """What estimation costs the epoch's active rounds, and what misspecification adds."""
    scale = gamma(epoch.n_before, K, comp, epoch.index, delta, k.rho, k.rho_prime, k.C)
    estimation = min(1.0, epoch_regret_bound(scale, K, 0.0, epsilon, k))
    both = min(1.0, epoch_regret_bound(scale, K, B, epsilon, k))
    return estimation * epoch.active, (both - estimation) * epoch.active

"""The lemmas on the way to Theorem 2 as numbers; all hold together with probability 1 - delta / 2.

V(p, pi) is the mean inverse probability with which p plays pi's action (eq. decisional-divergence).
"""

from __future__ import annotations

import math

from gyrfalcon.core.validation import check_not_negative, check_positive, check_whole
from gyrfalcon.theory.checks import check_actions, check_confidence, check_passive_share
from gyrfalcon.theory.constants import LINEAR_CONSTANTS, Constants
from gyrfalcon.theory.misspecification import misspecification_scale


def passive_error_bound(
    n: int,
    comp: float,
    index: int,
    epsilon: float,
    delta: float,
    constants: Constants = LINEAR_CONSTANTS,
) -> float:
    """A bound on f_{m+1}'s mean squared distance from the best in-class model, under uniform play.

    C_4 ln^rho' n ln(m / delta) comp / (epsilon n)^rho after epoch m = index of n rounds: the first line of
    Lemma ConReg. There are ceil(epsilon n) passive rows, and rounding up only helps.

    Parameters
    ----------
    n : int
        Number of rounds of the epoch.
    comp : float
        Complexity of the model class; of a linear one, its number of coefficients.
    index : int
        Number m of the epoch.
    epsilon : float
        Passive share.
    delta : float
        Probability that the bound fails.
    constants : Constants, default LINEAR_CONSTANTS
        Constants of the proof.

    Examples
    --------
    >>> round(passive_error_bound(10**9, 4, index=28, epsilon=0.1, delta=0.05), 4)
    1.288
    """
    check_passive_share(epsilon)
    rate = _error_rate(n, comp, index, delta, constants)
    return constants.C_4 * rate * math.pow(epsilon, -constants.rho)


def active_error_bound(
    n: int,
    comp: float,
    index: int,
    delta: float,
    B: float,
    constants: Constants = LINEAR_CONSTANTS,
) -> float:
    """A bound on f_{m+1}'s mean squared distance from the truth, under epoch m's policy.

    B + C_5 ln^rho' n ln(m / delta) comp / n^rho after epoch m = index of n rounds: the second line of Lemma
    ConReg. Its second term is K / (4 gamma_{m+1}^2).

    Parameters
    ----------
    n : int
        Number of rounds of the epoch.
    comp : float
        Complexity of the model class; of a linear one, its number of coefficients.
    index : int
        Number m of the epoch.
    delta : float
        Probability that the bound fails.
    B : float
        Mean squared error of the best model under the worst play; K b where it is unknown.
    constants : Constants, default LINEAR_CONSTANTS
        Constants of the proof.

    Examples
    --------
    >>> round(active_error_bound(10**9, 4, index=28, delta=0.05, B=0.01), 4)
    0.1817
    """
    check_not_negative("B", B)
    return B + constants.C_5 * _error_rate(n, comp, index, delta, constants)


def reward_error_bound(V: float, B: float, K: int, gamma: float) -> float:
    """Bound on a policy's reward by f_{m+1} minus its true one: sqrt(V B) + sqrt(V K) / (2 gamma).

    V = V(p_m, pi) and gamma = gamma_{m+1} (Lemma reg-est-accuracy).

    Parameters
    ----------
    V : float
        Decisional divergence V(p_m, pi).
    B : float
        Mean squared error of the best model under the worst play; K b where it is unknown.
    K : int
        Number of actions.
    gamma : float
        Learning rate gamma_{m+1}.

    Examples
    --------
    >>> reward_error_bound(V=2.0, B=0.125, K=2, gamma=10.0)
    0.6
    """
    check_positive("V", V)
    check_not_negative("B", B)
    check_actions(K)
    check_positive("gamma", gamma)
    return math.sqrt(V * B) + math.sqrt(V * K) / (2.0 * gamma)


def best_policy_divergence_bound(K: int, epsilon: float, constants: Constants = LINEAR_CONSTANTS) -> float:
    """Bound on V(p_m, policy of the best in-class model): C_6 K / sqrt(epsilon^rho) (Lemma boundVopt).

    Parameters
    ----------
    K : int
        Number of actions.
    epsilon : float
        Passive share.
    constants : Constants, default LINEAR_CONSTANTS
        Constants of the proof.

    Examples
    --------
    >>> round(best_policy_divergence_bound(2, 0.04), 6)
    18.660254
    """
    return constants.C_6 * _divergence(K, epsilon, constants)


def divergence_bound(V_next: float, K: int, epsilon: float, constants: Constants = LINEAR_CONSTANTS) -> float:
    """Bound on V(p_m, pi) for every policy: C_7 K / sqrt(epsilon^rho) + V(p_{m+1}, pi) (Lemma boundVall).

    Parameters
    ----------
    V_next : float
        Decisional divergence V(p_{m+1}, pi).
    K : int
        Number of actions.
    epsilon : float
        Passive share.
    constants : Constants, default LINEAR_CONSTANTS
        Constants of the proof.

    Examples
    --------
    >>> round(divergence_bound(2.0, 2, 0.04), 6)
    36.494897
    """
    check_not_negative("V_next", V_next)
    return constants.C_7 * _divergence(K, epsilon, constants) + V_next


def policy_regret_bound(
    regret: float,
    V: float,
    gamma: float,
    K: int,
    B: float,
    epsilon: float,
    constants: Constants = LINEAR_CONSTANTS,
) -> float:
    """A bound on a policy's true regret from its regret by f_m, and the other way round.

    2 regret + C_0 K / gamma_m + C_8 sqrt(K B / sqrt(epsilon^rho)) + C_9 sqrt(V B), with V = V(p_m, pi)
    (Lemma policy-reg-bound).

    Parameters
    ----------
    regret : float
        The policy's regret by f_m.
    V : float
        Decisional divergence V(p_m, pi).
    gamma : float
        Learning rate gamma of the epoch.
    K : int
        Number of actions.
    B : float
        Mean squared error of the best model under the worst play; K b where it is unknown.
    epsilon : float
        Passive share.
    constants : Constants, default LINEAR_CONSTANTS
        Constants of the proof.

    Examples
    --------
    >>> policy_regret_bound(0.1, V=2.0, gamma=100.0, K=2, B=0.0, epsilon=0.1)
    0.3025
    """
    check_not_negative("regret", regret)
    check_not_negative("V", V)
    check_positive("gamma", gamma)
    scale = misspecification_scale(K, B, epsilon, constants.rho)
    learning = 2.0 * regret + constants.C_0 * K / gamma
    return learning + constants.C_8 * scale + constants.C_9 * math.sqrt(V * B)


def epoch_regret_bound(
    gamma: float, K: int, B: float, epsilon: float, constants: Constants = LINEAR_CONSTANTS
) -> float:
    """A bound on the expected regret of an active round in epoch m (Lemma QmRegTrue).

    (2 + C_0) K / gamma_m + C_10 sqrt(K B / sqrt(epsilon^rho)).

    Parameters
    ----------
    gamma : float
        Learning rate gamma of the epoch.
    K : int
        Number of actions.
    B : float
        Mean squared error of the best model under the worst play; K b where it is unknown.
    epsilon : float
        Passive share.
    constants : Constants, default LINEAR_CONSTANTS
        Constants of the proof.

    Examples
    --------
    >>> epoch_regret_bound(100.0, K=2, B=0.0, epsilon=0.1)
    0.1425
    """
    check_positive("gamma", gamma)
    learning = (2.0 + constants.C_0) * K / gamma
    return learning + constants.C_10 * misspecification_scale(K, B, epsilon, constants.rho)


def _divergence(K: int, epsilon: float, constants: Constants) -> float:
    check_actions(K)
    check_passive_share(epsilon)
    return K * math.pow(epsilon, -constants.rho / 2.0)


def _error_rate(n: int, comp: float, index: int, delta: float, constants: Constants) -> float:
    check_whole("n", n, floats=True)
    check_positive("comp", comp)
    check_whole("index", index, floats=True)
    check_confidence(delta, constants.variant)
    growth = math.pow(math.log(max(n, 2)), constants.rho_prime) * math.log(index / delta) * comp
    return growth / math.pow(n, constants.rho)

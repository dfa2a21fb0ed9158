"""What a policy would have earned, row by row of a log: inverse propensity and doubly robust scores.

Their means are unbiased for the policy's value, as long as propensities are those with which actions were
chosen, and the model was fitted without the row. All functions take a leading axis of candidates, (C, n, K).
"""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import Log
from gyrfalcon.estimates.validation import check_propensities, check_rewards


def importance_weights(target: Floats, actions: Ints, propensities: Floats) -> Floats:
    """The target's probability of the played action over its propensity, w, (..., n)."""
    return np.asarray(target[..., np.arange(len(actions)), actions] / propensities)


def ips_scores(target: Floats, log: Log) -> Floats:
    """Rewards times w, (..., n): the target's probability of the played action over its propensity.

    `target` is (..., n, K).
    """
    _check(target, log)
    return np.asarray(importance_weights(target, log.action, log.propensity) * log.reward)


def dr_scores(target: Floats, model_scores: Floats, log: Log) -> Floats:
    """sum_a pi(a) f(a) + w (r - f(played)), (..., n): the model's word, corrected by what was earned.

    `target` and `model_scores` are (..., n, K), and either may lack the leading axes. What the model says of
    actions that the target never takes does not matter, finite or not.

    >>> from gyrfalcon.core.inputs.problem import Problem
    >>> problem = Problem(["a", "b"])
    >>> log = problem.log(problem.contexts(n=2), ["a", "b"], rewards=[1, 0], propensities=[0.5, 0.2])
    >>> dr_scores(np.full((2, 2), [0.25, 0.75]), np.full((2, 2), 0.5), log).tolist()
    [0.75, -1.375]
    """
    _check(target, log)
    _check_shape("model_scores", model_scores, log)
    return _doubly_robust(target, model_scores, log)


def paired_gains(candidates: Floats, incumbent: Floats, model_scores: Floats, log: Log) -> Floats:
    """How much more candidates (..., n, K) earn than an incumbent (n, K) on each row, (..., n).

    The difference of their doubly robust scores: what both would have done alike cancels row by row, and with
    it most of the noise. Tables and log are those of a learner, and not checked again.
    """
    return _doubly_robust(candidates - incumbent, model_scores, log)


def greedy_policy(scores: Floats, contexts: Contexts) -> Floats:
    """Greedy policy for these scores, (n, K): probability 1 for the best eligible action."""
    if contexts.eligible is not None:
        scores = np.where(contexts.eligible, scores, -np.inf)
    policy = np.zeros(scores.shape)
    policy[np.arange(len(scores)), scores.argmax(axis=1)] = 1.0
    return policy


def _doubly_robust(target: Floats, model_scores: Floats, log: Log) -> Floats:
    weights = importance_weights(target, log.action, log.propensity)
    return corrected_scores(target, model_scores, log.action, weights, log.reward)


def corrected_scores(
    target: Floats, model_scores: Floats, actions: Ints, weights: Floats, rewards: Floats
) -> Floats:
    """sum_a pi(a) f(a) + weight (r - f(played)), (..., n), for any weights (..., n) of valid rows.

    Refused where the target may act on a score that is not finite.
    """
    if not np.isfinite(model_scores).all():
        model_scores = np.where(target == 0.0, 0.0, model_scores)
    with np.errstate(invalid="ignore"):
        expected = np.einsum("...nk,...nk->...n", target, model_scores)
        surprise = rewards - model_scores[..., np.arange(len(actions)), actions]
        scores = np.asarray(expected + weights * surprise)
    if not np.isfinite(scores).all():
        raise ValueError(
            "model_scores or target hold numbers that are not finite where the target may act; "
            "give finite ones, or a target of 0 there."
        )
    return scores


def _check(target: Floats, log: Log) -> None:
    """Refuse what would make a score infinite or pair it with another row."""
    _check_shape("target", target, log)
    check_propensities(log.propensity)
    check_rewards(log.reward)


def _check_shape(name: str, table: Floats, log: Log) -> None:
    n_needed = int(log.action.max(initial=-1)) + 1
    if table.ndim < 2 or table.shape[-2] != len(log) or table.shape[-1] < n_needed:
        raise ValueError(
            f"{name} has shape {table.shape}; give (..., n, K) for n = {len(log)} rows "
            f"and K of at least {n_needed} actions."
        )

"""Section 1.1, Theorem 1 and Appendix E in simulated runs: who drifts from the best linear model."""

from __future__ import annotations

import math

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.policies.kernel_policy import Policy
from gyrfalcon.environments.paper import SensitivityExample, StepExample
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.falcon import Falcon
from gyrfalcon.learners.optimistic.lints import LinTS
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.simulation.replications import simulate
from gyrfalcon.simulation.trace import Trace
from gyrfalcon.theory import regret_bound
from gyrfalcon_paper.claims.claim import (
    Finding,
    all_hold,
    as_rare_as,
    exceeds,
    exceeds_0,
    means,
    unless_vacuous,
)
from gyrfalcon_paper.claims.sums import horizon_of_meaning
from gyrfalcon_paper.linear_models import coefficients_of, distance, played_model

BATCH = 100
"""Rounds between LinUCB's fits, as in the paper."""

LIVE: dict[str, Learner] = {"LinUCB": LinUCB(), "LinTS": LinTS(), "FALCON": Falcon()}


def linucb_falls_and_rises(
    n_replications: int, n_rounds: int, rises: bool = True, small: float = 0.025, near: float = 0.075
) -> list[Finding]:
    """Regret per round of LinUCB in its first batch, its second one and late, and the errors of its model.

    `small` and `near` are below the regret and the distance that it drifts to, so that being near means more
    than being LinUCB.
    """
    marks = [BATCH, 2 * BATCH, 4 * BATCH, 5 * BATCH, n_rounds - n_rounds // 4, n_rounds]
    trace = _played(LinUCB(), marks, n_replications, seed=80)
    first, low, _, soon, _, last = trace.regret_per_round.T
    close, apart = _distances(trace)[:, [1, -1]].T
    near_and_small = exceeds_0(near - close), exceeds_0(small - low)
    not_so_later = exceeds_0(apart - near), exceeds_0(last - small)
    falls_and_rises = exceeds_0(first - low), exceeds_0(last - low if rises else low - last)
    return [
        Finding(
            "linucb-few-hundred",
            all_hold(*near_and_small, *not_so_later),
            means(distance=close, regret=low, distance_late=apart, regret_late=last),
        ),
        Finding(
            "linucb-fall-and-rise",
            all_hold(*falls_and_rises),
            means(rounds_1_to_100=first, rounds_101_to_200=low, rounds_401_to_500=soon, last_quarter=last),
        ),
        Finding("linucb-drifts", exceeds_0(apart - close), means(distance_early=close, distance_late=apart)),
    ]


def epsilon_falcon_stays(n_replications: int, n_linucb: int, n_rounds: int = 51_200) -> list[Finding]:
    """Late regret and model of Epsilon-FALCON beside LinUCB's, over its last epoch: the second half.

    LinUCB's runs hardly differ and take long, so that a few are enough. Both see the same contexts and
    rewards; taken for independent, as in Welch's test, their difference looks less certain than it is.
    """
    marks = [n_rounds // 64, n_rounds // 32, n_rounds // 2, n_rounds]
    ours = _played(EpsilonFalcon(epsilon=0.05), marks, n_replications, seed=81)
    theirs = _played(LinUCB(), marks, n_linucb, seed=81)
    distances, apart = _distances(ours), _distances(theirs)[:, -1]
    return [
        _less("epsilon-falcon-stays-close", distance=distances[:, -1], distance_of_linucb=apart),
        _falling("epsilon-falcon-converges", distances[:, :2].mean(axis=1), distances[:, 2:].mean(axis=1)),
        _less(
            "epsilon-falcon-late-regret",
            regret=ours.regret_per_round[:, -1],
            regret_of_linucb=theirs.regret_per_round[:, -1],
        ),
    ]


def _played(learner: Learner, marks: list[int], n_replications: int, seed: int) -> Trace:
    """Runs on Section 1.1 up to the last mark, with what was played at each."""
    example = StepExample()
    return simulate(
        learner, example, marks[-1], n_replications, seed=seed, checkpoints=marks, keep_policies=True
    )


def _less(key: str, **samples: Floats) -> Finding:
    """The finding that the first of two samples has the smaller mean behind it."""
    smaller, larger = samples.values()
    return Finding(key, exceeds(larger, smaller), means(**samples))


def _falling(key: str, early: Floats, late: Floats) -> Finding:
    """The finding that distances are smaller late than early in the same runs."""
    return Finding(key, exceeds_0(early - late), means(distance_early=early, distance_late=late))


def regret_below_the_bound(n_replications: int, n_rounds: int = 12_800, scale: float = 1.0) -> list[Finding]:
    """Regret with the paper's and with calibrated constants, against `scale` times Theorem 1's bound."""
    delta, epsilon, b = 0.05, 0.05, StepExample().b
    bound = regret_bound(n_rounds, 2, 4.0, b, epsilon, delta)
    paper, calibrated = (
        simulate(learner, StepExample(), n_rounds, n_replications, seed=82, checkpoints=1).regret[:, -1]
        for learner in (
            EpsilonFalcon(constants="paper", epsilon=epsilon, delta=delta),
            EpsilonFalcon(epsilon=epsilon, delta=delta),
        )
    )
    total = scale * bound.total
    rare = as_rare_as(int((paper > total).sum()), n_replications, delta)
    numbers = {
        "rounds": n_rounds,
        **means(regret=paper, regret_with_calibrated_constants=calibrated),
        "bound": total,
        "bound_over_T_at_T_1e40": regret_bound(10**40, 2, 4.0, b, epsilon, delta).total / 1e40,
        "exceeds_T_up_to_if_b_is_0": horizon_of_meaning(b=0.0, epsilon=epsilon, delta=delta),
        "rate_with_unit_constants": bound.rate.total,
    }
    return [Finding("theorem-1-runs", unless_vacuous(rare, vacuous=total >= n_rounds), numbers)]


def live_loop(
    name: str,
    theta: float,
    n_replications: int,
    n_rounds: int,
    printed: float = SensitivityExample.claimed_regret,
) -> list[Finding]:
    """Regret per round of a learner in its own loop on Appendix E's example, over the last quarter."""
    late = n_rounds - n_rounds // 4
    trace = simulate(
        LIVE[name], SensitivityExample(theta), n_rounds, n_replications, seed=83, checkpoints=[late, n_rounds]
    )
    regret = trace.regret_per_round[:, -1]
    numbers = {**means(late_regret=regret), "rounds": n_rounds}
    return [Finding(f"live-{name.lower()}-theta-{theta:g}", exceeds_0(printed - regret), numbers)]


def _distances(trace: Trace) -> Floats:
    """(R, epochs): root mean square error of action 1's model beside the best one; nan for uniform play."""
    return np.array([[_distance(played.policy) for played in run] for run in trace.epochs])


def _distance(policy: Policy | None) -> float:
    model = played_model(policy)
    return (
        math.nan
        if model is None
        else distance((coefficients_of(model) - StepExample().best_coefficients)[:1])
    )

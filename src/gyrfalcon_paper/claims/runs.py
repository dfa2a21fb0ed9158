"""Section 1.1 and Theorem 1 in simulated runs: LinUCB's fall and rise, and who stays near the best lines."""

from __future__ import annotations

import math

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.policies.kernel_policy import Policy
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.simulation.simulate import simulate
from gyrfalcon.simulation.trace import Summary, Trace
from gyrfalcon.theory import regret_bound
from gyrfalcon_paper.claims.claim import ERROR_RATE, Claim, as_rare_as, exceeds, exceeds_0, shown
from gyrfalcon_paper.claims.sums import horizon_of_meaning
from gyrfalcon_paper.lines import distance, lines_of, played_model

BATCH = 100
"""Rounds between LinUCB's fits, as in the paper."""

DECIDED = f"Decided by t tests over runs, at an error rate of {ERROR_RATE:g} each."
UNDECIDED = f"Too few runs to decide at an error rate of {ERROR_RATE:g}."


def linucb_falls_and_rises(
    n_replications: int, n_rounds: int, rises: bool = True, small: float = 0.1
) -> list[Claim]:
    """Regret a round of LinUCB in its first batch, its second one and late, and how far off its lines are."""
    late = n_rounds - n_rounds // 4
    marks = [BATCH, 2 * BATCH, 4 * BATCH, 5 * BATCH, late, n_rounds]
    trace = simulate(
        LinUCB(), StepExample(), n_rounds, n_replications, seed=80, checkpoints=marks, keep_policies=True
    )
    first, low, _, soon, _, last = trace.regret_per_round.T
    close, apart = _distances(trace)[:, [1, -1]].T
    return [
        _small_at_first(first, low, close, small),
        _fall_and_rise((first, low, soon, last), n_rounds - late, n_rounds, rises),
        _drift(close, apart),
    ]


def _small_at_first(first: Floats, low: Floats, close: Floats, small: float) -> Claim:
    holds = both(exceeds_0(small - low), exceeds_0(2.5 * small - close))
    return Claim(
        key="linucb-few-hundred",
        source="Section 1.1",
        statement="After a few hundred rounds LinUCB's lines are near the best ones and its regret is small.",
        computed=f"after {BATCH} rounds action 1's line is off by {told(close)} (root mean square), and the "
        f"next {BATCH} rounds cost {told(low)} each; uniform play costs {told(first)}",
        holds=holds,
        note=f"Small means below {shown(small)}, near means below {shown(2.5 * small)}. {decided(holds)}",
        numbers={"regret": float(low.mean()), "distance": float(close.mean())},
    )


def _fall_and_rise(regrets: tuple[Floats, ...], n_late: int, n_rounds: int, rises: bool) -> Claim:
    first, low, soon, last = regrets
    holds = both(exceeds_0(first - low), exceeds_0(last - low if rises else low - last))
    return Claim(
        key="linucb-fall-and-rise",
        source="Section 1.1, Figure 3",
        statement=f"LinUCB's regret a round first falls and then {'rises' if rises else 'falls on'}, on "
        f"average over {len(first)} simulations.",
        computed=f"{told(first)} in the first {BATCH} rounds, {told(low)} in the next, {told(last)} in the "
        f"last {n_late:,} of {n_rounds:,}",
        holds=holds,
        note=f"{decided(holds)} Rounds {4 * BATCH} to {5 * BATCH} already cost {told(soon)}; action 1 "
        "everywhere, where optimal data would lead, costs .25.",
        numbers={
            "first": float(first.mean()),
            "low": float(low.mean()),
            "soon": float(soon.mean()),
            "late": float(last.mean()),
        },
    )


def _drift(close: Floats, apart: Floats) -> Claim:
    holds = exceeds_0(apart - close)
    return Claim(
        key="linucb-drifts",
        source="Section 1.1, Figure 2",
        statement="The data that its own play brings push LinUCB's lines away from the best ones.",
        computed=f"action 1's line is off by {told(close)} after {BATCH} rounds and by {told(apart)} late",
        holds=holds,
        note=decided(holds),
        numbers={"early": float(close.mean()), "late": float(apart.mean())},
    )


def epsilon_falcon_stays(
    n_replications: int, n_linucb: int, n_rounds: int = 51_200, epsilon: float = 0.05
) -> list[Claim]:
    """Late regret and lines of Epsilon-FALCON beside LinUCB's, over its last epoch: the second half.

    LinUCB's runs hardly differ and take long, so that a few are enough. Both meet the same environments; taken for
    independent, as in Welch's test, their difference looks less certain than it is.
    """
    marks = [n_rounds // 64, n_rounds // 32, n_rounds // 2, n_rounds]
    ours, theirs = (
        simulate(learner, StepExample(), n_rounds, n_runs, seed=81, checkpoints=marks, keep_policies=True)
        for learner, n_runs in (
            (EpsilonFalcon(preset="calibrated", epsilon=epsilon), n_replications),
            (LinUCB(), n_linucb),
        )
    )
    distances = _distances(ours)
    return [
        _closer(distances[:, -1], _distances(theirs)[:, -1], n_rounds),
        _nearing(distances[:, :2].mean(axis=1), distances[:, 2:].mean(axis=1), marks),
        _cheaper(ours.regret_per_round[:, -1], theirs.regret_per_round[:, -1], n_rounds),
    ]


def _closer(ours: Floats, theirs: Floats, n_rounds: int) -> Claim:
    holds = exceeds(theirs, ours)
    return Claim(
        key="epsilon-falcon-stays-close",
        source="Section 1.1, Figure 2",
        statement="Epsilon-FALCON keeps its lines closer to the best ones than LinUCB does.",
        computed=f"action 1's line is off by {told(ours)}, LinUCB's by {told(theirs)}, late in {n_rounds:,} "
        "rounds",
        holds=holds,
        note=f"{decided(holds)} With the preset 'calibrated'.",
        numbers={"distance": float(ours.mean()), "linucb": float(theirs.mean())},
    )


def _nearing(early: Floats, late: Floats, marks: list[int]) -> Claim:
    holds = exceeds_0(early - late)
    return Claim(
        key="epsilon-falcon-converges",
        source="Section 2",
        statement="As the constraint set shrinks, Epsilon-FALCON's model converges to the best in-class one.",
        computed=f"action 1's line is off by {told(early)} in the two epochs up to round {marks[1]:,}, and "
        f"by {told(late)} in those up to round {marks[-1]:,}",
        holds=holds,
        note=f"{decided(holds)} With the preset 'calibrated'. Two epochs, as good and bad ones alternate.",
        numbers={"early": float(early.mean()), "late": float(late.mean())},
    )


def _cheaper(ours: Floats, theirs: Floats, n_rounds: int) -> Claim:
    holds = exceeds(theirs, ours)
    return Claim(
        key="epsilon-falcon-late-regret",
        source="Section 2",
        statement="The failure of Section 1.1 does not happen to Epsilon-FALCON: late on, it costs less a "
        "round than LinUCB.",
        computed=f"{told(ours)} a round, passive rounds included, against {told(theirs)}, in the second "
        f"half of {n_rounds:,}",
        holds=holds,
        note=f"{decided(holds)} With the preset 'calibrated'; with the paper's constants play would still be "
        "uniform.",
        numbers={"epsilon_falcon": float(ours.mean()), "linucb": float(theirs.mean())},
    )


def regret_below_the_bound(n_replications: int, n_rounds: int = 12_800, scale: float = 1.0) -> list[Claim]:
    """Regret of runs with both presets, against `scale` times Theorem 1's bound."""
    delta, epsilon, b = 0.05, 0.05, StepExample().b
    bound = regret_bound(n_rounds, 2, 4.0, b, epsilon, delta)
    paper, calibrated = (
        simulate(learner, StepExample(), n_rounds, n_replications, seed=82, checkpoints=1).regret[:, -1]
        for learner in (
            EpsilonFalcon(preset="paper", epsilon=epsilon, delta=delta),
            EpsilonFalcon(preset="calibrated", epsilon=epsilon, delta=delta),
        )
    )
    failures = int((paper > scale * bound.total).sum())
    step, right = (horizon_of_meaning(b=error, epsilon=epsilon, delta=delta) for error in (b, 0.0))
    return [
        Claim(
            key="theorem-1-runs",
            source="Theorem 1",
            statement="With probability 1 - delta, Epsilon-FALCON's regret is below the bound.",
            computed=f"{told(paper)} after {n_rounds:,} rounds with the paper's constants and "
            f"{told(calibrated)} with calibrated ones; the bound is {scale * bound.total:.2g}",
            holds=as_rare_as(failures, n_replications, delta),
            note=f"With its constants the bound exceeds T, and so is met by any play, "
            f"{_until(step)} here and {_until(right)} if b = 0. The paper states "
            f"rates; with unit constants this one is {bound.rate.total:.2g}.",
            numbers={
                "regret": float(paper.mean()),
                "regret_calibrated": float(calibrated.mean()),
                "bound": bound.total,
                "vacuous_until_if_b_is_0": right,
            },
        )
    ]


def _until(T: float) -> str:
    return "at every T" if math.isinf(T) else f"up to T = {T:.1e}"


def _distances(trace: Trace) -> Floats:
    """(R, epochs): root mean square distance of action 1's line from the best one; nan for uniform play."""
    return np.array([[_distance(played.policy) for played in run] for run in trace.epochs])


def _distance(policy: Policy | None) -> float:
    model = played_model(policy)
    return math.nan if model is None else distance((lines_of(model) - StepExample().best_coefficients)[:1])


def told(sample: Floats) -> str:
    """The mean with its standard error.

    >>> told(np.array([1.0, 1.1, 1.2]))
    '1.1 (±0.06)'
    """
    found = Summary.of(sample)
    return f"{shown(found.mean)} (±{found.standard_error:.1g})"


def both(*verdicts: bool | None) -> bool | None:
    """True if all are, False if one is, None if it can't be said.

    >>> both(True, None), both(False, None), both(True, True)
    (None, False, True)
    """
    return False if False in verdicts else None if None in verdicts else True


def decided(verdict: bool | None) -> str:
    """How a verdict came about."""
    return UNDECIDED if verdict is None else DECIDED

"""Replications together, against one, against one by one, and against decisions one by one."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.environments import NAMES, STEP, PotentialOutcomes
from benchmarks.rows import Quantity, Race, Row, require
from gyrfalcon import Bandit, EpsilonFalcon, EpsilonGreedy, LinTS, LinUCB, SquareCB
from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.simulation.replications import simulate

N_REPLICATIONS = 100
N_LONG, N_SHORT = 100_000, 1_000
EVERY_HUNDRED = FixedBatch(100)
REFITTING: list[Learner] = [
    LinUCB(schedule=EVERY_HUNDRED),
    SquareCB(schedule=EVERY_HUNDRED),
    LinTS(schedule=EVERY_HUNDRED),
    EpsilonGreedy(schedule=EVERY_HUNDRED),
]


def hundred_against_one(learner: Learner, outcomes: PotentialOutcomes) -> Race:
    """As many rounds a second with a hundred replications as with one."""
    return Race(
        partial(simulate, learner, outcomes, N_LONG, N_REPLICATIONS, seed=0),
        partial(simulate, learner, outcomes, N_LONG, seed=0),
        n_ours=N_REPLICATIONS * N_LONG,
        n_theirs=N_LONG,
    )


def together_against_one_by_one(learner: Learner, outcomes: PotentialOutcomes) -> Race:
    """The same replications, in one call and in a hundred."""
    together = partial(simulate, learner, outcomes, N_SHORT, N_REPLICATIONS, seed=0)
    one_by_one = partial(singly, learner, outcomes)
    require(np.array_equal(together().regret, one_by_one()), "the regrets differ.")
    n = N_REPLICATIONS * N_SHORT
    return Race(together, one_by_one, note="the same regret to the last bit", n_ours=n, n_theirs=n)


def singly(learner: Learner, outcomes: PotentialOutcomes) -> Floats:
    """The regret of each replication, each from a call of its own."""
    traces = [
        simulate(learner, outcomes, N_SHORT, seed=0, first_replication=replication)
        for replication in range(N_REPLICATIONS)
    ]
    return np.concatenate([trace.regret for trace in traces])


def together_against_decisions(learner: Learner, outcomes: PotentialOutcomes) -> Race:
    """The loop that a program runs: a decision, then its reward."""
    drawn = outcomes.draw(0, N_SHORT, 0)
    given = list(zip(drawn.contexts.shared, drawn.rewards.tolist(), strict=True))
    index = {action: number for number, action in enumerate(outcomes.problem.actions)}

    def one_by_one() -> float:
        bandit, total = Bandit(learner=learner, problem=outcomes.problem, seed=0), 0.0
        for x, rewards in given:
            decision = bandit.decide(x)
            earned = rewards[index[decision.action]]
            bandit.reward(decision.event_id, earned)
            total += earned
        return total

    return Race(
        partial(simulate, learner, outcomes, N_SHORT, N_REPLICATIONS, seed=0),
        one_by_one,
        n_ours=N_REPLICATIONS * N_SHORT,
        n_theirs=N_SHORT,
    )


def name_of(learner: Learner) -> str:
    return type(learner).__name__


ROWS = [
    *(
        Row(
            key=f"100 replications / 1: {name_of(learner)}, {NAMES[environment]}",
            ours=f"{name_of(learner)}, {NAMES[environment]}, {N_LONG:,} rounds, 100 replications, a round",
            theirs="one replication, a round",
            prepare=partial(hundred_against_one, learner, environment),
            quantity=Quantity.TIMES_FASTER,
            limit=0.9,
            most_pairs=2,
        )
        for learner, environment in (
            (EpsilonFalcon(), STEP),
            (LinUCB(schedule=FixedBatch(1_000)), STEP),
        )
    ),
    *(
        Row(
            key=f"together / one by one: {name_of(learner)}, {NAMES[environment]}",
            ours=f"{name_of(learner)}, refits every 100 rounds, {NAMES[environment]}, 100 together",
            theirs="the same replications one by one",
            prepare=partial(together_against_one_by_one, learner, environment),
            quantity=Quantity.TIMES_FASTER,
            limit=5.0,
            most_pairs=3,
        )
        for environment in (STEP,)
        for learner in REFITTING
    ),
    Row(
        key="together / Bandit: LinUCB, Section 1.1",
        ours="LinUCB, refits every 100 rounds, Section 1.1, 100 replications together, a round",
        theirs="Bandit, decide and reward, a round",
        prepare=partial(together_against_decisions, REFITTING[0], STEP),
        quantity=Quantity.TIMES_FASTER,
        most_pairs=3,
    ),
]

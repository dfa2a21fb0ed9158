"""`simulate` against the online loops of other libraries, which decide and learn round by round."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from benchmarks.environments import NAMES, STEP, TEN, PotentialOutcomes
from benchmarks.peers import (
    coba_experiment,
    contextualbandits_online,
    mabwiser_linear,
    river_bandit,
    vowpal_wabbit,
)
from benchmarks.peers.rounds import Library, Rounds, learned
from benchmarks.rows import Quantity, Race, Row, peer
from gyrfalcon import EpsilonFalcon
from gyrfalcon.simulation.replications import simulate

N_ROUNDS = 100_000
LIMITS = {STEP: 100.0, TEN: 70.0}


@dataclass(frozen=True, slots=True)
class Peer:
    """A library, and how many rounds it plays: enough to learn, few enough not to keep us waiting."""

    name: str
    library: Library
    n_rounds: int
    most_pairs: int = 2
    judged: bool = True


PEERS = [
    Peer("Vowpal Wabbit, squarecb, text", vowpal_wabbit.squarecb, 4_000, most_pairs=5),
    Peer("river, LinUCB", river_bandit.linucb, 2_000, most_pairs=3),
    Peer("coba, LinUCB", coba_experiment.linucb, 1_000),
    Peer("coba, squarecb by Vowpal Wabbit", coba_experiment.squarecb, 2_000),
    Peer("contextualbandits, LinUCB", contextualbandits_online.linucb, 1_000),
    Peer("MABWiser, LinUCB", mabwiser_linear.linucb, 1_000),
    Peer("Vowpal Wabbit, squarecb, parsed once", vowpal_wabbit.squarecb_parsed_once, 4_000, judged=False),
    Peer("Vowpal Wabbit, cb_explore, text", vowpal_wabbit.without_action_features, 4_000, judged=False),
]


def against(outcomes: PotentialOutcomes, other: Peer) -> Race:
    with peer(other.name):
        rounds = Rounds.of(outcomes, other.n_rounds)
        theirs = other.library(rounds)
        note = learned(theirs, rounds)
    ours = partial(simulate, EpsilonFalcon(), outcomes, N_ROUNDS, seed=0)
    return Race(ours, theirs, note=note, n_ours=N_ROUNDS, n_theirs=other.n_rounds)


ROWS = [
    Row(
        key=f"simulate / {other.name}: {NAMES[environment]}",
        ours=f"simulate Epsilon-FALCON, {NAMES[environment]}, a round",
        theirs=f"{other.name}, a round",
        prepare=partial(against, environment, other),
        quantity=Quantity.TIMES_FASTER,
        limit=LIMITS[environment] if other.judged else None,
        most_pairs=other.most_pairs,
    )
    for environment in (STEP, TEN)
    for other in PEERS
]

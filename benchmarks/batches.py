"""`simulate` against libraries that can learn in batches, all refitting after every thousand rounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from benchmarks.environments import NAMES, STEP, TEN, PotentialOutcomes
from benchmarks.peers import contextualbandits_online, mabwiser_linear
from benchmarks.peers.rounds import Play, Rounds, learned
from benchmarks.rows import Quantity, Race, Row, peer
from gyrfalcon import EpsilonGreedy, LinUCB
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.simulation.replications import simulate

BATCH = 1_000
N_ROUNDS = 20_000
N_REPLICATIONS = 20


@dataclass(frozen=True, slots=True)
class Pair:
    """The same algorithm here and there."""

    name: str
    learner: Learner
    theirs: str
    library: Callable[[Rounds, int], Play]


PAIRS = [
    Pair("LinUCB", LinUCB(schedule=FixedBatch(BATCH)), "MABWiser", mabwiser_linear.linucb),
    Pair("LinUCB", LinUCB(schedule=FixedBatch(BATCH)), "contextualbandits", contextualbandits_online.linucb),
    Pair("epsilon-greedy", EpsilonGreedy(schedule=FixedBatch(BATCH)), "MABWiser", mabwiser_linear.greedy),
]


def against(outcomes: PotentialOutcomes, pair: Pair, n_replications: int) -> Race:
    """Both sides draw the rounds that they play."""

    def theirs() -> list[float]:
        return pair.library(Rounds.of(outcomes, N_ROUNDS), BATCH)()

    with peer(pair.theirs):
        note = learned(theirs, Rounds.of(outcomes, N_ROUNDS))
    ours = partial(simulate, pair.learner, outcomes, N_ROUNDS, n_replications, seed=0)
    return Race(ours, theirs, note=note, n_ours=n_replications * N_ROUNDS, n_theirs=N_ROUNDS)


def row(outcomes: PotentialOutcomes, pair: Pair, n_replications: int, limit: float | None) -> Row:
    runs = "one run" if n_replications == 1 else f"{n_replications} runs together"
    return Row(
        key=f"batches, {runs} / {pair.theirs} {pair.name}: {NAMES[outcomes]}",
        ours=f"simulate {pair.name}, batches of {BATCH:,}, {NAMES[outcomes]}, {runs}, a round",
        theirs=f"{pair.theirs}, {pair.name}, the same batches, a round",
        prepare=partial(against, outcomes, pair, n_replications),
        quantity=Quantity.TIMES_FASTER,
        limit=limit,
        most_pairs=3,
    )


ROWS = [
    *(row(environment, pair, N_REPLICATIONS, 2.0) for environment in (STEP, TEN) for pair in PAIRS),
    *(row(environment, pair, 1, None) for environment in (STEP, TEN) for pair in PAIRS),
]

"""How fast a whole run goes."""

from __future__ import annotations

from functools import partial

from benchmarks.rows import Quantity, Row, Run
from gyrfalcon import EpsilonFalcon
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.simulation.replications import simulate

N_ROUNDS = 100_000


def step_example() -> Run:
    ours = partial(simulate, EpsilonFalcon(), StepExample(), N_ROUNDS, seed=0)
    return Run(ours, N_ROUNDS, note=f"{len(ours().epochs[0])} epochs")


ROWS = [
    Row(
        key="Epsilon-FALCON on Section 1.1",
        ours="Epsilon-FALCON, Section 1.1, 1e5 rounds",
        theirs="",
        prepare=step_example,
        quantity=Quantity.RATE,
    ),
]

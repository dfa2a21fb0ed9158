"""Decisions of every learner with fixed seeds, as short records that a later version can be held to."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from gyrfalcon.core.records import Decisions
from gyrfalcon.environments import StepExample, XorEnvironment, dataset
from gyrfalcon.environments.protocol import Environment
from tests.contracts.environments import Lines, started
from tests.contracts.learners import LEARNERS, PLAIN, WITH_ACTION_FEATURES

Record = dict[str, object]

_ACTIONS = "0123456789abcdefghijklmnopqrstuvwxyz"
N_ROUNDS = 700


def played(name: str, environment: Environment, n_rounds: int = N_ROUNDS) -> Record:
    """Every action as a digit, and per epoch the sum of the propensities."""
    play = started(LEARNERS[name], environment, seed=11)  # type: ignore[arg-type]
    play.until(n_rounds)
    return record_of(play.decisions)


def record_of(decisions: Iterable[Decisions]) -> Record:
    listed = list(decisions)
    return {
        "actions": "".join(_ACTIONS[action] for one in listed for action in one.action.tolist()),
        "propensities": [round(float(one.propensity.sum()), 6) for one in listed],
    }


@cache
def cases() -> dict[str, tuple[str, Environment, int]]:
    """Each case: the learner's name, the environment and the number of rounds."""
    found: dict[str, tuple[str, Environment, int]] = {}
    for name in PLAIN:
        found[name] = (name, Lines(), N_ROUNDS)
    for name in WITH_ACTION_FEATURES:
        found[name] = (name, Lines(n_action_features=2), N_ROUNDS)
    for name in ("linucb", "lints", "regcb elimination", "squarecb log barrier", "adaptive-falcon"):
        found[f"{name}, masked"] = (name, Lines(n_actions=5, masked=True), N_ROUNDS)
    for name in ADAPTIVE:
        found[f"{name}, xor"] = (name, XorEnvironment(), 2000)
        found[f"{name}, vehicle"] = (name, dataset("vehicle"), 2000)
    for name in (
        "epsilon-falcon paper",
        "epsilon-falcon calibrated",
        "falcon all",
        "adaptive-falcon linear",
    ):
        found[f"{name}, Section 1.1"] = (name, StepExample(), 6000)
    return found


ADAPTIVE = [
    "adaptive-falcon",
    "adaptive-falcon by the corollary",
    "adaptive-falcon linear",
    "adaptive-falcon fourier",
    "adaptive-falcon trees",
]

"""The environments: 16 real data sets, 8 whose truth is known, and those as practitioners have them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from benchmarks.regret.practice.split import ENVIRONMENTS as PRACTICE
from benchmarks.regret.practice.split import REAL, seeded
from benchmarks.regret.rounds import Rounds
from gyrfalcon.environments.data.named import dataset, dataset_names
from gyrfalcon.environments.paper import SensitivityExample, StepExample
from gyrfalcon.environments.synthetic.families import (
    BumpEnvironment,
    LinearEnvironment,
    SinusoidEnvironment,
    XorEnvironment,
)
from gyrfalcon.environments.synthetic.outcomes import HeteroscedasticEnvironment, RareRewardEnvironment

SYNTHETIC: dict[str, Callable[[int], Any]] = {
    "xor": lambda seed: XorEnvironment(noise="bernoulli", environment_seed=seed),
    "sinus": lambda seed: SinusoidEnvironment(noise="bernoulli", environment_seed=seed),
    "bump": lambda seed: BumpEnvironment(noise="bernoulli", environment_seed=seed),
    "linear": lambda seed: LinearEnvironment(noise="bernoulli", environment_seed=seed),
    "rare": lambda seed: RareRewardEnvironment(environment_seed=seed),
    "heteroscedastic": lambda seed: HeteroscedasticEnvironment(environment_seed=seed),
    "section 1.1": lambda seed: StepExample(),  # noqa: ARG005 - one truth whatever the seed, as is the next
    "appendix E": lambda seed: SensitivityExample(theta=0.05),  # noqa: ARG005
}
"""Outcomes by seed: the families have another truth under each seed, the same for all contestants."""


@dataclass(frozen=True, slots=True)
class Place:
    """An environment by its name; `repr` is what results are keyed by."""

    kind: Literal["real", "synthetic", "practice"]
    name: str

    def environment(self, seed: int, n_rounds: int = 20_000) -> Any:
        """The environment itself; real ones are standardised on the whole set and clipped to 4 deviations.

        What changes over time does so at the same share of the rounds, however many there are.
        """
        if self.kind == "practice":
            return seeded(PRACTICE[self.name], seed, n_rounds)
        return _real(self.name) if self.kind == "real" else SYNTHETIC[self.name](seed)

    @property
    def content(self) -> str:
        """The environment's settings under seed 0; data are named by the rounds drawn from them."""
        scaling = "standardised on the whole set, clipped to 4 deviations"
        return f"{self.name}: {scaling}" if self.kind == "real" else f"{self.name}: {self.environment(0)!r}"

    def rounds(self, n_rounds: int, seed: int) -> Rounds:
        """The rounds that every contestant meets under this seed."""
        return _rounds(self, n_rounds, seed)

    @property
    def n_rows(self) -> int:
        """Rows of a real set."""
        if self.kind != "real":
            raise ValueError(f"{self.name} is drawn without end; only real sets have a size.")
        return int(_real(self.name).n_rows)

    @property
    def is_binary(self) -> bool:
        """Whether rewards are 0 or 1; Gaussian ones may leave [0, 1]."""
        return self.kind == "real" or self.environment(0).problem.rewards.out_of_range != "accept"

    @property
    def size(self) -> tuple[int, int]:
        """How many actions and features it has."""
        problem = self.environment(0).problem
        return problem.n_actions, problem.features.width


PLACES = {
    **{name: Place("real", name) for name in REAL},
    **{name: Place("synthetic", name) for name in SYNTHETIC},
}


def place_named(name: str) -> Place | None:
    """An environment of this suite, or any data set that `dataset` knows; None if there is none."""
    if name not in PLACES and name in dataset_names():
        return Place("real", name)
    return PLACES.get(name)


@lru_cache(maxsize=len(REAL))
def _real(name: str) -> Any:
    return dataset(name)


@lru_cache(maxsize=1)
def _rounds(place: Place, n_rounds: int, seed: int) -> Rounds:
    return Rounds.of(place.environment(seed, n_rounds), n_rounds, seed)

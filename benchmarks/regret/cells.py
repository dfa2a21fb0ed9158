"""A cell: one contestant in one environment for so many rounds under one seed, and what it gives."""

from __future__ import annotations

import json
import math
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path

from benchmarks.regret.contestants import Contestant
from benchmarks.regret.environments import Place

SHARES = {"": 0.0, "_second_half": 0.5, "_last_quarter": 0.75}
OUR_CODE = ("core", "oracles", "learners", "estimates", "environments", "experiments")


@dataclass(frozen=True, slots=True)
class Result:
    """What a cell gave; means are per round."""

    contestant: str
    player: str
    package: str
    version: str
    code: str
    """A digest of the code that drove it: the learner's own, or the file that drives another library."""
    environment: str
    kind: str
    content: str
    n_actions: int
    n_features: int
    n_rounds: int
    seed: int
    rounds: str
    """A digest of the contexts and rewards that it met."""
    reward: float
    reward_second_half: float
    reward_last_quarter: float
    regret: float | None
    regret_second_half: float | None
    regret_last_quarter: float | None
    seconds: float
    """Processor time."""

    def document(self) -> bytes:
        """The content of its file."""
        return json.dumps(asdict(self), indent=1, allow_nan=False).encode()


@dataclass(frozen=True, slots=True)
class Failure:
    """A cell that gave nothing, and why."""

    cell: str
    reason: str


@dataclass(frozen=True, slots=True)
class Cell:
    """Settings of a run, keyed by their content."""

    contestant: Contestant
    place: Place
    n_rounds: int
    seed: int

    @property
    def key(self) -> str:
        """The same for the same settings; the contestant's name is not among them."""
        content = (repr(self.contestant.player), self.place.content, self.n_rounds, self.seed)
        return sha256(json.dumps(content).encode()).hexdigest()[:24]

    def __str__(self) -> str:
        return f"{self.contestant.name} in {self.place.name}, {self.n_rounds} rounds, seed {self.seed}"

    def computed(self) -> Result | Failure:
        """Play it; whatever goes wrong in somebody else's library becomes a sentence."""
        try:
            return self._played()
        except Exception as error:
            return Failure(str(self), f"{type(error).__name__}: {' '.join(str(error).split())}")

    def _played(self) -> Result:
        contestant, rounds = self.contestant, self.place.rounds(self.n_rounds, self.seed)
        started = time.process_time()
        with _quiet(contestant):
            sums = contestant.player.play(rounds, self.seed)
        seconds = time.process_time() - started
        measures = {f"reward{name}": sums.reward_from(share) for name, share in SHARES.items()}
        regrets = {f"regret{name}": _known(sums.regret_from(share)) for name, share in SHARES.items()}
        return Result(
            contestant=contestant.name,
            player=repr(contestant.player),
            package=contestant.package,
            version=contestant.version or "",
            code=code_of(type(contestant.player).__module__),
            environment=self.place.name,
            kind=self.place.kind,
            content=self.place.content,
            n_actions=rounds.n_actions,
            n_features=rounds.X.shape[1],
            n_rounds=self.n_rounds,
            seed=self.seed,
            rounds=rounds.digest,
            seconds=seconds,
            **measures,
            **regrets,  # type: ignore[arg-type]  # mypy takes all keyword arguments for one type
        )


@contextmanager
def _quiet(contestant: Contestant) -> Iterator[None]:
    """Without what other libraries warn of, thousands of times, about themselves."""
    with warnings.catch_warnings():
        if contestant.package != "gyrfalcon":
            warnings.simplefilter("ignore")
        yield


def _known(regret: float) -> float | None:
    return regret if math.isfinite(regret) else None


@lru_cache
def code_of(module: str) -> str:
    """A digest of the source that a player consists of, by the module of its class."""
    hashed = sha256()
    for path in _sources(module):
        hashed.update(path.name.encode() + b"\0" + path.read_bytes())
    return hashed.hexdigest()[:16]


def _sources(module: str) -> list[Path]:
    own = Path(str(import_module(module).__file__))
    if own.parent.name == "peers":
        return [own]
    package = Path(str(import_module("gyrfalcon").__file__)).parent
    return sorted(path for folder in OUR_CODE for path in (package / folder).rglob("*.py"))

"""A cell: one contestant in one environment for a number of rounds under one seed, and what it gives."""

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
from benchmarks.regret.players import cuts

SHARES = {"": 0.0, "_second_half": 0.5, "_last_quarter": 0.75}
_SAME = 1e-9
"""An expected regret of uniform play below this is rounding: all actions are the same."""
OUR_CODE = ("core", "oracles", "learners", "estimates", "environments", "engine", "simulation")


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
    uniform_regret: float | None
    uniform_regret_second_half: float | None
    seconds: float
    """Processor time."""

    @property
    def captured(self) -> float:
        """Of what the best actions are expected to earn beyond uniform play, the share that was captured."""
        return _captured(self.regret, self.uniform_regret)

    @property
    def captured_second_half(self) -> float:
        """The same in the second half of the rounds."""
        return _captured(self.regret_second_half, self.uniform_regret_second_half)

    @property
    def less_best(self) -> float:
        """Expected reward less that of the best actions, per round."""
        return math.nan if self.regret is None else -self.regret

    @property
    def total_regret(self) -> float:
        """Expected regret, summed over all rounds."""
        return math.nan if self.regret is None else self.regret * self.n_rounds

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
        uniform, half = rounds.uniform_regret, cuts(self.n_rounds)[0]
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
            uniform_regret=_known(float(uniform.mean())),
            uniform_regret_second_half=_known(float(uniform[half:].mean())),
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


def _captured(regret: float | None, uniform: float | None) -> float:
    """Nan where expected rewards are unknown, or all actions are the same."""
    if regret is None or uniform is None or uniform < _SAME:
        return math.nan
    return 1.0 - regret / uniform


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

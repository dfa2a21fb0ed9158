"""Learners and environments of a user's own, for tests of sweeps."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gyrfalcon import LinUCB
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.environments import StepExample
from gyrfalcon.environments.protocol import PotentialOutcomes


@dataclass(frozen=True)
class Plain:
    """An environment with nothing but draw."""

    level: float = 0.5

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        outcomes = StepExample().draw(start, stop, seed)
        return PotentialOutcomes(
            Contexts(outcomes.contexts.shared), outcomes.means * self.level, outcomes.rewards * self.level
        )


@dataclass(frozen=True)
class Refusing:
    """An environment that can't be drawn beyond a round."""

    last: int = 100

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        if stop > self.last:
            raise ArithmeticError(f"round {stop} is beyond the last")
        return StepExample().draw(start, stop, seed)


@dataclass(frozen=True)
class Deadly:
    """An environment that kills its worker, as a system without memory does; once, if there is a file."""

    once: str | None = None

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        if self.once is None or not Path(self.once).exists():
            if self.once is not None:
                Path(self.once).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return StepExample().draw(start, stop, seed)


class MyLearner:
    """A learner that is no dataclass, known by its repr."""

    def __init__(self, alpha: float) -> None:
        self._inner = LinUCB(alpha=alpha)

    def __repr__(self) -> str:
        return f"MyLearner({self._inner.alpha})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_inner":
            raise AttributeError(name)
        return getattr(self._inner, name)

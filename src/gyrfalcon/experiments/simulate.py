"""A learner in a world: whole epochs are decided as arrays, and regret is counted in expectation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.epochs import Epoch, decide
from gyrfalcon.core.records import Log, PastLogs
from gyrfalcon.core.sampling import UNIFORMS_PER_DECISION
from gyrfalcon.core.types import Floats
from gyrfalcon.environments.environment import Environment, World
from gyrfalcon.learners.learner import Learner

_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Trace:
    """What one run did: expected regret of each round, and its epochs with their fit reports."""

    regret: Floats
    epochs: tuple[Epoch, ...]


def simulate(learner: Learner, environment: Environment, n_rounds: int, seed: int) -> Trace:
    """One run of n_rounds: the same learner, environment and seed give the same trace.

    The world's stream depends on the seed alone, so that all learners meet the same luck; the learner's own
    stream is independent of it.

    >>> from gyrfalcon.environments.paper import StepExample
    >>> from gyrfalcon.learners.uniform import Uniform
    >>> len(simulate(Uniform(), StepExample(), 1000, seed=0).regret)
    1000
    """
    problem = environment.problem
    uniforms = np.random.default_rng([seed, 1])
    epoch = learner.start(problem)
    epochs = [epoch]
    regret: list[Floats] = []
    history = PastLogs()
    rounds = _Rounds(environment, n_rounds, seed)
    while epoch.start < n_rounds:
        logs = []
        for start, stop in _chunks(epoch.start, min(epoch.stop, n_rounds)):
            world = rounds.world(start, stop)
            draws = uniforms.random((stop - start, UNIFORMS_PER_DECISION))
            decisions = decide(epoch, np.arange(start, stop), world.contexts, draws)
            chosen = np.arange(stop - start), decisions.action
            regret.append(_best(world) - world.means[chosen])
            logs.append(Log.of(world.contexts, decisions, world.rewards[chosen]))
        log = Log.concat(logs, problem.n_actions)
        if epoch.stop >= n_rounds:
            break
        epoch = learner.next_epoch(epoch, log, history=history)
        epochs.append(epoch)
        if learner.reads_history:
            history = history.followed_by(log)
    return Trace(np.concatenate(regret), tuple(epochs))


def _chunks(start: int, stop: int) -> list[tuple[int, int]]:
    return [(first, min(first + _CHUNK, stop)) for first in range(start, stop, _CHUNK)]


def _best(world: World) -> Floats:
    eligible = world.contexts.eligible
    means = world.means if eligible is None else np.where(eligible, world.means, -np.inf)
    best: Floats = means.max(axis=1)
    return best


class _Rounds:
    """Rows of the world, drawn a chunk ahead: a learner of small batches would draw each block many times."""

    def __init__(self, environment: Environment, n_rounds: int, seed: int) -> None:
        self._environment, self._n_rounds, self._seed = environment, n_rounds, seed
        self._start = self._stop = 0
        self._world: World | None = None

    def world(self, start: int, stop: int) -> World:
        """Rounds start..stop-1 as views into the chunk."""
        if self._world is None or stop > self._stop:
            self._start, self._stop = start, max(stop, min(start + _CHUNK, self._n_rounds))
            self._world = self._environment.draw(self._start, self._stop, self._seed)
        rows = slice(start - self._start, stop - self._start)
        world = self._world
        return World(world.contexts.take(rows), world.means[rows], world.rewards[rows])

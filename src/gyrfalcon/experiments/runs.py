"""One run of a learner in a world: whole epochs are decided as arrays, regret is counted in expectation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch, decide
from gyrfalcon.core.problems import Problem
from gyrfalcon.core.records import Decisions, Log, PastLogs
from gyrfalcon.core.sampling import UNIFORMS_PER_DECISION
from gyrfalcon.core.types import Floats, Ints
from gyrfalcon.environments.environment import Drawable, World
from gyrfalcon.experiments.trace import Recorder
from gyrfalcon.learners.learner import Learner

CHUNK = 1 << 13
"""Rounds decided at a time: few enough to stay in cache, enough for the calls not to matter."""

OnRounds = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class Run:
    """What is played: a learner in a world, one replication of it."""

    learner: Learner
    environment: Drawable
    problem: Problem
    n_rounds: int
    seed: int  # of this replication


def play(run: Run, replication: int, recorder: Recorder, on_rounds: OnRounds) -> None:
    """Play all rounds, and tell the recorder."""
    epoch = run.learner.start(run.problem)
    rounds, late, history = Rounds(run), Late(run.problem.n_actions), PastLogs()
    here = slice(replication, replication + 1)
    while True:
        recorder.epoch(replication, epoch)
        rows = EpochRows(epoch, min(epoch.stop, run.n_rounds), run.problem.n_actions)
        for first, last in chunks(epoch.start, rows.stop):
            world = rounds.world(first, last)
            decisions = rounds.decisions(epoch, first, world)
            chosen = chosen_of(decisions.action, run.problem.n_actions)
            regret, reward = regret_of(world, chosen, run.problem), world.rewards.take(chosen)
            recorder.rounds(here, first, regret[None], reward[None], decisions.propensity[None])
            rows.add(world, decisions, run.problem.rewards.to_unit(reward))
            on_rounds(last - first)
        if epoch.stop >= run.n_rounds:
            return
        log = late.settled(rows.log(), rows.known, epoch.stop)
        epoch = run.learner.next_epoch(epoch, log, history=history)
        if run.learner.reads_history:
            history = history.followed_by(log)


def chunks(start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Stretches of rounds that are decided together, cut where worlds are."""
    while start < stop:
        end = min(start - start % CHUNK + CHUNK, stop)
        yield start, end
        start = end


def chosen_of(action: Ints, n_actions: int) -> Ints:
    """Where the chosen actions are in a flattened (n, K) array."""
    flat: Ints = np.arange(0, len(action) * n_actions, n_actions)
    flat += action
    return flat


def regret_of(world: World, chosen: Ints, problem: Problem) -> Floats:
    """(n,): by how much the chosen actions are expected to fall behind the best eligible ones."""
    means, eligible = world.means, world.contexts.eligible
    if problem.cost:
        means = -means
    if eligible is not None:
        means = np.where(eligible, means, -np.inf)
    # A column at a time: NumPy's maximum over a short last axis takes several times as long.
    best = means[:, 0].copy()
    for column in means.T[1:]:
        np.maximum(best, column, out=best)
    best -= means.take(chosen)
    return best


class Rounds:
    """Rounds of a world and uniforms of a learner, each from a stream of its own."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._uniforms = np.random.default_rng([run.seed, 1])
        self._first = 0
        self._drawn: World | None = None

    def world(self, start: int, stop: int) -> World:
        """Rounds start..stop-1 of one chunk, which is drawn once however short the epochs are."""
        first = start - start % CHUNK
        if self._drawn is None or first != self._first:
            run, last = self._run, min(first + CHUNK, self._run.n_rounds)
            self._first = first
            self._drawn = checked(run.environment.draw(first, last, run.seed), run.problem, first, last)
        return self._drawn.take(slice(start - first, stop - first))

    def decisions(self, epoch: Epoch, start: int, world: World) -> Decisions:
        """What the epoch decides from round `start` on."""
        uniforms = self._uniforms.random((len(world), UNIFORMS_PER_DECISION))
        return decide(epoch, np.arange(start, start + len(world)), world.contexts, uniforms)


class EpochRows:
    """The rows of one epoch, written while they are in cache into columns of the epoch's full length."""

    def __init__(self, epoch: Epoch, stop: int, n_actions: int) -> None:
        self.start, self.stop, self._n_actions = epoch.start, stop, n_actions
        n = stop - epoch.start
        self._columns = Decisions(
            np.full(n, epoch.index),
            np.arange(epoch.start, stop),
            np.empty(n, dtype=np.int64),
            np.empty(n),
            np.empty(n, dtype=np.int64),
        )
        self._reward = np.empty(n)
        self._contexts: list[Contexts] = []
        self.known: Ints | None = None

    def add(self, world: World, decisions: Decisions, reward: Floats) -> None:
        """The next rows."""
        first = int(decisions.round[0]) - self.start
        rows, columns = slice(first, first + len(reward)), self._columns
        columns.action[rows] = decisions.action
        columns.propensity[rows] = decisions.propensity
        columns.component[rows] = decisions.component
        self._reward[rows] = reward
        self._contexts.append(world.contexts)
        if world.reward_round is not None:
            self.known = columns.round.copy() if self.known is None else self.known
            self.known[rows] = world.reward_round

    def log(self) -> Log:
        """All rows."""
        few = self._contexts
        contexts = few[0] if len(few) == 1 else Contexts.concat(few, self._n_actions)
        return Log.of(contexts, self._columns, self._reward)


class Late:
    """Rows whose reward is not known yet when their epoch ends."""

    def __init__(self, n_actions: int) -> None:
        self._n_actions = n_actions
        self._log: Log | None = None
        self._known: Ints = np.zeros(0, dtype=np.int64)

    def settled(self, log: Log, known: Ints | None, stop: int) -> Log:
        """The rows whose reward is known before round `stop`, those of earlier epochs first."""
        if known is None and self._log is None:
            return log
        known = np.concatenate([self._known, log.round if known is None else known])
        log = log if self._log is None else Log.concat([self._log, log], self._n_actions)
        here = known < stop
        self._log, self._known = (None, known[:0]) if here.all() else (log.where(~here), known[~here])
        return log.where(here)


def checked(world: World, problem: Problem, start: int, stop: int) -> World:
    """The world, if it is one of these rounds; a ValueError that says what is wrong with it otherwise."""
    n, shape = stop - start, (stop - start, problem.n_actions)
    for name, values in (("means", world.means), ("rewards", world.rewards)):
        if np.shape(values) != shape:
            raise ValueError(f"draw({start}, {stop}) gave {name} of shape {np.shape(values)}; give {shape}.")
    if world.contexts.shared.shape != (n, problem.features.width):
        raise ValueError(
            f"draw({start}, {stop}) gave contexts of shape {world.contexts.shared.shape}; "
            f"give {(n, problem.features.width)}: a row for each round, a column for each feature."
        )
    late = world.reward_round
    if late is not None and (late.shape != (n,) or (late < np.arange(start, stop)).any()):
        raise ValueError(
            "a reward_round is before its own round; rewards are known at the end of it at best."
        )
    return world
